"""The rounds of a sweep: which runs come next, and what the runs so far answer."""
