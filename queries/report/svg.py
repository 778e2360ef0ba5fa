"""Drawing a chart as SVG: by hand, without a plotting library, in colours for light and dark."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from itertools import pairwise

from destage.queries.presentation import number, quantity
from destage.queries.report.axis import Scale, x_scale, y_scale
from destage.queries.report.chart import Chart, Mark, Panel, Series
from destage.queries.report.dots import Dots, DotsDrawing
from destage.queries.report.labels import Box, place_label, text_width
from destage.queries.report.lanes import Lanes, LanesDrawing

_PLOT_HEIGHT = 300
_MARGIN_RIGHT, _MARGIN_BOTTOM = 18, 62
_Y_TITLE = 36
_GAP = 30
_LEGEND_LINE = 22
_COLOURS = 8
_COLOURED = ("line", "scattered")
_PUBLISHED = "published"
_RADIUS = 4.5
_VISIBLE = 4.0
"""The height below which a bar hides behind its mark [px]."""


def draw(chart: Chart | Lanes | Dots, *, width: int = 1100, standalone: bool = False) -> str:
    """Return a chart as an SVG element.

    Args:
        chart: The chart.
        width: Its width [px]; the height follows.
        standalone: Whether it is a file of its own, with its title, its colours and a ground.
    """
    if isinstance(chart, Chart):
        return _Drawing(chart, width, standalone=standalone).render()
    drawing = LanesDrawing(chart, width) if isinstance(chart, Lanes) else DotsDrawing(chart, width)
    top = 0.0
    if standalone:
        drawing.parts.append(f'<text class="title" x="16" y="28">{escape(chart.title)}</text>')
        top = 34.0
    height = round(drawing.draw(top))
    return _document(chart.title, drawing.parts, width, height, standalone=standalone)


def _document(title: str, parts: Sequence[str], width: int, height: int, *, standalone: bool) -> str:
    style = ground = namespace = ""
    if standalone:
        colours = (files("destage.queries.report") / "chart.css").read_text()
        style = f"<style>{colours}</style>"
        ground = f'<rect class="ground" width="{width}" height="{height}"/>'
        namespace = ' xmlns="http://www.w3.org/2000/svg"'
    return (
        f'<svg{namespace} class="chart" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{escape(title, quote=True)}">'
        f"{style}{ground}{''.join(parts)}</svg>"
    )


@dataclass(slots=True)
class _Frame:
    """Where one panel's plot lies [px]."""

    left: float
    top: float
    width: float
    height: float


