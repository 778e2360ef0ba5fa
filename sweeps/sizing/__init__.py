"""The studies behind `destage size`."""
