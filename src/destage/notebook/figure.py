"""Figures of a notebook: drawn by Destage itself, without a plotting library."""

from dataclasses import dataclass
from pathlib import Path

from destage.queries.report.drawing.chart import Chart
from destage.queries.report.drawing.svg import draw


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, which a notebook shows.

    Attributes:
        svg: The figure as an SVG document.
    """

    svg: str

    def save(self, file: str | Path) -> Path:
        """Write the figure to an SVG file and return its path."""
        place = Path(file)
        place.write_text(self.svg, encoding="utf-8")
        return place

    def _repr_svg_(self) -> str:
        return self.svg


def draw_chart(chart: Chart) -> Figure:
    """Return a chart as a figure of its own."""
    return Figure(draw(chart, standalone=True) + "\n")
