"""Charts of lines drawn: small multiples of panels, each with a strip below it, and a common legend above.

A plot has lines, bars, marks with their intervals, bounds, and labels.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from destage.queries.report.drawing.canvas import (
    MARGIN_RIGHT,
    Canvas,
    DrawSymbol,
    Scale,
    choose_x_scale,
    choose_y_scale,
    wrap_text,
)
from destage.queries.report.drawing.chart import LineChart, Mark, Series
from destage.queries.report.drawing.chart_labels import BOLD, Box, Label, estimate_width, place_label
from destage.queries.text.presentation import format_number, format_quantity

_COLOURS = 8
_OWN_COLOUR = {"reference", "labelled", "published", "unanswered"}
_JOINED = {"line", "reference", "curve", "area"}
_MARKLESS = {"curve", "area", "points", "bars", "unanswered"}
_SHAPES = {
    "published": "diamond",
    "labelled": "square",
    "reference": "dot",
    "bars": "square",
    "unanswered": "cross",
}
_ARROWS = {"at_least": "arrow-up", "at_most": "arrow-down"}
_MOST_BAR = 26.0
_VISIBLE = 4.0
"""The height below which a bar hides behind its mark [px]."""
_APART, _MOST_APART = 3.0, 12.0
"""The distance between marks of different lines at one x, and that of the outermost [px]."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of the series of a chart, which follow its legend."""

    coloured: tuple[str, ...]

    @classmethod
    def of(cls, legend: Sequence[str], every: Sequence[Series]) -> "Palette":
        """Return the palette of a chart with a legend and series."""
        coloured = {series.name for series in every if series.style not in _OWN_COLOUR}
        return cls(tuple(name for name in legend if name in coloured))

    def find_class(self, series: Series) -> str:
        """Return the CSS class of a series' colour."""
        if series.style in _OWN_COLOUR:
            like = f" c{self.coloured.index(series.like) % _COLOURS}" if series.like in self.coloured else ""
            return f"{series.style}{like}"
        return f"c{self.coloured.index(series.name) % _COLOURS}" if series.name in self.coloured else "c0"

    def find_line_class(self, mark: Mark) -> str:
        """Return the colour of the line that a mark belongs to; empty where there is only one line."""
        if mark.line not in self.coloured or len(self.coloured) == 1:
            return ""
        return f"c{self.coloured.index(mark.line) % _COLOURS}"


def draw_legend_symbol(canvas: Canvas, palette: Palette, series: Series) -> DrawSymbol:
    """Return a function that draws the symbol of a series in a legend."""

    def draw_symbol(x: float, y: float) -> None:
        colour = palette.find_class(series)
        if series.style in _JOINED:
            canvas.path(f"line {colour}", f"M{x - 11:.1f} {y:.1f}h22")
        if series.style not in {"curve", "area"}:
            canvas.symbol(_SHAPES.get(series.style, "circle"), colour, x, y)

    return draw_symbol


