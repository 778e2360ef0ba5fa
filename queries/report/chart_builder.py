"""Charts built from rows: the one way from a query to a chart, for standard charts and for a study's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from destage.queries.presentation import (
    find_scale,
    format_axis_value,
    format_interval,
    format_number,
    name_value,
    title_axis,
    title_column,
)
from destage.queries.published_values import find_published_values
from destage.queries.report.chart import Dot, DotKind, DotPlot, DotRow, Figure, LineChart, Mark, Panel, Series
from destage.queries.report.facets import (
    CAPACITY,
    Facets,
    Line,
    choose_facets,
    is_text,
    request_facets,
    varies,
)
from destage.queries.session import Session
from destage.spec.axis_names import is_answer

Row = dict[str, Any]

_PUBLISHED = "published"
_UNANSWERED = "no answer"
_MOST_WORDY = 6
"""Published figures of a chart above which each has only its number beside it."""
_CENSORED = {"at_least": "≥ ", "below": "≤ ", "above": "> "}
_ORDER = ("line", "scattered", "reference", "labelled", "published", "unanswered")
"""The order of styles in a legend."""


@dataclass(frozen=True, slots=True)
class ChartRequest:
    """A chart to build.

    Attributes:
        columns: The result columns to draw, each in a panel of its own if there are several.
        x: The column along x; None chooses x, lines and panels by the axes that vary.
        by: The column that distinguishes the lines, with a given x.
        x_title: The x axis, where its usual heading does not fit.
        y_title: The y axis, where its usual heading does not fit.
        x_log: Whether x is logarithmic; None decides by the values.
        has_published: Whether published figures are drawn.
        sql: The statement of its rows: `label`, the axes, and each column with its `_low` and `_high`.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    caption: str = ""
    x: str | None = None
    by: str | None = None
    x_title: str | None = None
    y_title: str | None = None
    x_log: bool | None = None
    y_log: bool = False
    has_published: bool = True
    sql: str = ""


def build_figure(request: ChartRequest, found: Sequence[Row], session: Session) -> Figure | None:
    """Build a figure from the rows of its statement; return None where they do not fill it."""
    columns = [name for name in request.columns if any(row[name] is not None for row in found)]
    remarks: list[str] = []
    if request.x is None:
        rows = found
        facets = choose_facets(rows, session, split_panels=len(columns) == 1)
    else:
        unanswered = _find_unanswered(session)
        measured = [
            row
            for row in found
            if any(row[name] is not None for name in columns) or _key(row, session) in unanswered
        ]
        rows = [row for row in measured if row[request.x] is not None]
        remarks += _count_left_out(len(found) - len(measured), title_column(request.columns[0]))
        remarks += _count_left_out(len(measured) - len(rows), title_column(request.x))
        facets = request_facets(rows, session, request.x, request.by) if rows else None
    if facets is None or not columns:
        return None
    chart = _Builder(request, session, facets, columns, rows).build()
    if isinstance(chart, LineChart) and not chart.panels:  # no point has all the values held
        return None
    sentences = [request.caption, *remarks, *facets.remarks, *_explain_symbols(chart)]
    return Figure(request.name, chart, " ".join(filter(None, sentences)), request.sql)