@dataclass
class _Drawing:
    chart: Chart
    width: int
    standalone: bool
    parts: list[str] = field(default_factory=list)
    taken: list[Box] = field(default_factory=list)

    def render(self) -> str:
        marks = [mark for panel in self.chart.panels for series in panel.series for mark in series.marks]
        self.x = x_scale(
            [mark.x for mark in marks], is_log=self.chart.x_log, at_values=self.chart.x_at_values
        )
        ends = [end for mark in marks for end in (mark.y, mark.low, mark.high) if end is not None]
        self.y = y_scale(ends, is_log=self.chart.y_log, most=self.chart.y_most)
        self.margin = _Y_TITLE + max(text_width(number(tick)) for tick in self.y.ticks)
        top = 12.0
        if self.standalone:
            self._text(16, top + 16, self.chart.title, "title")
            top += 34
        top = self._legend(top)
        if any(panel.title for panel in self.chart.panels):
            top += 22
        count = len(self.chart.panels)
        room = self.width - self.margin - _MARGIN_RIGHT - _GAP * (count - 1)
        for index, panel in enumerate(self.chart.panels):
            left = self.margin + index * (room / count + _GAP)
            self._panel(panel, _Frame(left, top + 6, room / count, _PLOT_HEIGHT), is_first=index == 0)
        height = round(top + 6 + _PLOT_HEIGHT + _MARGIN_BOTTOM)
        self._text(
            self.margin + (self.width - self.margin - _MARGIN_RIGHT) / 2,
            height - 12,
            self.chart.x_title,
            "axis-title",
            anchor="middle",
        )
        middle = top + 6 + _PLOT_HEIGHT / 2
        self.parts.append(
            f'<text class="axis-title" text-anchor="middle" '
            f'transform="translate(16 {middle:.1f}) rotate(-90)">{escape(self.chart.y_title)}</text>'
        )
        return _document(self.chart.title, self.parts, self.width, height, standalone=self.standalone)

    def _legend(self, top: float) -> float:
        """Draw the legend and return where it ends; one unnamed series needs none."""
        names = [name for name in self.chart.ordered if name]
        if not names:
            return top
        styles = {series.name: series for panel in self.chart.panels for series in panel.series}
        left, line = self.margin, top + 12
        for name in names:
            needed = 34 + text_width(name)
            if left + needed > self.width - _MARGIN_RIGHT and left > self.margin:
                left, line = self.margin, line + _LEGEND_LINE
            series = styles[name]
            kind = self._kind(series)
            if series.style in {"line", "reference"}:
                self.parts.append(f'<path class="line {kind}" d="M{left:.1f} {line:.1f}h22"/>')
            self._symbol(series, left + 11, line, "")
            self._text(left + 28, line + 4, name, "legend")
            left += needed + 18
        return line + _LEGEND_LINE - 6

    def _panel(self, panel: Panel, frame: _Frame, *, is_first: bool) -> None:
        if panel.title:
            self._text(
                frame.left + frame.width / 2, frame.top - 10, panel.title, "panel-title", anchor="middle"
            )
        self._grid(frame, is_first=is_first)
        lines = [series for series in panel.series if series.style in {"line", "reference"}]
        offsets = {series.name: (at - (len(lines) - 1) / 2) * 3.0 for at, series in enumerate(lines)}
        for series in lines:
            self._line(series, frame, offsets[series.name])
        for series in panel.series:
            for mark in series.marks:
                x, y = self._at(mark, frame, offsets.get(series.name, 0.0))
                self.taken.append(Box(x - 7, y - 7, 14, 14))
        for series in lines:
            self._keep_clear(series, frame)
        for series in panel.series:
            self._marks(series, frame, offsets.get(series.name, 0.0))
        for series in panel.series:
            self._labels(series, frame)

    def _grid(self, frame: _Frame, *, is_first: bool) -> None:
        bottom = frame.top + frame.height
        for tick in self.y.ticks:
            y = bottom - self.y.place(tick) * frame.height
            self.parts.append(f'<path class="grid" d="M{frame.left:.1f} {y:.1f}h{frame.width:.1f}"/>')
            if is_first:
                self._text(frame.left - 8, y + 4, number(tick), "tick", anchor="end")
        self.parts.append(f'<path class="axis" d="M{frame.left:.1f} {bottom:.1f}h{frame.width:.1f}"/>')
        for tick, text in _legible(self.x, self._tick_texts(), frame.width):
            x = frame.left + self.x.place(tick) * frame.width
            self.parts.append(f'<path class="axis" d="M{x:.1f} {bottom:.1f}v5"/>')
            self._text(x, bottom + 19, text, "tick", anchor="middle")
        if self.x.zero_at is not None:
            # The axis is broken between zero and the first doubling.
            first = min(tick for tick in self.x.ticks if tick > 0)
            x = frame.left + (self.x.place(0) + self.x.place(first)) / 2 * frame.width
            self.parts.append(f'<path class="break" d="M{x - 5:.1f} {bottom + 5:.1f}l4 -10m3 10l4 -10"/>')

    def _tick_texts(self) -> list[str]:
        unit = self.chart.x_unit
        return ["0" if tick == 0 else quantity(_whole(tick), unit) for tick in self.x.ticks]

    def _line(self, series: Series, frame: _Frame, offset: float) -> None:
        kind = self._kind(series)
        if len(series.marks) == 1 and series.style == "reference":
            _, y = self._at(series.marks[0], frame, offset)
            self.parts.append(f'<path class="line {kind}" d="M{frame.left:.1f} {y:.1f}h{frame.width:.1f}"/>')
            return
        points = [self._at(mark, frame, offset) for mark in series.marks]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        if points:
            self.parts.append(f'<path class="line {kind}" d="M{path}"/>')

    def _keep_clear(self, series: Series, frame: _Frame) -> None:
        """Note small boxes along a line, so that texts are not set across it."""
        points = [self._at(mark, frame, 0.0) for mark in series.marks]
        for (x0, y0), (x1, y1) in pairwise(points):
            steps = max(1, round(math.hypot(x1 - x0, y1 - y0) / 8))
            for step in range(steps):
                x, y = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
                self.taken.append(Box(x - 2, y - 2, 4, 4))

    def _marks(self, series: Series, frame: _Frame, offset: float) -> None:
        kind = self._kind(series)
        for mark in series.marks:
            x, y = self._at(mark, frame, offset)
            if mark.low is not None and mark.high is not None:
                high, low = (self._y(end, frame) for end in (mark.high, mark.low))
                if low - high >= _VISIBLE:
                    self.parts.append(
                        f'<path class="bar {kind}" d="M{x:.1f} {high:.1f}V{low:.1f}M{x - 4:.1f} {high:.1f}h8'
                        f'M{x - 4:.1f} {low:.1f}h8"/>'
                    )
            self._symbol(series, x, y, mark.note, self._colour(mark))

    def _labels(self, series: Series, frame: _Frame) -> None:
        for mark in series.marks:
            if mark.label is None:
                continue
            x, y = self._at(mark, frame, 0.0)
            bounds = Box(frame.left, frame.top, frame.width, frame.height)
            box = place_label(mark.label, x, y, self.taken, bounds)
            self.taken.append(box)
            # Not the class of a line, whose texts would have no colour.
            kind = "mark-label published" if series.style == _PUBLISHED else "mark-label"
            self._text(box.left, box.top + 11, mark.label, f"{kind} {self._colour(mark)}".strip())

    def _symbol(self, series: Series, x: float, y: float, note: str, colour: str = "") -> None:
        kind = self._kind(series)
        title = f"<title>{escape(note)}</title>" if note else ""
        if series.style == _PUBLISHED:
            shape = f'<path class="hollow {colour or _PUBLISHED}" d="{_polygon(x, y, 4, _RADIUS + 2.5, 0.0)}"'
        elif series.style == "labelled":
            shape = f'<path class="solid" d="{_polygon(x, y, 4, _RADIUS + 1.5, math.pi / 4)}"'
        elif series.style == "reference":
            shape = f'<circle class="mark {kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"'
        else:
            shape = f'<circle class="mark {kind}" cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}"'
        self.parts.append(f"{shape}>{title}</{shape[1 : shape.index(' ')]}>" if title else f"{shape}/>")

    def _kind(self, series: Series) -> str:
        if series.style not in _COLOURED:
            return series.style
        lines = self._lines()
        return f"c{lines.index(series.name) % _COLOURS}" if series.name in lines else "c0"

    def _colour(self, mark: Mark) -> str:
        """The colour of the line that a mark goes with; none where there is but one line."""
        lines = self._lines()
        return f"c{lines.index(mark.line) % _COLOURS}" if mark.line in lines and len(lines) > 1 else ""

    def _lines(self) -> list[str]:
        coloured = {one.name for panel in self.chart.panels for one in panel.series if one.style in _COLOURED}
        return [name for name in self.chart.ordered if name in coloured]

    def _at(self, mark: Mark, frame: _Frame, offset: float) -> tuple[float, float]:
        return frame.left + self.x.place(mark.x) * frame.width + offset, self._y(mark.y, frame)

    def _y(self, value: float, frame: _Frame) -> float:
        return frame.top + (1 - min(max(self.y.place(value), 0.0), 1.0)) * frame.height

    def _text(self, x: float, y: float, text: str, kind: str, anchor: str = "start") -> None:
        self.parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
        )


def _polygon(x: float, y: float, corners: int, radius: float, turn: float) -> str:
    angles = [turn + 2 * math.pi * corner / corners - math.pi / 2 for corner in range(corners)]
    points = (f"{x + radius * math.cos(angle):.1f} {y + radius * math.sin(angle):.1f}" for angle in angles)
    return "M" + "L".join(points) + "Z"


def _whole(value: float) -> float:
    return int(value) if float(value).is_integer() else value


def _legible(scale: Scale, texts: Sequence[str], width: float) -> Iterable[tuple[float, str]]:
    """Yield the ticks whose texts do not touch the one before."""
    end = -math.inf
    for tick, text in zip(scale.ticks, texts, strict=True):
        half = text_width(text) / 2
        x = scale.place(tick) * width
        if x - half > end + 6:
            yield tick, text
            end = x + half
