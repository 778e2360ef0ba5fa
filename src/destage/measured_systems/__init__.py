"""Rates measured on real systems, and what the engine predicts for them without having seen them."""
