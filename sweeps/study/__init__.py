"""A study as it is defined: its schema, its reader, and the valid study."""
