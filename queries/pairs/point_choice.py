"""Points of a sweep, chosen by SQL conditions such as `cache_capacity = '64MiB' AND raid = '5'`."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from destage.errors import QueryError
from destage.queries.opening.session import Session
from destage.queries.tables.views import list_measured_columns
from destage.queries.text.presentation import format_axis_value, name_value
from destage.spec.near_names import suggest
from destage.sql import compute_column, find_columns, quote
from destage.store.schemas.figure_places import LABEL

_UNKNOWN = re.compile(r'Referenced column "(\w+)" not found')
_EXAMPLE = "cache_capacity = '64MiB' AND raid = '5'"
_BEFORE, _AFTER = "SELECT (\n", "\n)"
"""What makes a statement of a condition."""
_MOST_LISTED = 12
"""Values of an axis that a message lists."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Some points of a sweep.

    Attributes:
        named: The dotted paths of the axes that the conditions name (or `label`).
        probe: The value of the sought parameter that they choose, if they name it.
        points: The ids of the points, in the order of the plan.
        written: The ids of the points as written, as they are in the plan.
    """

    named: Collection[str]
    probe: int | None
    points: Sequence[str]
    written: Sequence[str]


def choose_points(session: Session, conditions: Sequence[str], place: str) -> Choice:
    """Return the points that meet all conditions; all points without conditions.

    A point is found by every value that is written for it, also by one without effect.

    Args:
        conditions: SQL conditions over the label, the axes, the sought parameter and the columns of `answers`
            and `points`.
        place: The option that gives them, for messages.

    Raises:
        QueryError: A condition cannot be evaluated, no point meets all, or they choose several values of the
            sought parameter.
    """
    columns = frozenset[str]().union(*map(find_columns, conditions))
    paths = [meant[0] for column in columns if len(meant := _find_paths(session, column)) == 1]
    rows = session.sql_of_named_columns(_write_grid(session, columns, set(paths)))
    table = session.name_columns(rows.drop_columns(["written_id"]))
    is_chosen = np.ones(rows.num_rows, dtype=bool)
    for condition in conditions:
        is_chosen &= evaluate(session, table, condition, place).fill_null(False).to_numpy()
    chosen = rows.filter(pa.array(is_chosen))
    if not chosen.num_rows:
        raise _build_lack(session, rows, conditions, paths, place)
    probes = chosen[session.seek].unique().to_pylist() if session.seek in paths else [None]
    if len(probes) > 1:
        name = session.names[str(session.seek)]
        message = f"{len(probes)} values of {name} meet {' AND '.join(conditions)}; choose one"
        raise QueryError("query.bad-condition", message, place)
    named = set(paths) - set(session.probed)
    ids, written = (chosen[name].unique().to_pylist() for name in ("point_id", "written_id"))
    return Choice(named, probes[0], ids, written)


def evaluate(session: Session, table: pa.Table, condition: str, place: str) -> pa.ChunkedArray:
    """Return whether an SQL condition holds in each row of a table, or null.

    Args:
        table: The rows, with the names of axes in SQL.
        place: The option that gives the condition, for messages.

    Raises:
        QueryError: It is not valid SQL, names an unknown column, fails, or is not true or false.
    """
    try:
        statement = session.public.read_quantities(f"{_BEFORE}{condition}{_AFTER}")
        text = statement.removeprefix(_BEFORE).removesuffix(_AFTER)
        result = compute_column(table, text, place, session.public.aliases)
    except QueryError as error:
        message = _explain(error, session, table)
        raise QueryError(error.code, message, place, error.data) from error
    if not pa.types.is_boolean(result.type):
        message = f"{condition!r}: must be true or false, as in {_EXAMPLE}"
        raise QueryError("query.bad-condition", message, place)
    return result


def write_points(session: Session, columns: Collection[str]) -> str:
    """Return the statement of a row per point with those columns of `answers` and `points` that are named."""
    words = {column.lower() for column in columns}
    measured = [name for name in list_measured_columns() if name in words]
    listed = "".join(f", {quote(name)}" for name in measured)
    if session.metric is None:
        axes = ", ".join(map(quote, [LABEL, *session.axes]))
        return f"SELECT point_id, {axes}{listed} FROM points ORDER BY plan_row"  # noqa: S608 - columns of the sweep
    if not measured:
        return "SELECT * FROM answers ORDER BY plan_row"
    return (
        f"SELECT answers.*{listed} FROM answers LEFT JOIN "  # noqa: S608 - columns of the sweep
        f"(SELECT point_id{listed} FROM certified) USING (point_id) ORDER BY plan_row"
    )


def _write_grid(session: Session, columns: Collection[str], paths: Collection[str]) -> str:
    """Return the statement of the points as written, with the columns of the conditions."""
    own = ", ".join(map(quote, [LABEL, *session.axes]))
    listed, source = f"written_id, point_id, {own}", "grid"
    if session.seek in paths:
        listed += f", {session.probe}"
        source += f" JOIN (SELECT DISTINCT point_id, {session.probe} FROM plan) USING (point_id)"  # noqa: S608
    if len(columns) > len(paths):
        results = f"SELECT * EXCLUDE ({own}) FROM ({write_points(session, columns)})"  # noqa: S608
        listed += ", results.* EXCLUDE (point_id)"
        source += f" LEFT JOIN ({results}) AS results USING (point_id)"
    return f"SELECT {listed} FROM {source} ORDER BY grid.plan_row"  # noqa: S608 - columns of the sweep


def _build_lack(
    session: Session, rows: pa.Table, conditions: Sequence[str], paths: Sequence[str], place: str
) -> QueryError:
    """Return the error of conditions that choose no point, with the values of the axes that they name."""
    values = {}
    for path in sorted(paths):
        unit = session.units.get(path)
        distinct = rows[path].drop_null().unique().to_pylist()
        # A quantity is written without blanks; a text as it is.
        values[session.names.get(path, path)] = [
            value if isinstance(value, str) else format_axis_value(path, value, unit).replace(" ", "")
            for value in distinct
        ]
    listed = "".join(
        f"; {name}: {', '.join(texts[:_MOST_LISTED]) or 'no values'}{', ...' * (len(texts) > _MOST_LISTED)}"
        for name, texts in values.items()
    )
    message = f"no point meets {' AND '.join(conditions)}{listed}"
    return QueryError("query.no-such-point", message, place, {"values": values})


def _explain(error: QueryError, session: Session, table: pa.Table) -> str:
    """Return the message of a condition that cannot be evaluated, with what is allowed."""
    if error.code == "query.bad-syntax":
        return f"{error.message}; write SQL, as in {_EXAMPLE}"
    unknown = _UNKNOWN.search(error.message) if error.code == "query.unknown-name" else None
    if unknown is None:
        return error.message
    names = list(dict.fromkeys([*table.column_names, *list_measured_columns()]))
    axes = ", ".join(session.names.values()) or "none"
    return f"no column is named {unknown[1]!r}{suggest(unknown[1], names)}; axes: {axes}"


def describe_point(session: Session, values: Mapping[str, object], paths: Sequence[str]) -> str:
    """Return a point by its values on some axes, with its label if it has one."""
    listed = ", ".join(
        name_value(path, values[path], session.units)
        for path in paths
        if path != LABEL and values.get(path) is not None
    )
    label = values.get(LABEL) if LABEL in paths else None
    if label is None:
        return listed
    return f"{label} ({listed})" if listed else str(label)


def list_values(session: Session) -> dict[str, dict[str, object]]:
    """Return the label and the axes of each point by its id, in the order of the plan."""
    rows = session.points.list_rows(session.points.find())
    return {str(row["point_id"]): row for row in rows}


def find_path(session: Session, name: str, place: str) -> str:
    """Return the dotted path of an axis, or of the sought parameter, by its name in SQL, or its end."""
    paths = _find_paths(session, name)
    if len(paths) == 1:
        return paths[0]
    if paths:
        message = f"{name!r} is the end of {' and of '.join(paths)}; give more of it"
        raise QueryError("query.ambiguous-axis", message, place)
    names = list(session.names.values())
    message = f"no axis is named {name!r}{suggest(name, names)}; axes: {', '.join(names) or 'none'}"
    raise QueryError("query.unknown-axis", message, place)


def _find_paths(session: Session, name: str) -> list[str]:
    """Return the dotted path that a name in SQL, in any case, or a path means, or those that end in it."""
    by_name = {column.lower(): path for path, column in {LABEL: LABEL, **session.names}.items()}
    if name.lower() in by_name:
        return [by_name[name.lower()]]
    if name in session.names:
        return [name]
    return [path for path in session.names if path.endswith(f".{name}")]
