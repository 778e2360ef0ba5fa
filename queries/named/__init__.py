"""The named queries: their files, parameters and the meanings of their columns."""