@dataclass
class _Builder:
    request: ChartRequest
    session: Session
    facets: Facets
    columns: Sequence[str]
    rows: Sequence[Row]

    def __post_init__(self) -> None:
        self.varying = [path for path in self.session.axes if varies(path, self.rows)]
        self.published = {name: self._published(name) for name in self.columns}
        self.unanswered = _find_unanswered(self.session)

    def build(self) -> LineChart | DotPlot:
        return self._dot_plot() if is_text(self.facets.x, self.rows) else self._line_chart()

    @property
    def x_title(self) -> str:
        x = self.facets.x
        if self.request.x_title is not None:
            return self.request.x_title
        if x == CAPACITY:
            return "cache capacity (nominal)"
        return title_axis(x) if x in self.session.axes else title_column(x)

    @property
    def y_title(self) -> str:
        return self.request.y_title or title_column(self.columns[0])

    @property
    def most(self) -> float | None:
        return 1.0 if all(name.endswith(("_ratio", "_fraction")) for name in self.columns) else None

    def _line_chart(self) -> LineChart:
        x = self.facets.x
        if len(self.columns) > 1:
            lines = self.facets.panels[0][1]
            plots = [(title_column(name).partition(" [")[0], name, lines) for name in self.columns]
        else:
            plots = [(title, self.columns[0], lines) for title, lines in self.facets.panels]
        panels = [Panel(title, self._series(name, lines)) for title, name, lines in plots]
        panels = [panel for panel in panels if panel.series]
        styles = {series.name: series.style for panel in panels for series in panel.series}
        return LineChart(
            title=self.request.title,
            x_title=self.x_title,
            x_unit=self.session.units.get(x),
            y_title=self.y_title,
            panels=tuple(panels),
            legend=tuple(sorted(filter(None, styles), key=lambda name: _ORDER.index(styles[name]))),
            y_log=self.request.y_log,
            y_most=self.most,
            x_log=self.request.x_log,
            x_at_values=x in self.session.axes,
        )

    def _series(self, column: str, lines: Sequence[Line]) -> tuple[Series, ...]:
        drawn = [Series(line.name, line.style, tuple(self._marks(column, line))) for line in lines]
        values = [
            (self._x(row), value * find_scale(column), line.name)
            for line in lines
            for row in line.rows
            for value in self.published[column].get(_key(row, self.session), [])
        ]
        is_wordy = len(values) <= _MOST_WORDY
        marks = [
            Mark(
                x,
                y,
                note=f"published {format_number(y)}",
                label=f"{'published ' if is_wordy else ''}{format_number(y)}",
                line=name,
            )
            for x, y, name in values
        ]
        open_rows = [row for line in lines for row in line.rows if self._is_unanswered(row, column)]
        crosses = [Mark(self._x(row), 0.0, note=self._unanswered_note(row)) for row in open_rows]
        extra = [
            Series(_PUBLISHED, "published", tuple(marks)),
            Series(_UNANSWERED, "unanswered", tuple(crosses)),
        ]
        return tuple(series for series in [*drawn, *extra] if series.marks)

    def _is_unanswered(self, row: Row, column: str) -> bool:
        return row[column] is None and _key(row, self.session) in self.unanswered

    def _unanswered_note(self, row: Row) -> str:
        """Return the name of a point without an answer, with the cause."""
        where = [
            name_value(path, row[path], self.session.units) for path in self.varying if row[path] is not None
        ]
        name = ", ".join(filter(None, [row["label"], *where]))
        return ": ".join(filter(None, [name, f"{_UNANSWERED}; {self.unanswered[_key(row, self.session)]}"]))

    def _marks(self, column: str, line: Line) -> list[Mark]:
        # A result along x keeps the order of the plan: the line follows what the study varies.
        is_axis = self.facets.x in self.session.axes
        rows = sorted(line.rows, key=self._x) if is_axis else line.rows
        marks = []
        for row in rows:
            if row[column] is not None:
                names = [row["label"] if line.style == "labelled" else None, _bound(row, column)]
                label = " ".join(filter(None, names)) or None
                marks.append(Mark(self._x(row), *self._values(row, column), self._note(row, column), label))
        return marks

    def _dot_plot(self) -> DotPlot:
        (column,) = self.columns
        ((_, lines),) = self.facets.panels
        placed = [(line, lane, row) for lane, line in enumerate(lines) for row in line.rows]
        drawn = [one for one in placed if one[2][column] is not None]
        unanswered = [row for _, _, row in placed if self._is_unanswered(row, column)]
        ids = {id(row) for _, _, row in drawn}
        dots: dict[str, list[Dot]] = {self._place(row): [] for row in self.rows if id(row) in ids}
        for line, lane, row in drawn:
            here = dots[self._place(row)]
            value, low, high = self._values(row, column)
            here.append(
                Dot(
                    line.name,
                    value,
                    low,
                    high,
                    self._note(row, column),
                    _bound(row, column) or format_number(value),
                    lane,
                )
            )
            for printed in self.published[column].get(_key(row, self.session), []):
                text = f"published {format_number(printed * find_scale(column))}"
                here.append(Dot(_PUBLISHED, printed * find_scale(column), None, None, text, text, lane))
        kinds = [DotKind(line.name, "circle", f"c{at}") for at, line in enumerate(lines)]
        if any(dot.kind == _PUBLISHED for dot in chain.from_iterable(dots.values())):
            kinds.append(DotKind(_PUBLISHED, "diamond", _PUBLISHED))
        return DotPlot(
            title=self.request.title,
            x_title=self.y_title,
            kinds=tuple(kinds),
            rows=(
                *(DotRow(title, tuple(row)) for title, row in dots.items()),
                *(DotRow(self._place(row), (), text=self._unanswered_note(row)) for row in unanswered),
            ),
            x_log=self.request.y_log,
            x_most=self.most,
            row_title="" if self.facets.x == "label" and self.request.x_title is None else self.x_title,
        )

    def _published(self, column: str) -> dict[tuple[Any, ...], list[float]]:
        """Return the published numbers of a column [base unit] by the label and axes of their point."""
        if not self.request.has_published:
            return {}
        session = self.session
        values = find_published_values(session.spec, column, session.points)
        points = session.points.list_rows(list(values)) if values else []
        return {_key(point, session): values[point["point_id"]] for point in points}

    def _x(self, row: Row) -> float:
        x = self.facets.x
        return float(row[x]) * (1.0 if x in self.session.axes else find_scale(x))

    def _values(self, row: Row, column: str) -> tuple[float, float | None, float | None]:
        """Return the value and the ends of its interval [unit shown]."""
        scale = find_scale(column)
        low, high = (
            None if row[name] is None else row[name] * scale for name in (f"{column}_low", f"{column}_high")
        )
        return row[column] * scale, low, high

    def _place(self, row: Row) -> str:
        """Return the name of a row on an axis of names."""
        return format_axis_value(self.facets.x, row[self.facets.x], self.session.units.get(self.facets.x))

    def _note(self, row: Row, column: str) -> str:
        where = [
            name_value(path, row[path], self.session.units) for path in self.varying if row[path] is not None
        ]
        bound = _bound(row, column)
        result = f"{title_column(column)} {bound}" if bound else format_interval(column, row)
        return ": ".join(filter(None, [", ".join(filter(None, [row["label"], *where])), result]))


