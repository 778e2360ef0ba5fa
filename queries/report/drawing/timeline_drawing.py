"""State timelines drawn: a lane for each thing, run below run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from destage.queries.report.drawing.canvas import MARGIN_RIGHT, Canvas, Scale, choose_y_scale, wrap_text
from destage.queries.report.drawing.chart import RunTimeline, State, StateTimeline
from destage.queries.report.drawing.chart_labels import BOLD, estimate_width
from destage.queries.text.presentation import format_number

_LANE, _BETWEEN, _HEADING, _AXIS = 18, 6, 30, 46
_EVENT_LINE = 17
_EVENTS = "events"
_UNITS = ((7200.0, 3600.0, "h"), (600.0, 60.0, "min"), (0.0, 1.0, "s"))
"""The unit of the time axis by its end: least end [s], size of the unit [s], name."""


@dataclass
class TimelineDrawing:
    """A state timeline on a canvas."""

    chart: StateTimeline
    canvas: Canvas

    def __post_init__(self) -> None:
        runs = self.chart.runs
        names = [name for run in runs for name, _ in run.states]
        self.left = 20.0 + max(estimate_width(name) for name in [*names, _EVENTS])
        self.plot_width = self.canvas.width - MARGIN_RIGHT - self.left
        listed = [states for run in runs for states in (run.events, *(states for _, states in run.states))]
        self.end_s = max(state.end_s for states in listed for state in states)
        _, self.unit_s, self.unit = next(unit for unit in _UNITS if self.end_s >= unit[0])
        end = self.end_s / self.unit_s
        ticks = choose_y_scale([end], is_log=False).ticks
        shown = tuple(tick for tick in ticks if tick <= end or math.isclose(tick, end))
        self.scale = Scale(0.0, end, is_log=False, ticks=shown)

    def draw(self, top: float) -> float:
        """Draw the timeline below `top` and return where it ends [px]."""
        for run in self.chart.runs:
            top = self._run(run, top)
        title = f"time since the start of the run [{self.unit}]"
        self.canvas.text(self.left + self.plot_width / 2, top - 4, title, "axis-title", "middle")
        return top + 8

    def _run(self, run: RunTimeline, top: float) -> float:
        lines = wrap_text(run.title, (self.canvas.width - 16 - MARGIN_RIGHT) / BOLD)
        for index, line in enumerate(lines):
            self.canvas.text(16, top + 18 + index * _EVENT_LINE, line, "panel-title")
        top += _HEADING + (len(lines) - 1) * _EVENT_LINE
        first = top
        for name, states in run.states:
            self.canvas.text(self.left - 8, top + _LANE - 5, name, "tick", "end")
            for state in states:
                self._state(state, top)
            top += _LANE + _BETWEEN
        if run.events:
            self.canvas.text(self.left - 8, top + _LANE - 5, _EVENTS, "tick", "end")
            top = self._events(run.events, top) + _BETWEEN
        for tick in self.scale.ticks:
            self.canvas.path("rule", f"M{self._x(tick * self.unit_s):.1f} {first - 3:.1f}V{top:.1f}")
        texts = [format_number(tick) for tick in self.scale.ticks]
        self.canvas.x_axis(self.scale, texts, self.left, self.plot_width, top)
        return top + _AXIS

    def _state(self, state: State, top: float) -> None:
        left, right = self._x(state.start_s), self._x(state.end_s)
        wide = max(right - left, 1.0)
        self.canvas.rectangle(f"span {state.condition}", left, top, wide, _LANE, state.note)
        if state.progress is not None:
            high = _LANE * state.progress
            self.canvas.rectangle(f"progress {state.condition}", left, top + _LANE - high, wide, high)
        elif estimate_width(state.name) + 8 < wide:
            self.canvas.text(left + 4, top + _LANE - 5, state.name, "span-label")

    def _events(self, events: Sequence[State], top: float) -> float:
        """Draw events, each text in the first line where it touches none before; return where they end."""
        ends: list[float] = []
        for event in events:
            x = self._x(event.start_s)
            right = self.canvas.width - MARGIN_RIGHT - x - 8
            wide = estimate_width(event.name)
            is_left = wide > right and x - self.left - 8 > right
            # Between other texts and the edge there may be no room for one line.
            texts = wrap_text(event.name, max(right, x - self.left - 8))
            wide = max(map(estimate_width, texts))
            start = x - 10 - wide if is_left else x - 6
            line = next((index for index, end in enumerate(ends) if start > end), len(ends))
            line = line if len(texts) == 1 else len(ends)
            ends[line : line + len(texts)] = [start + wide + 24] * len(texts)
            y = top + line * _EVENT_LINE + _LANE / 2
            self.canvas.path(f"event {event.condition}", f"M{x:.1f} {y - 5:.1f}l4.5 5l-4.5 5l-4.5 -5Z")
            x += -8 if is_left else 8
            for index, text in enumerate(texts):
                self.canvas.text(x, y + 4 + index * _EVENT_LINE, text, "tick", "end" if is_left else "start")
        return top + len(ends) * _EVENT_LINE

    def _x(self, at_s: float) -> float:
        return self.left + at_s / self.end_s * self.plot_width
