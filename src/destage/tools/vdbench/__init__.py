"""Vdbench: parameter files as workloads, and its results."""
