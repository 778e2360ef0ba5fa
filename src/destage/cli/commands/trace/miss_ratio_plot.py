"""Plots of miss ratio curves."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from destage.cli.terminal.output import print_note


def draw_curves(plot: Path, title: str, panels: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Draw the points of each panel, by the panel's title, as SVG or HTML."""
    from destage.queries.report.charts.miss_ratio_chart import build_curves
    from destage.queries.report.drawing.svg import draw

    picture = draw(build_curves(title, panels), standalone=True)
    if plot.suffix == ".html":
        picture = f'<!doctype html><meta charset="utf-8"><title>{escape(title)}</title>{picture}\n'
    plot.write_text(picture)
    print_note(f"plot written to {plot}")
