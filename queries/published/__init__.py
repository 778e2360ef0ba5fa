"""Published figures: the parts of a figure, its simulated value and its verdict."""
