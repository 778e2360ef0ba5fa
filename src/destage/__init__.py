"""Destage simulates disk arrays with battery-backed write caches and answers how many users each carries.

The rooms are ``destage.engine`` (one array, simulated), ``destage.sweeps`` (which configurations, and getting
them all run) and ``destage.queries`` (what the rows mean). Importing this package loads none of them.
"""
