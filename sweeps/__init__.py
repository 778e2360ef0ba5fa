"""Which configurations to simulate, and getting them all run."""
