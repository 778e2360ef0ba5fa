"""iostat: its logs as results."""
