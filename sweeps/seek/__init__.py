"""The search of a point for the largest or smallest value that meets the objectives."""
