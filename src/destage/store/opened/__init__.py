"""An open sweep, its progress, and checks of its files."""
