"""The quantity of a published figure as a sweep's rows give it, with its interval.

The expression is evaluated within each replicate, whose points share their random streams, and the t-interval
is taken over replicates: what the points have in common cancels in a ratio or a difference.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from destage.queries.session import Session
from destage.sql import joined_statement, literal, qualifiers, quote
from destage.store.places import points_at
from destage.student import half_width


@dataclass(frozen=True, slots=True)
class Measured:
    """A quantity that was measured.

    Attributes:
        mean: Its mean over replicates; of a range, the mean of its ends.
        low: The lower end of its 95 % t-interval, or of the range; None where one replicate has no interval.
        high: The upper end.
        count: How many replicates there are; 1 for plain arithmetic.
        is_range: Whether it is a range over combinations of axes rather than an interval.
    """

    mean: float
    low: float | None
    high: float | None
    count: int
    is_range: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """The interval or range; the mean twice where there is neither."""
        return (self.mean if self.low is None else self.low, self.mean if self.high is None else self.high)


def measure(session: Session, figure: Mapping[str, Any]) -> Measured | None:
    """Return a figure's quantity, or None where it has none, or rows that it needs are missing.

    Args:
        session: The sweep.
        figure: An entry of the study's `published`.

    Raises:
        QueryError: Its expression does not bind.
    """
    values = _values(session, figure)
    if values is None:
        return None
    means = [math.fsum(group) / len(group) for group in values]
    count = min(map(len, values))
    if "for_each" in figure:
        low, high = min(means), max(means)
        return Measured((low + high) / 2, low, high, count, is_range=True)
    if count == 1:
        return Measured(means[0], None, None, count)
    spread = half_width(values[0])
    return Measured(means[0], means[0] - spread, means[0] + spread, count)


def statement(session: Session, figure: Mapping[str, Any]) -> str | None:
    """Return the statement of a figure's quantity in each replicate, or None where it has none.

    Args:
        session: The sweep.
        figure: An entry of the study's `published`.
    """
    expression, places = _expression(session, figure)
    if expression is None:
        return None
    tables = {name: _rows_at(session, *named) for name, named in places.items()}
    return joined_statement(expression, tables, list(figure.get("for_each", [])))


def _values(session: Session, figure: Mapping[str, Any]) -> list[list[float]] | None:
    """Return the quantity of each replicate, a list for each combination of the figure's axes."""
    sql = statement(session, figure)
    if sql is None:
        return None
    keys = list(figure.get("for_each", []))
    rows = session.sql(sql).to_pylist()
    if any(row["value"] is None or not math.isfinite(row["value"]) for row in rows):
        return None
    groups: dict[tuple[object, ...], list[float]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row["value"])
    return list(groups.values()) or None


def _expression(
    session: Session, figure: Mapping[str, Any]
) -> tuple[str | None, dict[str, list[Mapping[str, object]]]]:
    """Return a figure's expression and the places in it; a point and its metric are one place."""
    if "point" in figure:
        return f"point.{quote(_column(session, figure['metric']))}", {"point": [figure["point"]]}
    if "compute" not in figure:
        return None, {}
    text = str(figure["compute"])
    places: Mapping[str, Mapping[str, object]] = session.spec.get("places", {})
    at = figure.get("at", {})
    return text, {name: [places[name], at] for name in qualifiers(text, places)}


def _column(session: Session, metric: str) -> str:
    """Return the column of a metric, which may lack its unit as an objective's does."""
    columns = session.sql("SELECT * FROM replicates LIMIT 0").column_names
    if metric in columns:
        return metric
    return next((name for name in columns if name.startswith(f"{metric}_")), metric)


def _rows_at(session: Session, *named: Mapping[str, object]) -> str:
    found = ", ".join(map(literal, points_at(session.points, session.config, *named))) or "NULL"
    return f"(SELECT * FROM replicates WHERE point_id IN ({found}))"  # noqa: S608 - digests of the plan
