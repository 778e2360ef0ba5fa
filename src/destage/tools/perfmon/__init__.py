"""Perfmon: its logs as results."""
