"""The canvas of an SVG drawing: texts, paths and symbols, a legend, axes with their scales and ticks."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from destage.queries.report.drawing.chart_labels import estimate_width
from destage.spec.printed_text import escape_controls

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_MOST_X_TICKS = 9
_DOUBLING = 4.0
_FEW_DECADES = 2


@dataclass(frozen=True, slots=True)
class Scale:
    """A mapping from values to the unit interval, with its ticks.

    Attributes:
        low: The value at 0; on a logarithmic scale its logarithm.
        high: The value at 1; on a logarithmic scale its logarithm.
        zero_at: The logarithm in whose place zero is, if it is on a logarithmic scale.
    """

    low: float
    high: float
    is_log: bool
    ticks: tuple[float, ...]
    zero_at: float | None = None

    def place(self, value: float) -> float:
        """Return the place of a value, 0 to 1."""
        position = value
        if self.is_log:
            position = (
                self.zero_at if value <= 0 and self.zero_at is not None else math.log2(max(value, 1e-300))
            )
        return (position - self.low) / (self.high - self.low)


def choose_y_scale(
    values: Sequence[float], *, is_log: bool, most: float | None = None, steps: int = 5
) -> Scale:
    """Return a y axis that includes all values: from zero, or over decades or 1-2-5 steps of them.

    A logarithmic axis ignores values that are not above zero.

    Args:
        most: The largest possible value.
        steps: The number of steps to aim at.
    """
    positive = [value for value in values if value > 0]
    if is_log and positive:
        ticks = _log_ticks(min(positive), max(positive))
        return Scale(math.log2(ticks[0]), math.log2(ticks[-1]), is_log=True, ticks=ticks)
    top = max(positive, default=1.0)
    step = _nice_step(top / steps)
    count = math.ceil(top * 1.02 / step)
    if most is not None and top <= most:
        count = min(count, round(most / step))
    return Scale(0.0, count * step, is_log=False, ticks=tuple(index * step for index in range(count + 1)))


def choose_x_scale(values: Sequence[float], *, is_log: bool | None = None, at_values: bool = True) -> Scale:
    """Return an x axis: logarithmic where the values spread far, with zero one step to the left, or linear.

    Args:
        is_log: Whether the axis is logarithmic; None decides by the values.
        at_values: Whether the ticks are at the values rather than at round numbers.
    """
    distinct = sorted(set(values))
    positive = [value for value in distinct if value > 0]
    spreads = len(positive) > 1 and positive[-1] / positive[0] >= _DOUBLING
    if positive and (spreads if is_log is None else is_log):
        low, high = math.log2(positive[0]), math.log2(positive[-1])
        zero_at = low - max(1.0, (high - low) / 6) if distinct[0] <= 0 else None
        margin = (high - low) * 0.06 or 0.5
        left = (low if zero_at is None else zero_at) - margin
        ticks = _thinned(distinct) if at_values else _within(_log_ticks(positive[0], positive[-1]), distinct)
        return Scale(left, high + margin, is_log=True, ticks=ticks, zero_at=zero_at)
    low, high = distinct[0], distinct[-1]
    margin = (high - low) * 0.06 or max(abs(high) * 0.5, 1.0)
    left = 0.0 if 0 <= low < (high - low) / 3 and not at_values else low - margin
    ticks = _thinned(distinct) if at_values else _round_ticks(left, high + margin)
    return Scale(left, high + margin, is_log=False, ticks=ticks)


def _round_ticks(low: float, high: float) -> tuple[float, ...]:
    step = _nice_step((high - low) / 6)
    return tuple(index * step for index in range(math.ceil(low / step), math.floor(high / step) + 1))


def _within(ticks: Sequence[float], values: Sequence[float]) -> tuple[float, ...]:
    """Return the ticks among the values, or the values themselves where there are fewer than two."""
    inside = tuple(tick for tick in ticks if values[0] <= tick <= values[-1])
    return inside if len(inside) > 1 else tuple(values)


def _thinned(values: Sequence[float]) -> tuple[float, ...]:
    step = math.ceil(len(values) / _MOST_X_TICKS)
    return tuple(values[::step])


def _nice_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in _STEPS if step * power >= rough * 0.999)


def _log_ticks(low: float, high: float) -> tuple[float, ...]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    factors = (1.0, 2.0, 5.0) if high / low <= 10**_FEW_DECADES else (1.0,)
    ticks = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
    start = max((index for index, tick in enumerate(ticks) if tick <= low), default=0)
    stop = min((index for index, tick in enumerate(ticks) if tick >= high), default=len(ticks) - 1)
    stop = max(stop, start + 1)
    return tuple(ticks[start : stop + 1])


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
            for index, line in enumerate(lines):
                self.text(x + 28, y + 4 + index * _LINE, line, "legend")
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
