"""Sweeps on a cluster: submitted, watched, scaled, deleted."""
