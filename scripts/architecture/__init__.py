"""The structure of the sources, measured and drawn: folders, imports, and what a command enters."""
