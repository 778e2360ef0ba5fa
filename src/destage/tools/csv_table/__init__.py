"""CSV of one's own: a line per measurement, whose columns are named in the heading."""
