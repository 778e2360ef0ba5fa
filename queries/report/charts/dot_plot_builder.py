"""Dot plots built from rows: for charts whose x are names."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from destage.queries.report.charts.facets import Facets, Line
from destage.queries.report.charts.point_marks import PointMarks, bound_text, find_bound
from destage.queries.report.drawing.chart import Dot, DotKind, DotPlot, DotRow
from destage.queries.text.presentation import format_count, format_number

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
    drawn = [one for one in placed if one[2][column] is not None]
    ids = {id(row) for _, _, row in drawn}
    dots: dict[str, list[Dot]] = {marks.name_place(row): [] for row in marks.rows if id(row) in ids}
    for line, lane, row in drawn:
        dots[marks.name_place(row)] += _list_dots(line, lane, row, column, marks)
    kinds = [DotKind(line.name, "circle", f"c{at}") for at, line in enumerate(lines)]
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
    remarks = []
    if len(rows) > MOST_ROWS:
        remarks.append(
            f"Only the first {MOST_ROWS} of {format_count(len(rows), 'row')} are shown; the table has all."
        )
    plot = DotPlot(
        title=title,
        x_title=x_title,
        kinds=tuple(kinds),
        rows=tuple(rows[:MOST_ROWS]),
        x_log=x_log,
        x_most=x_most,
        row_title=row_title,
    )
    return plot, remarks


def _list_dots(line: Line, lane: int, row: Row, column: str, marks: PointMarks) -> Sequence[Dot]:
    """Return the dot of a point, and those of its published figures."""
    value, low, high = marks.values(row, column)
    label = bound_text(row, column) or format_number(value)
    note = marks.note(row, column)
    dots = [Dot(line.name, value, low, high, note, label, lane, bound=find_bound(row, column))]
    for published in marks.list_published(row, column):
        text = f"published {format_number(published)}"
        dots.append(Dot(_PUBLISHED, published, None, None, text, text, lane))
    return dots
