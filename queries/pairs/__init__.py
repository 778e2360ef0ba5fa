"""Points chosen, explained, and compared with others or with measured lines."""
