"""Calibration: from figures that somebody measured to predictions with odds."""
