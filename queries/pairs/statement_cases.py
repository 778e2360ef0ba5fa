"""The points of a sweep at which a statement holds, also one that compares each with another point."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from destage.errors import QueryError
from destage.queries.opening.session import Session
from destage.queries.pairs.point_choice import choose_points, list_values
from destage.queries.pairs.point_pairs import as_key
from destage.sql import filter_rows, find_qualifiers, quote
from destage.store.schemas.figure_places import LABEL

_UNKNOWN = re.compile(r'Referenced column "(\w+)" not found')
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
        against: Conditions that choose the compared points. Each other point is compared with the one that is
            equal in all axes that they do not name.

    Raises:
        QueryError: The statement cannot be evaluated, or the conditions choose no point.
    """
    if not against and find_qualifiers(statement, [BASE]):
        message = f"{BASE}. is a column of the compared point, which --against chooses"
        raise QueryError("query.unknown-name", message, "--where")
    every = session.sql_of_named_columns(_write_rows(session, statement))
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
    table = table.append_column("_place", pa.array(np.arange(table.num_rows)))
    is_true = _find_places(table, statement)
    known = np.union1d(is_true, _find_places(table, f"(\n{statement}\n) IS NOT NULL"))
    return Cases(
        every.select(session.axes).take(pa.array(known)),
        np.isin(known, is_true),
        table.num_rows - len(known),
        unmatched,
    )


def _write_rows(session: Session, statement: str) -> str:
    """Return the statement of a row per point with the columns that a condition may name.

    The result columns are those whose names are in the condition.
    """
    comment = " ".join(statement.split()).replace("*/", "")
    axes = ", ".join(map(quote, [LABEL, *session.axes]))
    from destage.queries.tables.views import list_measured_columns  # noqa: PLC0415 - loads the engine's columns

    measured = [name for name in list_measured_columns() if name in comment.lower()]
    listed = "".join(f", {quote(name)}" for name in measured)
    if session.metric is None:
        return f"SELECT point_id, {axes}{listed} FROM points ORDER BY plan_row"  # noqa: S608 - columns of the sweep
    if not measured:
        return "SELECT * FROM answers ORDER BY plan_row"
    return (
        f"SELECT answers.*{listed} FROM answers LEFT JOIN "  # noqa: S608 - columns of the sweep
        f"(SELECT point_id{listed} FROM certified) USING (point_id) ORDER BY plan_row"
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


def _find_places(table: pa.Table, condition: str) -> np.ndarray:
    try:
        found: np.ndarray = filter_rows(table, condition)["_place"].to_numpy()
    except QueryError as error:
        message = error.message + _suggest_column(error)
        raise QueryError(error.code, message, "--where", error.data) from error
    return found


def _suggest_column(error: QueryError) -> str:
    """Return the result columns that an unknown name begins, such as `response_p95_us` for `response_p95`."""
    from destage.queries.tables.views import list_measured_columns  # noqa: PLC0415 - loads the engine's columns

    unknown = _UNKNOWN.search(error.message) if error.code == "query.unknown-name" else None
    names = [name for name in list_measured_columns() if unknown and name.startswith(f"{unknown[1]}_")]
    return f"; did you mean {names[0]!r}?" if len(names) == 1 else ""
