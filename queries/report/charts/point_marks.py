"""What a chart shows of a point: its value, interval and note, published figures, whether it is a bound."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.published.published_values import find_published_values
from destage.queries.report.charts.facets import varies
from destage.queries.report.drawing.chart import Bound
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
        if column not in self._published:
            self._published[column] = self._read_published(column)
        return [
            value * find_scale(column) for value in self._published[column].get(key(row, self.session), [])
        ]

    def _read_published(self, column: str) -> dict[Key, list[float]]:
        if not self.has_published:
            return {}
        session = self.session
        values = find_published_values(session.spec, column, session.points)
        points = session.points.list_rows(list(values)) if values else []
        return {key(point, session): values[point["point_id"]] for point in points}

    def place(self, row: Row) -> float:
        """Return the place of a row on the x axis [base unit of an axis, else the unit shown]."""
        return float(row[self.x]) * (1.0 if self.x in self.session.axes else find_scale(self.x))

    def name_place(self, row: Row) -> str:
        """Return the name of a row on an axis of names."""
        return format_axis_value(self.x, row[self.x], self.session.units.get(self.x))

    def values(self, row: Row, column: str) -> tuple[float, float | None, float | None]:
        """Return the value and the ends of its interval [unit shown]."""
        scale = find_scale(column)
        ends = row.get(f"{column}_low"), row.get(f"{column}_high")
        low, high = (None if end is None else end * scale for end in ends)
        return row[column] * scale, low, high

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
    found = _CENSORED.get(row.get("censored") or "")
    return found[1] if found is not None and is_answer(column) else None


def bound_text(row: Row, column: str) -> str | None:
    """Return the text of an answer that is only a bound."""
    if find_bound(row, column) is None:
        return None
    return f"{_CENSORED[row['censored']][0]}{format_number(row[column])}"
