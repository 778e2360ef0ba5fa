"""The thin Python face of the simulation engine."""