def _key(row: Mapping[str, Any], session: Session) -> tuple[Any, ...]:
    """Return the label and axes of a row, which name its point."""
    return (row["label"], *(row[path] for path in session.axes))


def _find_unanswered(session: Session) -> dict[tuple[Any, ...], str]:
    """Return what mends each point without an answer, by its label and axes."""
    rows = session.query("unanswered").to_pylist() if session.config else []
    return {_key(row, session): row["remedy"] for row in rows}


def _bound(row: Row, column: str) -> str | None:
    """Return the text of an answer that is only a bound."""
    bound = _CENSORED.get(row.get("censored") or "")
    return f"{bound}{format_number(row[column])}" if bound and is_answer(column) else None


def _count_left_out(count: int, what: str) -> list[str]:
    points = "1 point" if count == 1 else f"{count} points"
    return [f"{points} without {what}: not drawn."] if count else []


def _explain_symbols(chart: LineChart | DotPlot) -> list[str]:
    if isinstance(chart, LineChart):
        series = [one for panel in chart.panels for one in panel.series]
        has_interval = any(mark.low is not None for one in series for mark in one.marks)
        has_published = any(one.style == "published" for one in series)
        has_unanswered = any(one.style == "unanswered" for one in series)
    else:
        dots = [dot for row in chart.rows for dot in row.dots]
        has_interval = any(dot.low is not None for dot in dots)
        has_published = any(dot.kind == _PUBLISHED for dot in dots)
        has_unanswered = False
    return [
        *(["Bars are 95 % confidence intervals over replicates."] if has_interval else []),
        *(["Hollow diamonds are published figures."] if has_published else []),
        *(["Crosses are points without an answer."] if has_unanswered else []),
    ]
