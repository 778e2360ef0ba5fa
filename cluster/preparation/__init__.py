"""Checks of a cluster before a sweep is submitted."""
