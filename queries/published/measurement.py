"""Quantities measured from a sweep's rows, with their intervals.

An expression is evaluated within each replicate, whose points share their random streams, and the t-interval
is taken over replicates: what the points have in common cancels in a ratio or a difference.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from destage.queries.tables.point_table import PointTable
from destage.sql import find_qualifiers, join_statement, quote_text
from destage.store.schemas.published_figures import Quantity
from destage.student import half_width


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured quantity.

    Attributes:
        mean: Its mean over replicates; of a range, the mean of its ends.
        low: The lower end of its 95 % t-interval, or of the range; None for a single replicate.
        count: The number of replicates; 1 for plain arithmetic.
        predicted: The ends of the 95 % prediction interval of one more replicate, over all combinations of
            axes; the mean twice for a single replicate.
        is_range: Whether it is a range over combinations of axes rather than an interval.
    """

    mean: float
    low: float | None
    high: float | None
    count: int
    predicted: tuple[float, float]
    is_range: bool = False


class SweepRows(Protocol):
    """The rows of an open sweep, which figures are measured from."""

    spec: dict[str, Any]

    @property
    def points(self) -> PointTable:
        """The planned points."""

    def sql(self, statement: str) -> pa.Table:
        """Run a SELECT over the views of the sweep."""


def measure(session: SweepRows, quantity: Quantity | None) -> Measurement | None:
    """Measure a quantity; return None where there is none, or where rows that it needs are missing."""
    if quantity is None:
        return None
    values = _values(session, quantity)
    if values is None:
        return None
    means = [math.fsum(group) / len(group) for group in values]
    count = min(map(len, values))
    # A published figure is one measurement, which varies as much as one more replicate would.
    spreads = [half_width(group) * math.sqrt(len(group) + 1) for group in values]
    predicted = (
        min(mean - spread for mean, spread in zip(means, spreads, strict=True)),
        max(mean + spread for mean, spread in zip(means, spreads, strict=True)),
    )
    if quantity.for_each:
        low, high = min(means), max(means)
        return Measurement((low + high) / 2, low, high, count, predicted, is_range=True)
    if count == 1:
        return Measurement(means[0], None, None, count, predicted)
    spread = half_width(values[0])
    return Measurement(means[0], means[0] - spread, means[0] + spread, count, predicted)


def write_statement(session: SweepRows, quantity: Quantity) -> str:
    """Return the SQL statement of a quantity in each replicate."""
    tables = {
        name: _rows_at(session, quantity.places[name], quantity.at)
        for name in find_qualifiers(quantity.expression, quantity.places)
    }
    return join_statement(quantity.expression, tables, quantity.for_each)


def _values(session: SweepRows, quantity: Quantity) -> list[list[float]] | None:
    """Return the quantity of each replicate, a list for each combination of its axes."""
    rows = session.sql(write_statement(session, quantity)).to_pylist()
    if any(row["value"] is None or not math.isfinite(row["value"]) for row in rows):
        return None
    groups: dict[tuple[object, ...], list[float]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in quantity.for_each), []).append(row["value"])
    return list(groups.values()) or None


def _rows_at(session: SweepRows, *named: Mapping[str, object]) -> str:
    found = ", ".join(map(quote_text, session.points.find(*named))) or "NULL"
    return f"(SELECT * FROM replicates WHERE point_id IN ({found}))"  # noqa: S608 - digests of the plan
