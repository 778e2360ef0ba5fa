"""Line charts drawn: panels side by side, a common legend above, labels where they cover least."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from destage.queries.presentation import format_number, format_quantity
from destage.queries.report.axis import Scale, choose_x_scale, choose_y_scale
from destage.queries.report.canvas import MARGIN_RIGHT, Canvas, DrawSymbol
from destage.queries.report.chart import LineChart, Mark, Panel, Series
from destage.queries.report.labels import Box, estimate_width, place_label

_PLOT_HEIGHT = 300
_MARGIN_BOTTOM = 62
_Y_TITLE = 36
_GAP = 30
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
_MOST_BAR = 26.0
_VISIBLE = 4.0
"""The height below which a bar hides behind its mark [px]."""


def draw_lines(chart: LineChart, canvas: Canvas, top: float) -> float:
    """Draw a line chart below `top` and return where it ends [px]."""
    return _LineDrawing(chart, canvas).draw(top)


@dataclass(slots=True)
class _Frame:
    """The plot of one panel [px]."""

    left: float
    top: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        return self.top + self.height


@dataclass
class _LineDrawing:
    chart: LineChart
    canvas: Canvas
    taken: list[Box] = field(default_factory=list)

    def __post_init__(self) -> None:
        chart = self.chart
        every = [series for panel in chart.panels for series in panel.series]
        marks = [mark for series in every for mark in series.marks]
        if chart.x_names:
            count = len(chart.x_names)
            self.x = Scale(-0.5, count - 0.5, is_log=False, ticks=tuple(map(float, range(count))))
        else:
            self.x = choose_x_scale(
                [mark.x for mark in marks] or [0.0], is_log=chart.x_log, at_values=chart.x_at_values
            )
        valued = [mark for series in every if series.style != "unanswered" for mark in series.marks]
        ends = [end for mark in valued for end in (mark.y, mark.low, mark.high) if end is not None]
        self.y = choose_y_scale(ends, is_log=chart.y_log, most=chart.y_most)
        self.margin = _Y_TITLE + max(estimate_width(format_number(tick)) for tick in self.y.ticks)
        coloured = {series.name for series in every if series.style not in _OWN_COLOUR}
        self.coloured = [name for name in chart.legend if name in coloured]

    def draw(self, top: float) -> float:
        chart, canvas = self.chart, self.canvas
        series = {one.name: one for panel in chart.panels for one in panel.series}
        top += 12
        names = [name for name in chart.legend if name in series]
        if names:
            top = canvas.legend(
                ((name, self._legend_symbol(series[name])) for name in names), self.margin, top
            )
        if any(panel.title for panel in chart.panels):
            top += 22
        count = len(chart.panels)
        room = canvas.width - self.margin - MARGIN_RIGHT
        width = (room - _GAP * (count - 1)) / count
        for index, panel in enumerate(chart.panels):
            left = self.margin + index * (width + _GAP)
            self._panel(panel, _Frame(left, top + 6, width, _PLOT_HEIGHT), is_first=index == 0)
        bottom = top + 6 + _PLOT_HEIGHT + _MARGIN_BOTTOM
        canvas.text(self.margin + room / 2, bottom - 12, chart.x_title, "axis-title", "middle")
        canvas.parts.append(
            f'<text class="axis-title" text-anchor="middle" '
            f'transform="translate(16 {top + 6 + _PLOT_HEIGHT / 2:.1f}) rotate(-90)">'
            f"{escape(chart.y_title)}</text>"
        )
        return bottom

    def _legend_symbol(self, series: Series) -> DrawSymbol:
        def draw_symbol(x: float, y: float) -> None:
            if series.style in _JOINED:
                self.canvas.path(f"line {self._class(series)}", f"M{x - 11:.1f} {y:.1f}h22")
            if series.style not in {"curve", "area"}:
                self._symbol(series, x, y)

        return draw_symbol

    def _panel(self, panel: Panel, frame: _Frame, *, is_first: bool) -> None:
        if panel.title:
            self.canvas.text(
                frame.left + frame.width / 2, frame.top - 10, panel.title, "panel-title", "middle"
            )
        self._axes(frame, is_first=is_first)
        lines = [series for series in panel.series if series.style in {"line", "reference"}]
        offsets = {series.name: (at - (len(lines) - 1) / 2) * 3.0 for at, series in enumerate(lines)}
        bars = [series for series in panel.series if series.style == "bars"]
        for series in panel.series:
            if series.style in _JOINED:
                self._line(series, frame, offsets.get(series.name, 0.0))
            elif series.style == "points":
                self._points(series, frame)
            elif series.style == "bars":
                self._bars(series, frame, bars.index(series), len(bars))
        self._crosses(panel, frame)
        marked = [series for series in panel.series if series.style not in _MARKLESS]
        places = [
            (series, mark, *self._at(mark, frame, offsets.get(series.name, 0.0)))
            for series in marked
            for mark in series.marks
        ]
        self.taken += [Box(x - 7, y - 7, 14, 14) for _, _, x, y in places]
        for series in lines:
            self._keep_clear(series, frame)
        for series, mark, x, y in places:
            self._mark(series, mark, x, y, frame)
        for series in marked:
            self._labels(series, frame)

    def _axes(self, frame: _Frame, *, is_first: bool) -> None:
        for tick in self.y.ticks:
            y = self._y(tick, frame)
            self.canvas.path("grid", f"M{frame.left:.1f} {y:.1f}h{frame.width:.1f}")
            if is_first:
                self.canvas.text(frame.left - 8, y + 4, format_number(tick), "tick", "end")
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

    def _line(self, series: Series, frame: _Frame, offset: float) -> None:
        kind = self._class(series)
        if len(series.marks) == 1 and series.style == "reference":
            _, y = self._at(series.marks[0], frame)
            self.canvas.path(f"line {kind}", f"M{frame.left:.1f} {y:.1f}h{frame.width:.1f}")
            return
        points = [self._at(mark, frame, offset) for mark in series.marks]
        if not points:
            return
        outline = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        if series.style == "area":
            floor = f"{points[0][0]:.1f} {frame.bottom:.1f}L{outline}L{points[-1][0]:.1f} {frame.bottom:.1f}"
            self.canvas.path(f"area {kind}", f"M{floor}Z")
        self.canvas.path(f"line {kind}", f"M{outline}")

    def _points(self, series: Series, frame: _Frame) -> None:
        places = (self._at(mark, frame) for mark in series.marks)
        self.canvas.path(f"points {self._class(series)}", "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places))

    def _bars(self, series: Series, frame: _Frame, at: int, count: int) -> None:
        width = min(_MOST_BAR, frame.width / len(self.x.ticks) / (count + 0.6))
        for mark in series.marks:
            x, y = self._at(mark, frame, (at - count / 2) * width)
            if frame.bottom > y:
                self.canvas.rectangle(
                    f"column {self._class(series)}", x + 1, y, width - 2, frame.bottom - y, mark.note
                )

    def _crosses(self, panel: Panel, frame: _Frame) -> None:
        """Draw the points without an answer on the x axis."""
        for series in panel.series:
            for mark in series.marks if series.style == "unanswered" else ():
                x = frame.left + self.x.place(mark.x) * frame.width
                self._symbol(series, x, frame.bottom, mark)

    def _keep_clear(self, series: Series, frame: _Frame) -> None:
        """Reserve small boxes along a line, so that labels are not placed across it."""
        points = [self._at(mark, frame) for mark in series.marks]
        for (x0, y0), (x1, y1) in pairwise(points):
            steps = max(1, round(math.hypot(x1 - x0, y1 - y0) / 8))
            for step in range(steps):
                x, y = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
                self.taken.append(Box(x - 2, y - 2, 4, 4))

    def _mark(self, series: Series, mark: Mark, x: float, y: float, frame: _Frame) -> None:
        if mark.low is not None and mark.high is not None:
            high, low = (self._y(end, frame) for end in (mark.high, mark.low))
            if low - high >= _VISIBLE:
                ends = f"M{x - 4:.1f} {high:.1f}h8M{x - 4:.1f} {low:.1f}h8"
                self.canvas.path(f"bar {self._class(series)}", f"M{x:.1f} {high:.1f}V{low:.1f}{ends}")
        self._symbol(series, x, y, mark)

    def _labels(self, series: Series, frame: _Frame) -> None:
        bounds = Box(frame.left, frame.top, frame.width, frame.height)
        for mark in series.marks:
            if mark.label is None:
                continue
            box = place_label(mark.label, *self._at(mark, frame), self.taken, bounds)
            self.taken.append(box)
            # Not the class of a line, whose texts would have no colour.
            kind = "mark-label published" if series.style == "published" else "mark-label"
            self.canvas.text(box.left, box.top + 11, mark.label, f"{kind} {self._line_colour(mark)}".strip())

    def _symbol(self, series: Series, x: float, y: float, mark: Mark | None = None) -> None:
        shape = _SHAPES.get(series.style, "circle")
        note, colour = (mark.note, self._line_colour(mark)) if mark else ("", "")
        self.canvas.symbol(shape, colour or self._class(series), x, y, note)

    def _class(self, series: Series) -> str:
        """Return the CSS class of a series' colour."""
        if series.style in _OWN_COLOUR:
            return series.style
        return f"c{self.coloured.index(series.name) % _COLOURS}" if series.name in self.coloured else "c0"

    def _line_colour(self, mark: Mark) -> str:
        """Return the colour of the line that a mark belongs to; empty where there is only one line."""
        if mark.line not in self.coloured or len(self.coloured) == 1:
            return ""
        return f"c{self.coloured.index(mark.line) % _COLOURS}"

    def _at(self, mark: Mark, frame: _Frame, offset: float = 0.0) -> tuple[float, float]:
        return frame.left + self.x.place(mark.x) * frame.width + offset, self._y(mark.y, frame)

    def _y(self, value: float, frame: _Frame) -> float:
        return frame.top + (1 - min(max(self.y.place(value), 0.0), 1.0)) * frame.height


def _whole(value: float) -> float:
    return int(value) if float(value).is_integer() else value
