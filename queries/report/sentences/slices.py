"""The points of a large sweep that its charts draw: a slice with few values of the axes that matter least."""

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from destage.queries.opening.session import Session
from destage.queries.report.charts.facets import BATTERY, CAPACITY, RAID
from destage.queries.report.sentences.excerpt import open_excerpt
from destage.queries.text.presentation import format_number, name_value
from destage.sql import quote

MOST_SLICED = 1_500
"""Maximum points of a slice."""
_FIRST = (CAPACITY, RAID, BATTERY)
"""The axes that are held last."""
_CACHE = "controller.cache."
_LEAST = 2
"""Minimum points of a slice that is drawn."""
_opened: "WeakKeyDictionary[Session, tuple[Session, str]]" = WeakKeyDictionary()
"""The slices of open sessions, whose rows do not change."""


def open_slice(session: Session, most: int = MOST_SLICED) -> tuple[Session, str]:
    """Return the points for charts as a session, and a sentence on what is left out; empty if nothing is.

    An excerpt of the best points would leave gaps in lines; a slice has every point at the fixed values.
    """
    if session.point_count <= most:
        return session, ""
    if session not in _opened:
        _opened[session] = _slice(session, most)
    return _opened[session]


def _slice(session: Session, most: int) -> tuple[Session, str]:
    values = _list_values(session)
    # Fixing an axis with few values leaves out the fewest points.
    order = sorted(values, key=lambda path: (path in _FIRST, len(values[path])))
    held: dict[str, Any] = {}
    for path in order[:-1]:
        if _count(session, held) <= most:
            break
        held[path] = _find_own(session, path, values[path])
    ids = _find_points(session, held, most)
    if len(ids) < _LEAST:
        # The points do not form a grid.
        return open_excerpt(session, most), ""
    held_text = " and ".join(name_value(path, value, session.units) for path, value in held.items())
    where = f" with {held_text}" if held_text else ""
    left_out = session.point_count - len(ids)
    sentence = (
        f"{format_number(len(ids))} of {format_number(session.point_count)} points are drawn, those{where}; "
        f"{format_number(left_out)} are left out."
    )
    return session.select_points(ids), sentence


def _list_values(session: Session) -> dict[str, Sequence[Any]]:
    """Return the values of each axis that varies, in order."""
    listed = ", ".join(
        f"list_sort(list(DISTINCT {quote(path)})) AS v{index}" for index, path in enumerate(session.axes)
    )
    if not listed:
        return {}
    row = session.sql(f"SELECT {listed} FROM configurations WHERE label IS NULL").to_pylist()[0]  # noqa: S608
    values_by_axis = {path: row[f"v{index}"] or [] for index, path in enumerate(session.axes)}
    return {path: values for path, values in values_by_axis.items() if len(values) > 1}


def _find_own(session: Session, path: str, values: Sequence[Any]) -> Any:
    """Return the value of the study's own scenario or of its first point, else the middle one."""
    for source in (session.spec.get("scenario", {}), session.config):
        here: Any = source
        for segment in path.split("."):
            here = here.get(segment) if isinstance(here, dict) else None
        if here in values:
            return here
    return values[len(values) // 2]


def _count(session: Session, held: Mapping[str, Any]) -> int:
    source, parameters = _select(session, held)
    count: int = session.sql(f"SELECT count(*) AS n {source}", parameters)["n"][0].as_py()
    return count


def _find_points(session: Session, held: Mapping[str, Any], most: int) -> list[str]:
    """Return the ids of the points at some values, those with labels first."""
    source, parameters = _select(session, held)
    statement = f"SELECT point_id {source} ORDER BY label IS NULL, plan_row LIMIT {most:d}"
    ids: list[str] = session.sql(statement, parameters)["point_id"].to_pylist()
    return ids


def _select(session: Session, held: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the points with labels and those at some values as a relation, with its parameters."""
    conditions = " AND ".join(_condition(path, index, session) for index, path in enumerate(held))
    parameters = {f"p{index}": value for index, value in enumerate(held.values())}
    return f"FROM configurations WHERE label IS NOT NULL OR ({conditions or 'true'})", parameters


def _condition(path: str, index: int, session: Session) -> str:
    """Return the condition on an axis, which has no effect on a point without a cache or battery."""
    equal = f"{quote(path)} = $p{index}"
    if not path.startswith(_CACHE) or path == CAPACITY:
        return equal
    without = [f"{quote(CAPACITY)} = 0"] if CAPACITY in session.axes else []
    without += [f"{quote(BATTERY)} = 'absent'"] if BATTERY in session.axes else []
    return f"({' OR '.join([equal, *without])})"
