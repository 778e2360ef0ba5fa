"""The keys of a study, each with its schema, its reader and the mistakes in it."""
