"""Values by name: a row for each thing, its values as dots along a common axis, drawn as SVG."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape

from destage.queries.presentation import number
from destage.queries.report.axis import Scale, y_scale
from destage.queries.report.labels import Box, place_label, text_width

_LANE, _LINE, _PADDING = 17.0, 15.0, 12.0
_MARGIN_RIGHT, _BESIDE, _AXIS, _LEGEND_LINE = 30, 46, 50, 22
_MOST_TITLE, _MOST_REMARK, _MOST_TEXT = 46, 34, 76
"""Letters to a line of a row's title, of its remark, and of its text."""
_RADIUS = 4.5
_VISIBLE = 5.0
"""The length below which an interval hides behind its dot [px]."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One value.

    Attributes:
        kind: Which of the chart's kinds it is of.
        value: The value [unit shown].
        low: The lower end of its interval, if it has one.
        high: The upper end of its interval, if it has one.
        note: What a pointer over it is told.
        label: A text beside it, if any.
        lane: Which of the row's lanes it stands in.
        is_range: Whether it is a range from `low` to `high`, whose middle means nothing.
    """

    kind: str
    value: float
    low: float | None
    high: float | None
    note: str
    label: str | None = None
    lane: int = 0
    is_range: bool = False


@dataclass(frozen=True, slots=True)
class DotRow:
    """One row.

    Attributes:
        title: What its values are of.
        dots: Its values.
        remark: What stands at its end, if anything.
        text: What stands in place of values where it has none.
        kind: The kind whose symbol stands before the remark, if any.
    """

    title: str
    dots: tuple[Dot, ...]
    remark: str = ""
    text: str = ""
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class DotKind:
    """How dots of one kind look.

    Attributes:
        name: What the legend calls it; empty where it needs no legend.
        shape: circle, ring, square, diamond (hollow: a published figure) or triangle.
        colour: The class of its colour: c0 to c7, held, missed, open, given or published.
    """

    name: str
    shape: str
    colour: str


@dataclass(frozen=True, slots=True)
class Dots:
    """A chart of values by name.

    Attributes:
        title: What it shows.
        x_title: The axis of the values, with its unit.
        x_log: Whether it is logarithmic.
        x_most: What no value exceeds, if there is such a bound.
        kinds: How the dots of each kind look.
        rows: Its rows; those without values come last.
        scale: The axis, where the values do not make it.
        rule_at: A value that is marked across all rows, if there is one.
        row_title: What the rows' titles are values of, if they do not say it.
    """

    title: str
    x_title: str
    x_log: bool
    x_most: float | None
    kinds: tuple[DotKind, ...]
    rows: tuple[DotRow, ...]
    scale: Scale | None = None
    rule_at: float | None = None
    row_title: str = ""