@dataclass
class _PlotDrawing:
    """The series of a plot within its frame [px], over two scales."""

    canvas: Canvas
    frame: Box
    x: Scale
    y: Scale
    palette: Palette
    marks: list[Box] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    along_lines: list[Box] = field(default_factory=list)

    def draw(self, every: Sequence[Series]) -> None:
        lines = [series for series in every if series.style in {"line", "reference"}]
        apart = min(_APART, _MOST_APART / len(lines)) if lines else 0.0
        offsets = {series.name: (index - (len(lines) - 1) / 2) * apart for index, series in enumerate(lines)}
        bars = [series for series in every if series.style == "bars"]
        for series in every:
            if series.style in _JOINED:
                self._line(series, offsets.get(series.name, 0.0))
            elif series.style == "points":
                self._points(series)
            elif series.style == "bars":
                self._bars(series, bars.index(series), len(bars))
            elif series.style == "unanswered":
                for mark in series.marks:
                    self._symbol(series, self._at(mark)[0], self.frame.bottom, mark)
        places = [
            (series, mark, *self._at(mark, offsets.get(series.name, 0.0)))
            for series in every
            if series.style not in _MARKLESS
            for mark in series.marks
        ]
        self.marks += [
            Box(x - 7, y - 7, 14, 14) if mark.bound is None else Box(x - 7, y - 17, 14, 34)
            for _, mark, x, y in places
        ]
        for series in lines:
            self._keep_clear(series)
        for series, mark, x, y in places:
            self._mark(series, mark, x, y)
        for series, mark, x, y in places:
            self._label(series, mark, x, y)

    def _line(self, series: Series, offset: float) -> None:
        kind, frame = self.palette.find_class(series), self.frame
        if len(series.marks) == 1 and series.style == "reference":
            _, y = self._at(series.marks[0])
            self.canvas.path(f"line {kind}", f"M{frame.left:.1f} {y:.1f}h{frame.width:.1f}")
            return
        points = [self._at(mark, offset) for mark in series.marks]
        if not points:
            return
        outline = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        if series.style == "area":
            floor = f"{points[0][0]:.1f} {frame.bottom:.1f}L{outline}L{points[-1][0]:.1f} {frame.bottom:.1f}"
            self.canvas.path(f"area {kind}", f"M{floor}Z")
        self.canvas.path(f"line {kind}", f"M{outline}")

    def _points(self, series: Series) -> None:
        places = (self._at(mark) for mark in series.marks)
        kind = self.palette.find_class(series)
        self.canvas.path(f"points {kind}", "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places))

    def _bars(self, series: Series, index: int, count: int) -> None:
        width = min(_MOST_BAR, self.frame.width / len(self.x.ticks) / (count + 0.6))
        kind = f"column {self.palette.find_class(series)}"
        for mark in series.marks:
            x, y = self._at(mark, (index - count / 2) * width)
            if self.frame.bottom > y:
                self.canvas.rectangle(kind, x + 1, y, width - 2, self.frame.bottom - y, mark.note)

    def _keep_clear(self, series: Series) -> None:
        """Add small boxes along a line, so that labels are placed beside it if they can."""
        points = [self._at(mark) for mark in series.marks]
        for (x0, y0), (x1, y1) in pairwise(points):
            steps = max(1, round(math.hypot(x1 - x0, y1 - y0) / 8))
            for step in range(steps):
                x, y = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
                self.along_lines.append(Box(x - 2, y - 2, 4, 4))

    def _mark(self, series: Series, mark: Mark, x: float, y: float) -> None:
        if mark.low is not None and mark.high is not None:
            high, low = (self._y(end) for end in (mark.high, mark.low))
            if low - high >= _VISIBLE:
                ends = f"M{x - 4:.1f} {high:.1f}h8M{x - 4:.1f} {low:.1f}h8"
                kind = self.palette.find_class(series)
                self.canvas.path(f"bar {kind}", f"M{x:.1f} {high:.1f}V{low:.1f}{ends}")
        self._symbol(series, x, y, mark)

    def _label(self, series: Series, mark: Mark, x: float, y: float) -> None:
        """Place the label of a mark; one without a free place is only in the mark's note and the table."""
        if mark.label is None:
            return
        label = place_label(
            mark.label, x, y, self.marks, self.frame, labels=self.labels, lines=self.along_lines
        )
        if label is None:
            return
        self.labels.append(label)
        if label.leader is not None:
            x0, y0, x1, y1 = label.leader
            self.canvas.path("leader", f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}")
        # Not the class of a line, whose texts would have no colour.
        kind = "mark-label published" if series.style == "published" else "mark-label"
        colour = self.palette.find_line_class(mark)
        self.canvas.text(label.box.left, label.box.top + 11, mark.label, f"{kind} {colour}".strip())

    def _symbol(self, series: Series, x: float, y: float, mark: Mark) -> None:
        shape = _SHAPES.get(series.style, "circle")
        if mark.bound is not None:
            shape = _ARROWS[mark.bound]
        colour = self.palette.find_line_class(mark) or self.palette.find_class(series)
        self.canvas.symbol(shape, colour, x, y, mark.note)

    def _at(self, mark: Mark, offset: float = 0.0) -> tuple[float, float]:
        return self.frame.left + self.x.place(mark.x) * self.frame.width + offset, self._y(mark.y)

    def _y(self, value: float) -> float:
        return self.frame.top + (1 - min(max(self.y.place(value), 0.0), 1.0)) * self.frame.height


_HEIGHT, _HEIGHT_OF_MANY, _STRIP = 300.0, 190.0, 100.0
"""The height of a single row of panels, of each of several rows, and of a strip [px]."""
_LEAST_WIDTH, _LEAST_OF_MANY, _MANY = 210.0, 120.0, 3
"""The minimum width of a panel [px]; its minimum on a phone, if there are more panels than `_MANY`."""
_PHONE = 500.0
_GAP = 26.0
_TICKS, _TITLE, _LINE = 26.0, 20.0, 15.0
_TICK_GAP, _BELOW = 14.0, 8.0


@dataclass
class LineDrawing:
    """A line chart on a canvas."""

    chart: LineChart
    canvas: Canvas

    def __post_init__(self) -> None:
        chart = self.chart
        above = [series for panel in chart.panels for series in panel.series]
        below = [series for panel in chart.strip.panels for series in panel] if chart.strip else []
        every = [*above, *below]
        self.series = {series.name: series for series in reversed(every)}
        if chart.x_names:
            count = len(chart.x_names)
            self.x = Scale(-0.5, count - 0.5, is_log=False, ticks=tuple(map(float, range(count))))
        else:
            places = [mark.x for series in every for mark in series.marks]
            self.x = choose_x_scale(places or [0.0], is_log=chart.x_log, at_values=chart.x_at_values)
        self.y = choose_y_scale(_ends(above), is_log=chart.y_log, most=chart.y_most)
        self.strip = (
            choose_y_scale(_ends(below), is_log=False, most=chart.strip.y_most, steps=2)
            if chart.strip
            else None
        )
        self.palette = Palette.of(chart.legend, every)
        ticks = [*self.y.ticks, *(self.strip.ticks if self.strip else ())]
        self.margin = _TICK_GAP + max(estimate_width(format_number(tick)) for tick in ticks)
        room = self.canvas.width - self.margin - MARGIN_RIGHT
        is_dense = self.canvas.width < _PHONE and len(chart.panels) > _MANY
        least = _LEAST_OF_MANY if is_dense else _LEAST_WIDTH
        most = max(1, math.floor((room + _GAP) / (least + _GAP)))
        # As many panels in the last line as in the others, where that is possible.
        self.columns = math.ceil(len(chart.panels) / math.ceil(len(chart.panels) / most))
        self.width = (room - _GAP * (self.columns - 1)) / self.columns
        self.height = _HEIGHT if len(chart.panels) <= self.columns else _HEIGHT_OF_MANY

    def draw(self, top: float) -> float:
        """Draw the chart below `top` and return where it ends [px]."""
        chart, canvas = self.chart, self.canvas
        top += 8
        names = [name for name in chart.legend if name in self.series]
        if names:
            symbols = [draw_legend_symbol(canvas, self.palette, self.series[name]) for name in names]
            top = canvas.legend(zip(names, symbols, strict=True), self.margin - 8, top)
        for first in range(0, len(chart.panels), self.columns):
            top = self._panels(range(first, min(first + self.columns, len(chart.panels))), top)
        lines = wrap_text(chart.x_title, canvas.width - self.margin - MARGIN_RIGHT)
        middle = self.margin + (canvas.width - self.margin - MARGIN_RIGHT) / 2
        for index, line in enumerate(lines):
            canvas.text(middle, top + 6 + index * _LINE, line, "axis-title", "middle")
        return top + 2 + len(lines) * _LINE

    def _panels(self, places: Sequence[int], top: float) -> float:
        """Draw a line of panels, each with its strip, and return where it ends."""
        chart, canvas = self.chart, self.canvas
        top = self._y_title(chart.y_title, top)
        titles = [wrap_text(chart.panels[place].title, self.width / BOLD) for place in places]
        if any(lines[0] for lines in titles):
            top += 4 + _LINE * max(map(len, titles))
        lefts = [self.margin + column * (self.width + _GAP) for column in range(len(places))]
        for left, lines in zip(lefts, titles, strict=True):
            for index, line in enumerate(reversed(lines)):
                canvas.text(left + self.width / 2, top - 2 - index * _LINE, line, "panel-title", "middle")
        frames = [Box(left, top + 6, self.width, self.height) for left in lefts]
        for place, frame in zip(places, frames, strict=True):
            self._plot(chart.panels[place].series, frame, self.y)
        if chart.strip is not None and self.strip is not None:
            top = self._y_title(chart.strip.y_title, frames[0].bottom + 14)
            frames = [Box(left, top + 6, self.width, _STRIP) for left in lefts]
            for place, frame in zip(places, frames, strict=True):
                self._plot(chart.strip.panels[place], frame, self.strip)
        for frame in frames:
            self._x_axis(frame)
        return frames[0].bottom + _TICKS + _BELOW

    def _y_title(self, title: str, top: float) -> float:
        """Write the title of a y axis above it, where a long one has room."""
        lines = wrap_text(title, self.canvas.width - MARGIN_RIGHT)
        for index, line in enumerate(lines):
            self.canvas.text(4, top + 14 + index * _LINE, line, "axis-title")
        return top + _TITLE + (len(lines) - 1) * _LINE

    def _plot(self, every: Sequence[Series], frame: Box, scale: Scale) -> None:
        """Draw the grid and the series of a panel or a strip."""
        for tick in scale.ticks:
            y = frame.top + (1 - scale.place(tick)) * frame.height
            self.canvas.path("grid", f"M{frame.left:.1f} {y:.1f}h{frame.width:.1f}")
            if frame.left == self.margin:
                self.canvas.text(frame.left - 8, y + 4, format_number(tick), "tick", "end")
        self.canvas.path("axis", f"M{frame.left:.1f} {frame.bottom:.1f}h{frame.width:.1f}")
        _PlotDrawing(self.canvas, frame, self.x, scale, self.palette).draw(every)

    def _x_axis(self, frame: Box) -> None:
        self.canvas.x_axis(self.x, self._tick_texts(), frame.left, frame.width, frame.bottom)
        if self.x.zero_at is not None:
            # The axis is broken between zero and the first doubling.
            first = min(tick for tick in self.x.ticks if tick > 0)
            x = frame.left + (self.x.place(0) + self.x.place(first)) / 2 * frame.width
            self.canvas.path("break", f"M{x - 5:.1f} {frame.bottom + 5:.1f}l4 -10m3 10l4 -10")

    def _tick_texts(self) -> Sequence[str]:
        if self.chart.x_names:
            return self.chart.x_names
        unit = self.chart.x_unit
        return ["0" if tick == 0 else format_quantity(_whole(tick), unit) for tick in self.x.ticks]


def _ends(every: Sequence[Series]) -> list[float]:
    """Return the values of series and the ends of their intervals."""
    marks = [mark for series in every if series.style != "unanswered" for mark in series.marks]
    return [end for mark in marks for end in (mark.y, mark.low, mark.high) if end is not None]


def _whole(value: float) -> float:
    return int(value) if float(value).is_integer() else value
