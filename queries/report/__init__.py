"""The report of a sweep: one HTML file that needs no network, or a single figure as SVG."""