@dataclass
class DotsDrawing:
    """The drawing of values by name: parts of an SVG, and how high they are."""

    chart: Dots
    width: int
    parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        rows = self.chart.rows
        self.kinds = {kind.name: kind for kind in self.chart.kinds}
        self.titles = [_wrapped(row.title, _MOST_TITLE) for row in rows]
        self.remarks = [_wrapped(row.remark, _MOST_REMARK) for row in rows]
        self.texts = [_wrapped(row.text, _MOST_TEXT) for row in rows]
        headings = [line for lines in self.titles for line in lines]
        self.left = 34 + max(map(text_width, [*headings, self.chart.row_title]))
        widest = max((text_width(line) for lines in self.remarks for line in lines), default=0.0)
        self.right = self.width - _MARGIN_RIGHT - (widest + _BESIDE if widest else 0.0)
        dots = [dot for row in rows for dot in row.dots]
        ends = [end for dot in dots for end in (dot.value, dot.low, dot.high) if end is not None]
        scale = self.chart.scale
        self.x = scale or y_scale(ends or [1.0], is_log=self.chart.x_log, most=self.chart.x_most)

    def draw(self, top: float) -> float:
        """Draw all rows from `top` on [px].

        Args:
            top: Where the drawing begins.

        Returns:
            Where it ends.
        """
        top = self._legend(top + 6)
        heights = [
            _PADDING
            + max(_LINE * max(map(len, lines)), _LANE * (1 + max((dot.lane for dot in row.dots), default=0)))
            for row, *lines in zip(self.chart.rows, self.titles, self.remarks, self.texts, strict=True)
        ]
        valued = sum(bool(row.dots) for row in self.chart.rows)
        self._grid(top, top + sum(heights[:valued]))
        for index, height in enumerate(heights):
            self._row(index, top, height)
            # Rows without values stand below the axis, which says nothing of them.
            top += height + (_AXIS if index == valued - 1 else 0.0)
        return top

    def _legend(self, top: float) -> float:
        named = [kind for kind in self.chart.kinds if kind.name]
        if not named:
            return top
        left, line = self.left, top + 10
        for kind in named:
            needed = 22 + text_width(kind.name)
            if left + needed > self.width - _MARGIN_RIGHT and left > self.left:
                left, line = self.left, line + _LEGEND_LINE
            self._symbol(kind, left + 6, line, "")
            self._text(left + 18, line + 4, kind.name, "legend")
            left += needed + 16
        return line + _LEGEND_LINE - 4

    def _grid(self, top: float, bottom: float) -> None:
        for tick in self.x.ticks:
            x = self._x(tick)
            self.parts.append(f'<path class="grid" d="M{x:.1f} {top:.1f}V{bottom:.1f}"/>')
        end = -math.inf
        for tick in self.x.ticks:
            text, x = number(tick), self._x(tick)
            if x - text_width(text) / 2 > end + 6:
                self._text(x, bottom + 18, text, "tick", "middle")
                end = x + text_width(text) / 2
        if self.chart.rule_at is not None:
            x = self._x(self.chart.rule_at)
            self.parts.append(f'<path class="axis at" d="M{x:.1f} {top:.1f}V{bottom + 5:.1f}"/>')
        wide = self.right - self.left
        self.parts.append(f'<path class="axis" d="M{self.left:.1f} {bottom:.1f}h{wide:.1f}"/>')
        if self.chart.row_title:
            self._text(self.left - 14, bottom + _AXIS - 12, self.chart.row_title, "axis-title", "end")
        middle = self.left + wide / 2
        self._text(middle, bottom + _AXIS - 12, self.chart.x_title, "axis-title", "middle")

    def _row(self, index: int, top: float, height: float) -> None:
        row = self.chart.rows[index]
        middle = top + height / 2
        if index and (row.dots or not self.chart.rows[index - 1].dots):
            self.parts.append(f'<path class="grid" d="M16 {top:.1f}H{self.width - 16}"/>')
        self._lines(self.titles[index], self.left - 14, middle, "tick row", "end")
        self._lines(self.remarks[index], self.right + _BESIDE, middle, "tick", "start")
        if row.kind is not None:
            self._symbol(self.kinds[row.kind], self.right + _BESIDE - 12, middle, "")
        if row.text:
            self._lines(self.texts[index], self.left + 10, middle, "mark-label", "start")
        lanes = 1 + max((dot.lane for dot in row.dots), default=0)
        taken: list[Box] = []
        for dot in row.dots:
            x, y = self._x(dot.value), middle + (dot.lane - (lanes - 1) / 2) * _LANE
            ends = self._whisker(dot, y)
            taken.append(Box(ends[0] - 2, y - 3, ends[1] - ends[0] + 4, 6))
            taken.append(Box(x - 7, y - 7, 14, 14))
        for dot in row.dots:
            x, y = self._x(dot.value), middle + (dot.lane - (lanes - 1) / 2) * _LANE
            if not self._is_bar(dot):
                self._symbol(self.kinds[dot.kind], x, y, dot.note)
            if dot.label is not None:
                taken.append(self._label(dot, x, y, taken))

    def _whisker(self, dot: Dot, y: float) -> tuple[float, float]:
        """Draw a dot's interval and return where it begins and ends [px]."""
        x = self._x(dot.value)
        if dot.low is None or dot.high is None:
            return x, x
        low, high = self._x(dot.low), self._x(dot.high)
        colour = self.kinds[dot.kind].colour
        if self._is_bar(dot):
            note = f"<title>{escape(dot.note)}</title>"
            self.parts.append(f'<path class="range {colour}" d="M{low:.1f} {y:.1f}H{high:.1f}">{note}</path>')
        elif high - low >= _VISIBLE:
            self.parts.append(
                f'<path class="bar {colour}" d="M{low:.1f} {y:.1f}H{high:.1f}M{low:.1f} {y - 4:.1f}v8'
                f'M{high:.1f} {y - 4:.1f}v8"/>'
            )
        return low, high

    def _is_bar(self, dot: Dot) -> bool:
        """Whether a dot is drawn as a range alone: one that is long enough to be seen."""
        if not dot.is_range or dot.low is None or dot.high is None:
            return False
        return self._x(dot.high) - self._x(dot.low) >= _VISIBLE

    def _label(self, dot: Dot, x: float, y: float, taken: Sequence[Box]) -> Box:
        """Set a dot's text right of what stands there, else left of it, else where it covers least."""
        text = dot.label or ""
        low, high = (x if end is None else self._x(end) for end in (dot.low, dot.high))
        spare = _BESIDE - 18 if any(row.remark for row in self.chart.rows) else _MARGIN_RIGHT
        bounds = Box(self.left, y - 40, self.right + spare - self.left, 80)
        box = Box(max(high, x) + 10, y - 7, text_width(text), 14)
        while covered := [other for other in taken if box.overlap(other)]:
            box = replace(box, left=max(other.left + other.width for other in covered) + 5)
        if box.left + box.width > bounds.left + bounds.width:
            box = Box(min(low, x) - 10 - text_width(text), y - 7, text_width(text), 14)
        if box.left < bounds.left or any(box.overlap(other) for other in taken):
            box = place_label(text, x, y, taken, bounds)
        style = "published" if self.kinds[dot.kind].colour == "published" else ""
        self._text(box.left, box.top + 11, text, f"mark-label {style}".strip())
        return box

    def _symbol(self, kind: DotKind, x: float, y: float, note: str) -> None:
        r = _RADIUS
        shapes = {
            "circle": f'circle class="mark {kind.colour}" cx="{x:.1f}" cy="{y:.1f}" r="{r}"',
            "ring": f'circle class="ring {kind.colour}" cx="{x:.1f}" cy="{y:.1f}" r="{r}"',
            "square": f'path class="mark {kind.colour}" d="M{x - 4:.1f} {y - 4:.1f}h8v8h-8Z"',
            "diamond": f'path class="ring {kind.colour}" d="M{x:.1f} {y - 7:.1f}l7 7l-7 7l-7 -7Z"',
            "triangle": f'path class="mark {kind.colour}" d="M{x:.1f} {y - 6:.1f}l6 10.5h-12Z"',
        }
        title = f"<title>{escape(note)}</title>" if note else ""
        shape = shapes[kind.shape]
        self.parts.append(f"<{shape}>{title}</{shape[: shape.index(' ')]}>" if title else f"<{shape}/>")

    def _x(self, value: float) -> float:
        return self.left + min(max(self.x.place(value), 0.0), 1.0) * (self.right - self.left)

    def _lines(self, lines: Sequence[str], x: float, middle: float, kind: str, anchor: str) -> None:
        for at, line in enumerate(lines):
            self._text(x, middle + 4 + (at - (len(lines) - 1) / 2) * _LINE, line, kind, anchor)

    def _text(self, x: float, y: float, text: str, kind: str, anchor: str = "start") -> None:
        self.parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
        )


def _wrapped(text: str, most: int) -> list[str]:
    return textwrap.wrap(text, most) or [""]
