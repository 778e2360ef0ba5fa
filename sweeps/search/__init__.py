"""Points that a study adds to its own: trials of a search, values around the knees of a refinement."""
