"""Drawings of a report as SVG: axes, labels, marks and lines."""
