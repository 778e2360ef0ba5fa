"""Line charts drawn: small multiples of panels, each with a strip below it, and a common legend above."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from destage.queries.report.drawing.axis import Scale, choose_x_scale, choose_y_scale
from destage.queries.report.drawing.canvas import MARGIN_RIGHT, Canvas, wrap_text
from destage.queries.report.drawing.chart import LineChart, Series
from destage.queries.report.drawing.chart_labels import BOLD, estimate_width
from destage.queries.report.drawing.series_drawing import Frame, Palette, draw_legend_symbol, draw_series
from destage.queries.text.presentation import format_number, format_quantity

_HEIGHT, _HEIGHT_OF_MANY, _STRIP = 300.0, 190.0, 100.0
"""The height of a single row of panels, of each of several rows, and of a strip [px]."""
_LEAST_WIDTH, _LEAST_OF_MANY, _MANY = 210.0, 120.0, 3
"""The minimum width of a panel [px]; its minimum on a phone, if there are more panels than `_MANY`."""
_PHONE = 500.0
_GAP = 26.0
_TICKS, _TITLE, _LINE = 26.0, 20.0, 15.0
_TICK_GAP, _BELOW = 14.0, 8.0


def draw_lines(chart: LineChart, canvas: Canvas, top: float) -> float:
    """Draw a line chart below `top` and return where it ends [px]."""
    return _LineDrawing(chart, canvas).draw(top)


@dataclass
class _LineDrawing:
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
        for at, line in enumerate(lines):
            canvas.text(middle, top + 6 + at * _LINE, line, "axis-title", "middle")
        return top + 2 + len(lines) * _LINE

    def _panels(self, places: Sequence[int], top: float) -> float:
        """Draw a line of panels, each with its strip, and return where it ends."""
        chart, canvas = self.chart, self.canvas
        top = self._y_title(chart.y_title, top)
        titles = [wrap_text(chart.panels[place].title, self.width / BOLD) for place in places]
        if any(lines[0] for lines in titles):
            top += 4 + _LINE * max(map(len, titles))
        frames = []
        for column, lines in enumerate(titles):
            frame = Frame(self.margin + column * (self.width + _GAP), top + 6, self.width, self.height)
            frames.append(frame)
            for at, line in enumerate(reversed(lines)):
                canvas.text(
                    frame.left + frame.width / 2, frame.top - 8 - at * _LINE, line, "panel-title", "middle"
                )
        for place, frame in zip(places, frames, strict=True):
            self._grid(frame, self.y)
            draw_series(chart.panels[place].series, canvas, frame, self.x, self.y, self.palette)
        bottom = frames[0].bottom
        if chart.strip is not None and self.strip is not None:
            top = self._y_title(chart.strip.y_title, bottom + 14)
            frames = [Frame(frame.left, top + 6, frame.width, _STRIP) for frame in frames]
            for place, frame in zip(places, frames, strict=True):
                self._grid(frame, self.strip)
                draw_series(chart.strip.panels[place], canvas, frame, self.x, self.strip, self.palette)
            bottom = frames[0].bottom
        for frame in frames:
            self._x_axis(frame)
        return bottom + _TICKS + _BELOW

    def _y_title(self, title: str, top: float) -> float:
        """Write the title of a y axis above it, where a long one has room."""
        lines = wrap_text(title, self.canvas.width - MARGIN_RIGHT)
        for at, line in enumerate(lines):
            self.canvas.text(4, top + 14 + at * _LINE, line, "axis-title")
        return top + _TITLE + (len(lines) - 1) * _LINE

    def _grid(self, frame: Frame, scale: Scale) -> None:
        for tick in scale.ticks:
            y = frame.top + (1 - scale.place(tick)) * frame.height
            self.canvas.path("grid", f"M{frame.left:.1f} {y:.1f}h{frame.width:.1f}")
            if frame.left == self.margin:
                self.canvas.text(frame.left - 8, y + 4, format_number(tick), "tick", "end")
        self.canvas.path("axis", f"M{frame.left:.1f} {frame.bottom:.1f}h{frame.width:.1f}")

    def _x_axis(self, frame: Frame) -> None:
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
