"""Charts of lines or dots from the points of a sweep: the one way from a query to a chart.

Standard charts and a study's own are built here. Dots are for charts whose x are names.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.report.charts.facets import (
    CAPACITY,
    MOST_PANELS,
    Facets,
    Line,
    choose_facets,
    is_text,
    request_facets,
)
from destage.queries.report.charts.point_marks import (
    NO_ANSWER,
    Plots,
    PointMarks,
    bound_text,
    find_bound,
    find_unanswered,
    key,
    share_lines,
)
from destage.queries.report.drawing.chart import (
    Dot,
    DotKind,
    DotPlot,
    DotRow,
    Figure,
    LineChart,
    Mark,
    Panel,
    Series,
    Strip,
)
from destage.queries.text.presentation import (
    format_count,
    format_number,
    scale_interval,
    split_title,
    title_axis,
    title_column,
)

Row = dict[str, Any]

MOST_ROWS = 40
_MOST_LABELLED = 10
"""Maximum dots of a row with labels."""
_PUBLISHED = "published"


def build_dot_plot(
    facets: Facets,
    column: str,
    marks: PointMarks,
    *,
    title: str,
    x_title: str,
    row_title: str,
    x_log: bool,
    x_most: float | None,
) -> tuple[DotPlot, list[str]]:
    """Return a dot plot of a result column with a row for each name, and what it leaves out, in sentences."""
    lines = facets.panels[0][1] if facets.panels else ()
    placed = [(line, lane, row) for lane, line in enumerate(lines) for row in line.rows]
    ids = {id(row) for _, _, row in placed if row[column] is not None}
    dots: dict[str, list[Dot]] = {marks.name_place(row): [] for row in marks.rows if id(row) in ids}
    for line, lane, row in placed:
        if row[column] is not None:
            dots[marks.name_place(row)] += _list_dots(line, lane, row, column, marks)
    kinds = [DotKind(line.name, "circle", f"c{lane}") for lane, line in enumerate(lines)]
    if any(dot.kind == _PUBLISHED for dot in chain.from_iterable(dots.values())):
        kinds.append(DotKind(_PUBLISHED, "diamond", _PUBLISHED))
    rows = [
        DotRow(name, tuple(row if len(row) <= _MOST_LABELLED else (replace(dot, label=None) for dot in row)))
        for name, row in dots.items()
    ]
    rows += [
        DotRow(marks.name_place(row), (), text=marks.unanswered_note(row))
        for _, _, row in placed
        if marks.is_unanswered(row, column)
    ]
    count = format_count(len(rows), "row")
    remark = f"Only the first {MOST_ROWS} of {count} are shown; the table has all."
    plot = DotPlot(
        title=title,
        x_title=x_title,
        kinds=tuple(kinds),
        rows=tuple(rows[:MOST_ROWS]),
        x_log=x_log,
        x_most=x_most,
        row_title=row_title,
    )
    return plot, [remark] if len(rows) > MOST_ROWS else []


def _list_dots(line: Line, lane: int, row: Row, column: str, marks: PointMarks) -> Sequence[Dot]:
    """Return the dot of a point, and those of its published figures."""
    value, low, high = scale_interval(column, row)
    label = bound_text(row, column) or format_number(value)
    note = marks.note(row, column)
    dots = [Dot(line.name, value, low, high, note, label, lane, bound=find_bound(row, column))]
    for published in marks.list_published(row, column):
        text = f"published {format_number(published)}"
        dots.append(Dot(_PUBLISHED, published, None, None, text, text, lane))
    return dots


_MOST_WORDY = 6
"""Maximum published figures labelled with `published`, and maximum bounds with a label."""
_ORDER = ("line", "scattered", "reference", "labelled", "published", "unanswered")
"""The order of styles in a legend."""


@dataclass(frozen=True, slots=True)
class ChartRequest:
    """A chart to build.

    Attributes:
        title: The chart's title, in which `{x}` is the x axis.
        columns: The result columns to draw, each in panels of its own if there are several.
        below: A ratio to draw in a strip below each panel, if there is one.
        x: The column along x; None chooses x, lines and panels by the axes that vary.
        by: The column that distinguishes the lines, with a given x.
        x_title: The x axis, where its usual heading does not fit.
        y_title: The y axis, where its usual heading does not fit.
        x_log: Whether x is logarithmic; None decides by the values.
        sql: The statement of its rows: `label`, the axes, and each column with its `_low` and `_high`.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    below: str | None = None
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
    if not columns:
        return None
    unanswered = find_unanswered(session)
    rows = [
        row
        for row in found
        if any(row[name] is not None for name in columns) or key(row, session) in unanswered
    ]
    remarks = _count_left_out(len(found) - len(rows), request.columns[0])
    facets: Facets | None = None
    if request.x is None:
        facets = choose_facets(rows, session, MOST_PANELS // len(columns))
    else:
        placed = [row for row in rows if row[request.x] is not None]
        remarks += _count_left_out(len(rows) - len(placed), request.x)
        rows = placed
        facets = request_facets(rows, session, request.x, request.by) if rows else None
    if facets is None:
        return None
    chart, more = _Builder(request, session, facets, columns, rows).build()
    if isinstance(chart, LineChart) and not chart.panels:  # no point has all the values held
        return None
    sentences = [request.caption, *remarks, *facets.remarks, *more, *_explain_symbols(chart)]
    return Figure(request.name, chart, " ".join(filter(None, sentences)), request.sql)


@dataclass
class _Builder:
    request: ChartRequest
    session: Session
    facets: Facets
    columns: Sequence[str]
    rows: Sequence[Row]

    def __post_init__(self) -> None:
        self.marks = PointMarks(self.session, self.facets.x, self.rows, self.request.has_published)
        self.bounds = sum(find_bound(row, name) is not None for row in self.rows for name in self.columns)

    def build(self) -> tuple[LineChart | DotPlot, Sequence[str]]:
        """Return the chart, and sentences on it."""
        if not is_text(self.facets.x, self.rows):
            return self._line_chart()
        (column,) = self.columns
        return build_dot_plot(
            self.facets,
            column,
            self.marks,
            title=self.title,
            x_title=self.y_title,
            row_title="" if self.facets.x == "label" and self.request.x_title is None else self.x_title,
            x_log=self.request.y_log,
            x_most=self.most,
        )

    @property
    def title(self) -> str:
        name = "cache size" if self.facets.x == CAPACITY else self.x_name
        return self.request.title.replace("{x}", name)

    @property
    def x_name(self) -> str:
        x = self.facets.x
        return title_axis(x) if x in self.session.axes else title_column(x)

    @property
    def x_title(self) -> str:
        if self.request.x_title is not None:
            return self.request.x_title
        return "cache capacity (nominal)" if self.facets.x == CAPACITY else self.x_name

    @property
    def y_title(self) -> str:
        return self.request.y_title or title_column(self.columns[0])

    @property
    def most(self) -> float | None:
        return 1.0 if all(name.endswith(("_ratio", "_fraction")) for name in self.columns) else None

    def _line_chart(self) -> tuple[LineChart, Sequence[str]]:
        x, below = self.facets.x, self.request.below
        plots = []
        for panel, lines in self.facets.panels:
            for column in self.columns:
                names = [panel, split_title(column)[0] if len(self.columns) > 1 else ""]
                series = self._series(column, lines)
                strip = self._lines(below, lines) if below is not None else ()
                if series:
                    plots.append((", ".join(filter(None, names)), series, strip))
        shared = share_lines(Plots(tuple(plots)))
        has_strip = any(strip for _, _, strip in shared.panels)
        every = [series for _, above, strip in shared.panels for series in (*above, *strip)]
        styles = {series.name: series.style for series in reversed(every)}
        ordered = dict.fromkeys(series.name for series in every if series.name)
        chart = LineChart(
            title=self.title,
            x_title=self.x_title,
            x_unit=self.session.units.get(x),
            y_title=self.y_title,
            panels=tuple(Panel(title, series) for title, series, _ in shared.panels),
            legend=tuple(sorted(ordered, key=lambda name: _ORDER.index(styles[name]))),
            y_log=self.request.y_log,
            y_most=self.most,
            x_log=self.request.x_log,
            x_at_values=x in self.session.axes,
            strip=Strip(title_column(below), tuple(strip for _, _, strip in shared.panels), 1.0)
            if below is not None and has_strip
            else None,
        )
        return chart, shared.remarks

    def _series(self, column: str, lines: Sequence[Line]) -> tuple[Series, ...]:
        """Return the lines of a column, its published figures and its points without an answer."""
        placed = [(row, line.name) for line in lines for row in line.rows]
        values = [
            (self.marks.place(row), value, name)
            for row, name in placed
            for value in self.marks.list_published(row, column)
        ]
        wording = "published " if len(values) <= _MOST_WORDY else ""
        published = [
            Mark(x, y, note=f"published {format_number(y)}", label=f"{wording}{format_number(y)}", line=name)
            for x, y, name in values
        ]
        crosses = [
            Mark(self.marks.place(row), 0.0, note=self.marks.unanswered_note(row))
            for row, _ in placed
            if self.marks.is_unanswered(row, column)
        ]
        extra = [
            Series(_PUBLISHED, "published", tuple(published)),
            Series(NO_ANSWER, "unanswered", tuple(crosses)),
        ]
        return (*self._lines(column, lines), *(series for series in extra if series.marks))

    def _lines(self, column: str, lines: Sequence[Line]) -> tuple[Series, ...]:
        drawn = (Series(line.name, line.style, tuple(self._marks(column, line)), line.like) for line in lines)
        return tuple(series for series in drawn if series.marks)

    def _marks(self, column: str, line: Line) -> list[Mark]:
        # A result along x keeps the order of the plan: the line follows what the study varies.
        is_axis = self.facets.x in self.session.axes
        rows = sorted(line.rows, key=self.marks.place) if is_axis else line.rows
        return [
            Mark(
                self.marks.place(row),
                *scale_interval(column, row),
                self.marks.note(row, column),
                self._label(row, column, line),
                bound=find_bound(row, column),
            )
            for row in rows
            if row[column] is not None
        ]

    def _label(self, row: Row, column: str, line: Line) -> str | None:
        """Return the text beside a mark: the name of a named point in the panel, and a bound."""
        is_named = line.style == "labelled" and column in self.columns
        texts = [row["label"] if is_named else None]
        if is_named or self.bounds <= _MOST_WORDY:
            texts.append(bound_text(row, column))
        return " ".join(filter(None, texts)) or None


def _count_left_out(count: int, column: str) -> list[str]:
    points = "1 point" if count == 1 else f"{count} points"
    return [f"{points} without {title_column(column)}: not drawn."] if count else []


def _explain_symbols(chart: LineChart | DotPlot) -> list[str]:
    marks: list[Mark | Dot]
    if isinstance(chart, LineChart):
        series = [line for panel in chart.panels for line in panel.series]
        marks = [mark for line in series for mark in line.marks]
        styles: set[str] = {line.style for line in series}
    else:
        marks = [dot for row in chart.rows for dot in row.dots]
        styles = {dot.kind for row in chart.rows for dot in row.dots} & {_PUBLISHED}
    explained = {
        "Bars are 95 % confidence intervals over replicates.": any(mark.low is not None for mark in marks),
        "Open arrows are bounds: the search ended there.": any(mark.bound is not None for mark in marks),
        "Hollow diamonds are published figures.": _PUBLISHED in styles,
        "Crosses are points without an answer.": "unanswered" in styles,
    }
    return [sentence for sentence, is_used in explained.items() if is_used]
