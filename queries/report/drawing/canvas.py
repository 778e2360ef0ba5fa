"""The elements of an SVG drawing: texts, paths, symbols, an axis, a legend."""

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib.resources import files

from destage.queries.report.drawing.axis import Scale
from destage.queries.report.drawing.chart_labels import estimate_width
from destage.spec.control_characters import escape_controls

DrawSymbol = Callable[[float, float], None]
"""A function that draws a symbol around a place [px]."""

MARGIN_RIGHT = 18
_LEGEND_LINE = 22
_LINE = 15.0
_SYMBOLS = {
    "circle": ("mark", "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z"),
    "dot": ("mark", "m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0Z"),
    "square": ("mark", "m-4.5 -4.5h9v9h-9Z"),
    "triangle": ("mark", "m0 -6l6 10.5h-12Z"),
    "ring": ("ring", "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z"),
    "diamond": ("ring", "m0 -7l7 7l-7 7l-7 -7Z"),
    "cross": ("cross", "m-5 -5l10 10m0 -10l-10 10"),
    # Bounds: hollow arrows from the drawn value towards the true one.
    "arrow-up": ("ring", "m-2.5 0v-7h-4l6.5 -8l6.5 8h-4v7Z"),
    "arrow-down": ("ring", "m-2.5 0v7h-4l6.5 8l6.5 -8h-4v-7Z"),
    "arrow-right": ("ring", "m0 -2.5h7v-4l8 6.5l-8 6.5v-4h-7Z"),
    "arrow-left": ("ring", "m0 -2.5h-7v-4l-8 6.5l8 6.5v-4h7Z"),
}
"""The CSS class and the outline of each symbol."""


def wrap_text(text: str, room: float) -> list[str]:
    """Return a text in lines of at most `room` pixels, or of a word where that is longer."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and estimate_width(longer) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


class Canvas:
    """A drawing of a given width [px]; all places are in pixels from its left top corner."""

    def __init__(self, width: float) -> None:
        self.width = width
        self.parts: list[str] = []

    def text(self, x: float, y: float, text: str, kind: str, anchor: str = "start") -> None:
        """Add a text whose base line begins, ends or has its middle at a place."""
        shown = escape(escape_controls(text))
        self.parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{shown}</text>'
        )

    def path(self, kind: str, outline: str, note: str = "") -> None:
        """Add a path; a note is shown by a pointer over it."""
        end = f"><title>{escape(escape_controls(note))}</title></path>" if note else "/>"
        self.parts.append(f'<path class="{kind}" d="{outline}"{end}')

    def rectangle(self, kind: str, x: float, y: float, width: float, height: float, note: str = "") -> None:
        """Add a rectangle."""
        self.path(kind, f"M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}Z", note)

    def symbol(self, shape: str, colour: str, x: float, y: float, note: str = "") -> None:
        """Add a symbol around a place, or an arrow that starts there."""
        fill, outline = _SYMBOLS[shape]
        self.path(f"{fill} {colour}", f"M{x:.1f} {y:.1f}{outline}", note)

    def legend(self, entries: Iterable[tuple[str, DrawSymbol]], left: float, top: float) -> float:
        """Add a legend: names, each after a symbol that is drawn around a place.

        Returns:
            Where it ends.
        """
        x, y = left, top + 12
        room = self.width - MARGIN_RIGHT - left - 34
        for name, draw_symbol in entries:
            lines = wrap_text(name, room)
            needed = 34 + max(map(estimate_width, lines))
            if x + needed > self.width - MARGIN_RIGHT and x > left:
                x, y = left, y + _LEGEND_LINE
            draw_symbol(x + 11, y)
            for at, line in enumerate(lines):
                self.text(x + 28, y + 4 + at * _LINE, line, "legend")
            x += needed + 18
            y += (len(lines) - 1) * _LINE
        return y + _LEGEND_LINE - 6

    def x_axis(self, scale: Scale, texts: Sequence[str], left: float, width: float, y: float) -> None:
        """Add a horizontal axis with its ticks; a text that would touch the one before is left out."""
        self.path("axis", f"M{left:.1f} {y:.1f}h{width:.1f}")
        end = -math.inf
        for tick, text in zip(scale.ticks, texts, strict=True):
            x = left + scale.place(tick) * width
            half = estimate_width(text) / 2
            if x - half > end + 6:
                self.path("axis", f"M{x:.1f} {y:.1f}v5")
                # The text of a tick at the edge is moved inside.
                self.text(min(max(x, half + 1), self.width - half - 3), y + 19, text, "tick", "middle")
                end = x + half

    def insert(self, other: "Canvas", x: float, y: float) -> None:
        """Add another drawing with its left top corner at a place."""
        self.parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{"".join(other.parts)}</g>')

    def document(self, title: str, height: int, *, standalone: bool) -> str:
        """Return the SVG element; one that is a file of its own has colours and a background."""
        style = ground = namespace = ""
        if standalone:
            style = f"<style>{(files('destage.queries.report') / 'chart.css').read_text()}</style>"
            ground = f'<rect class="ground" width="{self.width}" height="{height}"/>'
            namespace = ' xmlns="http://www.w3.org/2000/svg"'
        return (
            f'<svg{namespace} class="chart" viewBox="0 0 {self.width} {height}" width="{self.width}" '
            f'height="{height}" role="img" aria-label="{escape(escape_controls(title), quote=True)}">'
            f"{style}{ground}{''.join(self.parts)}</svg>"
        )
