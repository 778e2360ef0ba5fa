"""What a chart is, before anything is drawn: panels of series over a shared x axis."""

from dataclasses import dataclass, field

from destage.queries.report.dots import Dots
from destage.queries.report.lanes import Lanes


@dataclass(frozen=True, slots=True)
class Mark:
    """One measured point.

    Attributes:
        x: Where it stands on the x axis [base unit].
        y: Its value [unit shown].
        low: The lower end of its interval, if it has one.
        high: The upper end of its interval, if it has one.
        note: What a pointer over it is told.
        label: A text beside it, if any.
        line: The name of the series whose colour it has, where it is not its own.
    """

    x: float
    y: float
    low: float | None
    high: float | None
    note: str
    label: str | None = None
    line: str | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Marks that belong together.

    Attributes:
        name: What the legend calls it.
        style: `line`, `scattered` (marks without a line), `reference` (a dashed line in grey), `labelled`
            (single measured marks with a text) or `published` (hollow marks: figures from elsewhere).
        marks: Its marks, in the order of x.
    """

    name: str
    style: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot of a chart.

    Attributes:
        title: What tells it from the other panels; empty where there is only one.
        series: Its series; a series keeps its colour across panels by its name.
    """

    title: str
    series: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart.

    Attributes:
        title: What it shows.
        x_title: The x axis, with its unit.
        x_unit: The base unit of x, if it has one.
        y_title: The y axis, with its unit.
        y_log: Whether y is logarithmic.
        y_most: What y cannot exceed, if there is such a value.
        panels: Its panels, with common axes.
        ordered: The legend's names in order; the colours follow it.
        x_log: Whether x is logarithmic; None leaves it to the values.
        x_at_values: Whether ticks stand at the values of x themselves.
    """

    title: str
    x_title: str
    x_unit: str | None
    y_title: str
    y_log: bool
    y_most: float | None
    panels: tuple[Panel, ...]
    ordered: tuple[str, ...] = field(default=())
    x_log: bool | None = None
    x_at_values: bool = True


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a report, ready to be drawn.

    Attributes:
        name: Its name.
        chart: The chart; its title is the figure's.
        caption: What a reader must know of it.
        sql: The statement behind it.
    """

    name: str
    chart: Chart | Lanes | Dots
    caption: str
    sql: str
