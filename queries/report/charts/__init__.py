"""The charts of a report: which points each shows, and how."""
