"""What a chart shows of a point: its value, interval and note, published figures, whether it is a bound.

Lines with equal values are merged, because one would hide the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.published.measurement import find_published_values
from destage.queries.report.charts.facets import varies
from destage.queries.report.drawing.chart import Bound, Series
from destage.queries.text.presentation import (
    find_scale,
    format_axis_value,
    format_interval,
    format_number,
    name_value,
    title_column,
)
from destage.spec.axis_names import is_answer

Row = dict[str, Any]
Key = tuple[Any, ...]

NO_ANSWER = "no answer"
_CENSORED: Mapping[str, tuple[str, Bound]] = {
    "at_least": ("≥ ", "at_least"),
    "below": ("≤ ", "at_most"),
    "above": ("> ", "at_least"),
}


@dataclass
class PointMarks:
    """The texts and values of the points of a chart, whose x is a column."""

    session: Session
    x: str
    rows: Sequence[Row]
    has_published: bool

    @cached_property
    def _varying(self) -> list[str]:
        return [path for path in self.session.axes if varies(path, self.rows)]

    @cached_property
    def _unanswered(self) -> dict[Key, str]:
        return find_unanswered(self.session)

    @cached_property
    def _published(self) -> dict[str, dict[Key, list[float]]]:
        return {}

    def list_published(self, row: Row, column: str) -> list[float]:
        """Return the numbers published for a column of a point [unit shown]."""
        session = self.session
        if not (self.has_published and session.has_published):
            return []
        if column not in self._published:
            values = find_published_values(session.spec, column, session.points)
            points = session.points.list_rows(list(values)) if values else []
            self._published[column] = {key(point, session): values[point["point_id"]] for point in points}
        return [value * find_scale(column) for value in self._published[column].get(key(row, session), [])]

    def place(self, row: Row) -> float:
        """Return the place of a row on the x axis [base unit of an axis, else the unit shown]."""
        return float(row[self.x]) * (1.0 if self.x in self.session.axes else find_scale(self.x))

    def name_place(self, row: Row) -> str:
        """Return the name of a row on an axis of names."""
        return format_axis_value(self.x, row[self.x], self.session.units.get(self.x))

    def note(self, row: Row, column: str) -> str:
        """Return the text shown by a pointer over the point."""
        text = bound_text(row, column)
        result = f"{title_column(column)} {text}" if text else format_interval(column, row)
        return ": ".join(filter(None, [self._name(row), result]))

    def is_unanswered(self, row: Row, column: str) -> bool:
        """Whether a point has no value because its runs gave none."""
        return row[column] is None and key(row, self.session) in self._unanswered

    def unanswered_note(self, row: Row) -> str:
        """Return the name of a point without an answer, with what to change."""
        remedy = self._unanswered[key(row, self.session)]
        return ": ".join(filter(None, [self._name(row), f"{NO_ANSWER}; {remedy}"]))

    def _name(self, row: Row) -> str:
        units = self.session.units
        where = [name_value(path, row[path], units) for path in self._varying if row[path] is not None]
        return ", ".join(filter(None, [row["label"], *where]))


def key(row: Mapping[str, Any], session: Session) -> Key:
    """Return the label and axes of a row, which name its point."""
    return (row["label"], *(row[path] for path in session.axes))


def find_unanswered(session: Session) -> dict[Key, str]:
    """Return the remedy for each point without an answer, by its label and axes."""
    rows = session.query("unanswered").to_pylist() if session.config else []
    return {key(row, session): row["remedy"] for row in rows}


def find_bound(row: Row, column: str) -> Bound | None:
    """Return whether an answer is only a bound."""
    described = _CENSORED.get(row.get("censored") or "")
    return described[1] if described is not None and is_answer(column) else None


def bound_text(row: Row, column: str) -> str | None:
    """Return the text of an answer that is only a bound."""
    if find_bound(row, column) is None:
        return None
    return f"{_CENSORED[row['censored']][0]}{format_number(row[column])}"


_JOINED = {"line", "reference"}
_NAMED = 2
"""Panels above which they are counted rather than named."""
_MOST_REMARKS = 3


@dataclass(frozen=True, slots=True)
class Plots:
    """The series of each panel and of the strip below it.

    Attributes:
        panels: The title of each panel, its series, and those of its strip.
        remarks: Which lines stand for several, in sentences.
    """

    panels: tuple[tuple[str, tuple[Series, ...], tuple[Series, ...]], ...]
    remarks: tuple[str, ...] = ()


def share_lines(plots: Plots) -> Plots:
    """Return plots in which equal lines are one, with all names in the legend if they are always equal."""
    renamed: dict[str, str] = {}
    for names in _find_equal([[*above, *below] for _, above, below in plots.panels]):
        renamed |= dict.fromkeys(names, join_names(names))
    remarks = [
        f"One line is drawn for {name}, whose results are equal." for name in dict.fromkeys(renamed.values())
    ]
    equal: dict[str, list[str]] = {}
    panels = []
    for title, *both in plots.panels:
        rows = [_rename(series, renamed) for series in both]
        hidden: set[str] = set()
        for names in _find_equal([[*rows[0], *rows[1]]]):
            hidden.update(names[1:])
            equal.setdefault(join_names(names), []).append(title)
        above, below = (tuple(series for series in row if series.name not in hidden) for row in rows)
        panels.append((title, above, below))
    if len(equal) > _MOST_REMARKS:
        count = len({title for titles in equal.values() for title in titles})
        remarks.append(f"Equal lines are drawn as one in {count} of {len(panels)} panels.")
    else:
        for name, titles in equal.items():
            named = "; ".join(titles) if len(titles) <= _NAMED else f"{len(titles)} of {len(panels)} panels"
            remarks.append(f"One line is drawn for {name} in {named}, whose results are equal there.")
    return Plots(tuple(panels), (*plots.remarks, *remarks))


def join_names(names: Sequence[str]) -> str:
    """Return one name for several, with what they have in common once: `write fraction 0.5 and 1`."""
    parts = [name.split(", ") for name in names]
    if len({len(part) for part in parts}) == 1:
        columns = list(zip(*parts, strict=True))
        differing = [index for index, column in enumerate(columns) if len(set(column)) > 1]
        if len(differing) == 1:
            joined = [column[0] for column in columns]
            joined[differing[0]] = _list_values(columns[differing[0]])
            return ", ".join(joined)
    return _list_values(names)


def _list_values(names: Sequence[str]) -> str:
    words = [name.split() for name in names]
    common = 0
    while all(
        len(split_name) > common + 1 and split_name[common] == words[0][common] for split_name in words
    ):
        common += 1
    *first, last = (" ".join(split_name[common:]) for split_name in words)
    return " ".join([*words[0][:common], f"{', '.join(first)} and {last}"])


def _find_equal(panels: Sequence[Sequence[Series]]) -> list[list[str]]:
    """Return the names of lines whose marks are equal in all of some panels, in groups of several."""
    values: dict[str, list[Any]] = {}
    for index, every in enumerate(panels):
        for series in every:
            if series.style in _JOINED and series.marks:
                marks = tuple((mark.x, mark.y, mark.low, mark.high, mark.bound) for mark in series.marks)
                values.setdefault(series.name, []).append((index, series.style, marks))
    groups: dict[Any, list[str]] = {}
    for name, appearances in values.items():
        groups.setdefault(tuple(appearances), []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def _rename(every: Sequence[Series], renamed: dict[str, str]) -> list[Series]:
    first: dict[str, Series] = {}
    for series in every:
        name = renamed.get(series.name, series.name)
        marks = tuple(replace(mark, line=renamed.get(mark.line or "", mark.line)) for mark in series.marks)
        like = renamed.get(series.like, series.like)
        first.setdefault(name, Series(name, series.style, marks, like))
    return list(first.values())
