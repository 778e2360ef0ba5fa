"""The rows of a sweep: fragments, their index, merging and commits."""
