"""The tables and views of an open sweep: its files, plan, points and means."""
