"""What the rows of a sweep mean: views, named queries, plots and the report."""
