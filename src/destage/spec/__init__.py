"""Documents that people write: syntax, units, schema trees, and mistakes with place and suggestion."""
