"""Scenario discovery: the ranges of the axes under which a statement holds, as a box with its quality."""
