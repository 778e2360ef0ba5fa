"""Workers on Ray: the only package that names it."""
