"""The charts of reports as data: what is drawn, before anything is drawn."""

from dataclasses import dataclass
from typing import Literal

from destage.queries.report.drawing.canvas import Scale

Bound = Literal["at_least", "at_most"]
"""Whether the true value is known only to be at least, or at most, the one drawn."""

SeriesStyle = Literal[
    "line", "curve", "area", "points", "bars", "scattered", "reference", "labelled", "published", "unanswered"
]
"""How a series looks.

`line`: marks joined by a line; `curve`: a line without marks; `area`: a curve filled to zero;
`points`: small dots, thousands at most; `bars`: bars from zero; `scattered`: marks without a line;
`reference`: a dashed grey line; `labelled`: single marks with a text; `published`: hollow marks, figures
from elsewhere; `unanswered`: crosses on the x axis, points without a value.
"""


@dataclass(frozen=True, slots=True)
class Mark:
    """One point of a series.

    Attributes:
        x: Its place on the x axis [base unit].
        y: Its value [unit shown]; unused where its series is `unanswered`.
        note: The text shown by a pointer over it.
        line: The name of the series whose colour it has, where that is not its own.
        bound: Set where the value is only a bound, which is drawn as an open arrow.
    """

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    note: str = ""
    label: str | None = None
    line: str | None = None
    bound: Bound | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Marks that belong together, in the order of x.

    Attributes:
        like: The series whose colour it has, where that is not its own.
    """

    name: str
    style: SeriesStyle
    marks: tuple[Mark, ...]
    like: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot of a chart; a series keeps its colour across panels by its name."""

    title: str
    series: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class Strip:
    """A second measure of the same points, drawn below each panel over the same x axis.

    Attributes:
        y_title: Its y axis, with its unit.
        panels: Its series below each panel of the chart.
        y_most: The largest possible value of y, if there is one.
    """

    y_title: str
    panels: tuple[tuple[Series, ...], ...]
    y_most: float | None = None


@dataclass(frozen=True, slots=True)
class LineChart:
    """Panels of series over common axes.

    Attributes:
        x_title: The x axis, with its unit.
        x_unit: The base unit of x, if it has one.
        y_title: The y axis, with its unit.
        legend: The names of the legend in order; the colours follow it.
        y_most: The largest possible value of y, if there is one.
        x_log: Whether x is logarithmic; None decides by the values.
        x_at_values: Whether the ticks are at the values of x rather than at round numbers.
        x_names: The names of x = 0, 1, 2, ..., where x is not a number.
        strip: A second measure below each panel, if there is one.
    """

    title: str
    x_title: str
    x_unit: str | None
    y_title: str
    panels: tuple[Panel, ...]
    legend: tuple[str, ...] = ()
    y_log: bool = False
    y_most: float | None = None
    x_log: bool | None = None
    x_at_values: bool = True
    x_names: tuple[str, ...] = ()
    strip: Strip | None = None


@dataclass(frozen=True, slots=True)
class ChartGrid:
    """Charts in two columns, a single one over the whole width, with lines of text above them."""

    title: str
    lines: tuple[str, ...]
    charts: tuple[LineChart, ...]


@dataclass(frozen=True, slots=True)
class Dot:
    """One value of a dot plot.

    Attributes:
        kind: The name of its kind.
        value: The value [unit shown].
        note: The text shown by a pointer over it.
        lane: Its line within the row, from 0.
        is_range: Whether it is a range from `low` to `high` without a meaningful middle.
        bound: Set where the value is only a bound, which is drawn as an open arrow.
    """

    kind: str
    value: float
    low: float | None
    high: float | None
    note: str
    label: str | None = None
    lane: int = 0
    is_range: bool = False
    bound: Bound | None = None


@dataclass(frozen=True, slots=True)
class DotRow:
    """One row of a dot plot.

    Attributes:
        title: What its values belong to.
        remark: A text at its end, if any.
        text: A text in place of values where it has none.
        kind: The kind whose symbol is before the remark, if any.
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
        name: Its name in the legend; empty for none.
        shape: A symbol: circle, ring, square, diamond or triangle; or column, a bar from zero.
        colour: The CSS class of its colour: c0 to c7, met, missed, open, given or published.
    """

    name: str
    shape: str
    colour: str


@dataclass(frozen=True, slots=True)
class DotPlot:
    """Values by name, a row each, along a common axis.

    Attributes:
        x_title: The axis of the values, with its unit.
        rows: Its rows; those without values are last.
        x_most: The largest possible value, if there is one.
        scale: The axis, where it does not follow from the values.
        rule_at: A value marked across all rows, if any.
        row_title: The heading of the rows' titles, if they need one.
    """

    title: str
    x_title: str
    kinds: tuple[DotKind, ...]
    rows: tuple[DotRow, ...]
    x_log: bool = False
    x_most: float | None = None
    scale: Scale | None = None
    rule_at: float | None = None
    row_title: str = ""


Condition = Literal["good", "wait", "bad"]
"""Whether a state is as it should be, in between, or not."""


@dataclass(frozen=True, slots=True)
class State:
    """A state of one thing from `start_s` to `end_s` [s], or an event, whose ends are one moment.

    Attributes:
        condition: Whether it is as it should be.
        note: The text shown by a pointer over it.
        progress: The fraction of a rebuild that was done by its end.
    """

    start_s: float
    end_s: float
    name: str
    condition: Condition
    note: str
    progress: float | None = None


@dataclass(frozen=True, slots=True)
class RunTimeline:
    """The states of each thing in one run, by its name and in the order of time, and the events."""

    title: str
    states: tuple[tuple[str, tuple[State, ...]], ...]
    events: tuple[State, ...]


@dataclass(frozen=True, slots=True)
class StateTimeline:
    """States over time, run below run, with a common axis of time."""

    title: str
    runs: tuple[RunTimeline, ...]


Chart = LineChart | DotPlot | StateTimeline | ChartGrid


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a report.

    Attributes:
        chart: The chart; its title is the figure's.
        caption: What a reader must know about it.
    """

    name: str
    chart: Chart
    caption: str
    sql: str
