"""Iometer: access specifications as workloads, and its results."""
