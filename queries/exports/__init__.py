"""What leaves a store: exported tables, their page, and the record of a report."""
