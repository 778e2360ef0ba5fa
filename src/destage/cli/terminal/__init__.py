"""What the command line prints: data, notes and tables, and the progress of long work."""
