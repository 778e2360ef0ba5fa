"""Dot plots drawn: a row for each thing, its values as dots along a common axis."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from destage.queries.report.drawing.canvas import Canvas, DrawSymbol, choose_y_scale, wrap_text
from destage.queries.report.drawing.chart import Dot, DotKind, DotPlot
from destage.queries.report.drawing.chart_labels import Box, estimate_width, place_label
from destage.queries.text.presentation import format_number

_LANE, _LINE, _PADDING = 17.0, 15.0, 12.0
_MARGIN_RIGHT, _BESIDE, _AXIS = 30, 46, 50
_MOST_TITLE, _MOST_REMARK = 250.0, 170.0
"""The widths of a row's title and of its remark [px]."""
_LEAST_PLOT = 260.0
"""The width of a plot below which titles and remarks are above the values instead of beside them [px]."""
_ARROWS = {"at_least": "arrow-right", "at_most": "arrow-left"}
_VISIBLE = 5.0
"""The length below which an interval hides behind its dot [px]."""


@dataclass
class DotDrawing:
    """A dot plot on a canvas."""

    chart: DotPlot
    canvas: Canvas

    def __post_init__(self) -> None:
        chart = self.chart
        self.kinds = {kind.name: kind for kind in chart.kinds}
        self.titles = [wrap_text(row.title, _MOST_TITLE) for row in chart.rows]
        self.remarks = [wrap_text(row.remark, _MOST_REMARK) for row in chart.rows]
        self.left = 34 + max(map(estimate_width, [*chain(*self.titles), chart.row_title]))
        widest = max(map(estimate_width, chain(*self.remarks)), default=0.0)
        self.right = self.canvas.width - _MARGIN_RIGHT - (widest + _BESIDE if widest else 0.0)
        self.is_stacked = self.right - self.left < _LEAST_PLOT
        if self.is_stacked:
            self.left, self.right = 26.0, self.canvas.width - _MARGIN_RIGHT
            room = self.canvas.width - 40
            self.titles = [wrap_text(row.title, room) for row in chart.rows]
            self.remarks = [wrap_text(row.remark, room) for row in chart.rows]
        end = self.right + _BESIDE - 20 if widest and not self.is_stacked else self.canvas.width - 4
        self.texts = [wrap_text(row.text, end - self.left - 10) for row in chart.rows]
        dots = [dot for row in chart.rows for dot in row.dots]
        ends = [end for dot in dots for end in (dot.value, dot.low, dot.high) if end is not None]
        self.x = chart.scale or choose_y_scale(ends or [1.0], is_log=chart.x_log, most=chart.x_most)

    def draw(self, top: float) -> float:
        """Draw the plot below `top` and return where it ends [px]."""
        named = [(kind.name, self._legend_symbol(kind)) for kind in self.chart.kinds if kind.name]
        top += 6
        if named:
            top = self.canvas.legend(named, self.left, top)
        if self.is_stacked and self.chart.row_title:
            top += _LINE + 4
        heights = [self._height(index) for index in range(len(self.chart.rows))]
        valued = sum(bool(row.dots) for row in self.chart.rows)
        self._axis(top, top + sum(heights[:valued]))
        for index, height in enumerate(heights):
            self._row(index, top, height)
            # Rows without values are below the axis, which does not apply to them.
            top += height + (_AXIS if index == valued - 1 else 0.0)
        return top

    def _height(self, index: int) -> float:
        row = self.chart.rows[index]
        lanes = _LANE * (1 + max((dot.lane for dot in row.dots), default=0))
        if self.is_stacked:
            below = _LINE * len(self.texts[index]) if row.text else lanes
            return _PADDING + self._heading_height(index) + below
        lines = (self.titles[index], self.remarks[index], self.texts[index])
        return _PADDING + max(_LINE * max(map(len, lines)), lanes)

    def _heading_height(self, index: int) -> float:
        """Return the height of the title and the remark above the values of a row."""
        if not self.is_stacked:
            return 0.0
        remarks = self.remarks[index] if self.chart.rows[index].remark else []
        return _LINE * (len(self.titles[index]) + len(remarks))

    def _legend_symbol(self, kind: DotKind) -> DrawSymbol:
        if kind.shape == "column":
            return lambda x, y: self.canvas.rectangle(f"column {kind.colour}", x - 9, y - 5, 18, 10)
        dots = [dot for row in self.chart.rows for dot in row.dots if dot.kind == kind.name]
        if dots and all(map(self._is_bar, dots)):
            return lambda x, y: self.canvas.path(f"range {kind.colour}", f"M{x - 9:.1f} {y:.1f}h18")
        return lambda x, y: self.canvas.symbol(kind.shape, kind.colour, x, y)

    def _axis(self, top: float, bottom: float) -> None:
        for tick in self.x.ticks:
            self.canvas.path("grid", f"M{self._x(tick):.1f} {top:.1f}V{bottom:.1f}")
        if self.chart.rule_at is not None:
            self.canvas.path("axis at", f"M{self._x(self.chart.rule_at):.1f} {top:.1f}V{bottom + 5:.1f}")
        wide = self.right - self.left
        self.canvas.x_axis(self.x, [format_number(tick) for tick in self.x.ticks], self.left, wide, bottom)
        if self.chart.row_title:
            place = (self.left, top - 4, "start") if self.is_stacked else (self.left - 14, bottom + 38, "end")
            self.canvas.text(*place[:2], self.chart.row_title, "axis-title", place[2])
        middle = self.left + wide / 2
        self.canvas.text(middle, bottom + _AXIS - 12, self.chart.x_title, "axis-title", "middle")

    def _row(self, index: int, top: float, height: float) -> None:
        row = self.chart.rows[index]
        if index and (row.dots or not self.chart.rows[index - 1].dots):
            self.canvas.path("grid", f"M16 {top:.1f}H{self.canvas.width - 16}")
        middle = top + height / 2
        if self.is_stacked:
            self._heading(index, top + _PADDING / 2)
            middle += self._heading_height(index) / 2
        else:
            self._lines(self.titles[index], self.left - 14, middle, "tick row", "end")
            self._lines(self.remarks[index], self.right + _BESIDE, middle, "tick", "start")
            self._remark_symbol(index, self.right + _BESIDE - 12, middle)
        if row.text:
            self._lines(self.texts[index], self.left + 10, middle, "mark-label", "start")
        lanes = 1 + max((dot.lane for dot in row.dots), default=0)
        placed = [
            (dot, self._x(dot.value), middle + (dot.lane - (lanes - 1) / 2) * _LANE) for dot in row.dots
        ]
        taken: list[Box] = []
        for dot, x, y in placed:
            low, high = self._interval(dot, y)
            taken += [Box(low - 2, y - 3, high - low + 4, 6), Box(x - 7, y - 7, 14, 14)]
            if dot.bound is not None:
                taken.append(Box(x - 16, y - 7, 32, 14))
        for dot, x, y in placed:
            self._mark(dot, x, y)
        for dot, x, y in placed:
            box = self._label(dot, x, y, taken)
            if box is not None:
                taken.append(box)

    def _heading(self, index: int, top: float) -> None:
        """Write the title of a row, and its remark below it."""
        titles, remarks = self.titles[index], self.remarks[index]
        self._lines(titles, self.left, top + _LINE * len(titles) / 2, "tick row", "start")
        if self.chart.rows[index].remark:
            middle = top + _LINE * (len(titles) + len(remarks) / 2)
            self._lines(remarks, self.left + 18, middle, "tick", "start")
            self._remark_symbol(index, self.left + 6, middle)

    def _remark_symbol(self, index: int, x: float, y: float) -> None:
        name = self.chart.rows[index].kind
        if name is not None:
            self.canvas.symbol(self.kinds[name].shape, self.kinds[name].colour, x, y)

    def _interval(self, dot: Dot, y: float) -> tuple[float, float]:
        """Draw a dot's interval and return where it begins and ends [px]."""
        x = self._x(dot.value)
        if dot.low is None or dot.high is None:
            return x, x
        low, high = self._x(dot.low), self._x(dot.high)
        colour = self.kinds[dot.kind].colour
        if self._is_bar(dot):
            self.canvas.path(f"range {colour}", f"M{low:.1f} {y:.1f}H{high:.1f}", dot.note)
        elif self.kinds[dot.kind].shape != "column":
            self._whiskers(colour, low, high, y, 4)
        return low, high

    def _mark(self, dot: Dot, x: float, y: float) -> None:
        """Draw a symbol, or a bar from zero to the value and its interval over it."""
        kind = self.kinds[dot.kind]
        if kind.shape == "column":
            start = self._x(0.0)
            colour = f"column {kind.colour}"
            self.canvas.rectangle(colour, start, y - 5, max(x - start, 1.0), 10, dot.note)
            if dot.low is not None and dot.high is not None:
                self._whiskers("labelled", self._x(dot.low), self._x(dot.high), y, 3)
        elif not self._is_bar(dot):
            shape = kind.shape if dot.bound is None else _ARROWS[dot.bound]
            self.canvas.symbol(shape, kind.colour, x, y, dot.note)

    def _whiskers(self, colour: str, low: float, high: float, y: float, half: float) -> None:
        """Draw an interval with its ends, unless it is hidden."""
        if high - low >= _VISIBLE:
            ends = f"M{low:.1f} {y - half:.1f}v{2 * half}M{high:.1f} {y - half:.1f}v{2 * half}"
            self.canvas.path(f"bar {colour}", f"M{low:.1f} {y:.1f}H{high:.1f}{ends}")

    def _is_bar(self, dot: Dot) -> bool:
        """Whether a dot is drawn as a range only: one that is long enough to be seen."""
        if not dot.is_range or dot.low is None or dot.high is None:
            return False
        return self._x(dot.high) - self._x(dot.low) >= _VISIBLE

    def _label(self, dot: Dot, x: float, y: float, taken: Sequence[Box]) -> Box | None:
        """Write a label right of the marks of a row, else left, else in a free place nearby, if any."""
        text = dot.label
        if text is None:
            return None
        low, high = (x if end is None else self._x(end) for end in (dot.low, dot.high))
        is_beside = not self.is_stacked and any(row.remark for row in self.chart.rows)
        spare = _BESIDE - 18 if is_beside else _MARGIN_RIGHT - 4
        bounds = Box(self.left, y - 40, self.right + spare - self.left, 80)
        box = Box(max(high, x) + 10, y - 7, estimate_width(text), 14)
        while covered := [other for other in taken if box.overlap(other)]:
            box = replace(box, left=max(other.left + other.width for other in covered) + 5)
        if box.left + box.width > bounds.left + bounds.width:
            box = Box(min(low, x) - 10 - estimate_width(text), y - 7, estimate_width(text), 14)
        if box.left < bounds.left or any(box.overlap(other) for other in taken):
            label = place_label(text, x, y, taken, replace(bounds, top=y - _LANE, height=2 * _LANE))
            if label is None:
                return None
            box = label.box
        style = "published" if self.kinds[dot.kind].colour == "published" else ""
        self.canvas.text(box.left, box.top + 11, text, f"mark-label {style}".strip())
        return box

    def _x(self, value: float) -> float:
        return self.left + min(max(self.x.place(value), 0.0), 1.0) * (self.right - self.left)

    def _lines(self, lines: Sequence[str], x: float, middle: float, kind: str, anchor: str) -> None:
        for index, line in enumerate(lines):
            self.canvas.text(x, middle + 4 + (index - (len(lines) - 1) / 2) * _LINE, line, kind, anchor)
