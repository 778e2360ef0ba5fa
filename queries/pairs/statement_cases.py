"""The points of a sweep at which a statement holds, also one that compares each with another point."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from destage.errors import QueryError
from destage.queries.opening.session import Session
from destage.queries.pairs.point_choice import choose_points, evaluate, list_values, write_points
from destage.queries.pairs.point_pairs import as_key
from destage.sql import find_columns, find_qualifiers
from destage.store.schemas.figure_places import LABEL

BASE = "base"
"""The name of the compared point in a statement."""


@dataclass(frozen=True, slots=True)
class Cases:
    """The points for which a statement is true or false.

    Attributes:
        points: Their axes, by dotted path.
        holds: Whether it is true, by point.
        unknown: The number of points for which it is null: without a result, or compared with one.
        unmatched: The number of points without a point to compare with.
    """

    points: pa.Table
    holds: np.ndarray
    unknown: int
    unmatched: int


def collect_cases(session: Session, statement: str, against: Sequence[str] = ()) -> Cases:
    """Return the points for which a statement is true or false.

    Args:
        statement: An SQL condition over the columns of `answers` and `points`; `base.` before a column means
            that of the compared point.
        against: SQL conditions that choose the compared points. Each other point is compared with the one
            that is equal in all axes that they do not name.

    Raises:
        QueryError: The statement cannot be evaluated, or the conditions choose no point.
    """
    if not against and find_qualifiers(statement, [BASE]):
        message = f"{BASE}. is a column of the compared point, which --against chooses"
        raise QueryError("query.unknown-name", message, "--where")
    every = session.sql_of_named_columns(write_points(session, find_columns(statement)))
    table = session.name_columns(every)
    unmatched = 0
    if against:
        pairs, unmatched = _match(session, every["point_id"].to_pylist(), against)
        compared = table.take(pa.array([other for _, other in pairs], pa.int64()))
        places = pa.array([one for one, _ in pairs], pa.int64())
        every, table = every.take(places), table.take(places)
        # One chunk: a struct array has no chunks.
        columns = [compared[name].combine_chunks() for name in compared.column_names]
        table = table.append_column(BASE, pa.StructArray.from_arrays(columns, compared.column_names))
    holds = evaluate(session, table, statement, "--where")
    return Cases(
        every.select(session.axes).filter(holds.is_valid()),
        holds.drop_null().to_numpy(),
        holds.null_count,
        unmatched,
    )


def _match(session: Session, ids: Sequence[str], against: Sequence[str]) -> tuple[list[tuple[int, int]], int]:
    """Return the places of points and of those that they are compared with, and how many have none."""
    chosen = choose_points(session, against, "--against")
    values = list_values(session)
    compared = set(chosen.points)
    # An axis that has no effect at the compared points, such as the split of no cache, has no value there.
    has_value = {path for one in compared for path, value in values[one].items() if value is not None}
    paths = [path for path in session.axes if path in has_value and path not in chosen.named]
    if LABEL in has_value and LABEL not in chosen.named:
        paths.append(LABEL)

    def key(point: str) -> tuple[object, ...]:
        return tuple(as_key(values[point].get(path)) for path in paths)

    at = {key(point): place for place, point in enumerate(ids) if point in compared}
    others = [(place, at.get(key(point))) for place, point in enumerate(ids) if point not in compared]
    pairs = [(one, other) for one, other in others if other is not None]
    if not pairs:
        message = (
            "no point is equal to one of these in all axes that the conditions do not name; name more axes"
        )
        raise QueryError("query.no-pairs", message, "--against")
    return pairs, len(others) - len(pairs)
