"""What state things were in over time: a lane for each thing, drawn as SVG, the runs below each other."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from destage.queries.presentation import number
from destage.queries.report.axis import y_scale
from destage.queries.report.labels import text_width

_LANE, _BETWEEN, _HEADING, _AXIS = 18, 6, 30, 46
_MARGIN_RIGHT = 18
_MOMENT_LINE = 17
_UNITS = ((7200.0, 3600.0, "h"), (600.0, 60.0, "min"), (0.0, 1.0, "s"))
"""From how long on time is told in which unit: least [s], size [s], name."""


@dataclass(frozen=True, slots=True)
class Span:
    """A state that something was in for a while.

    Attributes:
        start_s: When it began [s].
        end_s: When it ended [s].
        state: What it is called.
        condition: `good`, `wait` or `bad`.
        note: What a pointer over it is told.
        progress: The share that was done by then, where something was rebuilt.
    """

    start_s: float
    end_s: float
    state: str
    condition: str
    note: str
    progress: float | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened at once.

    Attributes:
        at_s: When [s].
        text: What.
        condition: `good`, `wait` or `bad`.
    """

    at_s: float
    text: str
    condition: str


@dataclass(frozen=True, slots=True)
class RunLanes:
    """One run.

    Attributes:
        title: What tells it from the others.
        lanes: The name of each thing and its states, in the order of time.
        moments: What happened at once.
    """

    title: str
    lanes: tuple[tuple[str, tuple[Span, ...]], ...]
    moments: tuple[Moment, ...]


@dataclass(frozen=True, slots=True)
class Lanes:
    """A chart of states over time.

    Attributes:
        title: What it shows.
        runs: Its runs, with a common axis of time.
    """

    title: str
    runs: tuple[RunLanes, ...]


@dataclass
class LanesDrawing:
    """The drawing of a chart of states: parts of an SVG, and how high they are."""

    chart: Lanes
    width: int
    parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        names = [name for run in self.chart.runs for name, _ in run.lanes]
        self.left = 20.0 + max(text_width(name) for name in [*names, "moments"])
        ends = [span.end_s for run in self.chart.runs for _, spans in run.lanes for span in spans]
        ends += [moment.at_s for run in self.chart.runs for moment in run.moments]
        self.end = max(ends)
        _, self.unit_s, self.unit = next(unit for unit in _UNITS if self.end >= unit[0])

    def draw(self, top: float) -> float:
        """Draw all runs from `top` on [px].

        Args:
            top: Where the drawing begins.

        Returns:
            Where it ends.
        """
        for run in self.chart.runs:
            top = self._run(run, top)
        middle = (self.left + self.width - _MARGIN_RIGHT) / 2
        self._text(middle, top - 4, f"time from the start of the run [{self.unit}]", "axis-title", "middle")
        return top + 8

    def _run(self, run: RunLanes, top: float) -> float:
        self._text(16, top + 18, run.title, "panel-title")
        top += _HEADING
        first = top
        for name, spans in run.lanes:
            self._text(self.left - 8, top + _LANE - 5, name, "tick", "end")
            for span in spans:
                self._span(span, top)
            top += _LANE + _BETWEEN
        if run.moments:
            self._text(self.left - 8, top + _LANE - 5, "moments", "tick", "end")
            top = self._moments(run.moments, top) + _BETWEEN
        self._axis(first, top)
        return top + _AXIS

    def _span(self, span: Span, top: float) -> None:
        left, right = self._x(span.start_s), self._x(span.end_s)
        wide = max(right - left, 1.0)
        note = f"<title>{escape(span.note)}</title>"
        self.parts.append(
            f'<rect class="span {span.condition}" x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" '
            f'height="{_LANE}">{note}</rect>'
        )
        if span.progress is not None:
            high = _LANE * span.progress
            self.parts.append(
                f'<rect class="progress {span.condition}" x="{left:.1f}" y="{top + _LANE - high:.1f}" '
                f'width="{wide:.1f}" height="{high:.1f}"/>'
            )
        elif text_width(span.state) + 8 < wide:
            self._text(left + 4, top + _LANE - 5, span.state, "span-label")

    def _moments(self, moments: Sequence[Moment], top: float) -> float:
        """Draw moments, each text in the first line where it touches none before; gives where they end."""
        ends: list[float] = []
        for moment in moments:
            x, wide = self._x(moment.at_s), text_width(moment.text)
            is_left = x + 8 + wide > self.width - _MARGIN_RIGHT
            start = x - 10 - wide if is_left else x - 6
            line = next((at for at, end in enumerate(ends) if start > end), len(ends))
            ends[line : line + 1] = [start + wide + 24]
            y = top + line * _MOMENT_LINE + _LANE / 2
            shape = f"M{x:.1f} {y - 5:.1f}l4.5 5l-4.5 5l-4.5 -5Z"
            self.parts.append(f'<path class="moment {moment.condition}" d="{shape}"/>')
            self._text(x - 8 if is_left else x + 8, y + 4, moment.text, "tick", "end" if is_left else "start")
        return top + len(ends) * _MOMENT_LINE

    def _axis(self, first: float, bottom: float) -> None:
        wide = self.width - _MARGIN_RIGHT - self.left
        self.parts.append(f'<path class="axis" d="M{self.left:.1f} {bottom:.1f}h{wide:.1f}"/>')
        for tick in self._ticks():
            x = self._x(tick * self.unit_s)
            self.parts.append(f'<path class="rule" d="M{x:.1f} {first - 3:.1f}V{bottom + 5:.1f}"/>')
            self._text(x, bottom + 18, number(tick), "tick", "middle")

    def _ticks(self) -> Iterator[float]:
        end = self.end / self.unit_s
        return (tick for tick in y_scale([end], is_log=False).ticks if tick <= end or math.isclose(tick, end))

    def _x(self, at_s: float) -> float:
        return self.left + at_s / self.end * (self.width - _MARGIN_RIGHT - self.left)

    def _text(self, x: float, y: float, text: str, kind: str, anchor: str = "start") -> None:
        self.parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
        )
