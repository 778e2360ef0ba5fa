"""The points of a large sweep that tables and reports show: named ones, the frontier, and others.

The others are the best in a table on a terminal, and evenly chosen from the plan in a report.

The best point has the largest load (of a seek), the shortest completion time (of a replay) or the lowest 95th
percentile of response times. On the frontier is the best point of each combination of cache capacity and
disks, unless one with no more of either is better; without a seek also each point that no point with a
higher throughput beats.

Charts draw a slice with few values of the axes that matter least.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from destage.queries.named.study_kinds import FixedLoad
from destage.queries.opening.session import Session
from destage.queries.report.charts.facets import BATTERY, CAPACITY, RAID, find_own
from destage.queries.text.presentation import format_count, format_number, name_value
from destage.sql import quote

MOST_LISTED = 100
"""Maximum points in a table on a terminal."""
MOST_DRAWN = 2_000
"""Maximum points in a report."""
_COSTS = (CAPACITY, "array.disks")


_opened: "WeakKeyDictionary[Session, dict[int, Session]]" = WeakKeyDictionary()
"""The excerpts of open sessions, whose rows do not change."""


def open_excerpt(session: Session, most: int) -> Session:
    """Return the points to show as a session, which is the same one if it has no more than `most` points."""
    if session.point_count <= most:
        return session
    excerpts = _opened.setdefault(session, {})
    if most not in excerpts:
        excerpts[most] = session.select_points(rank_points(session, most))
    return excerpts[most]


def rank_points(session: Session, most: int) -> list[str]:
    """Return the ids of the points to show, the most important first."""
    kind = session.kind
    costs = [path for path in _COSTS if path in session.axes]
    named = sorted(set().union(*map(session.points.find, session.spec.get("places", {}).values())))
    source = kind.source.format(answer=quote(session.answer))
    statement = _statement(kind, source, costs, is_even=most > MOST_LISTED)
    rows = session.sql_of_named_columns(statement, {"most": most, "named": named})
    ids: list[str] = rows["point_id"].to_pylist()
    return ids


def describe_excerpt(excerpt: Session) -> str:
    """Return a sentence on what is shown and what is left out; empty if all points are shown."""
    if not excerpt.left_out:
        return ""
    shown = excerpt.point_count
    words = f"those with {excerpt.kind.best}"
    if shown > MOST_LISTED:
        words = "an even sample of the others"
    return (
        f"{format_count(shown, 'point')} of {format_number(shown + excerpt.left_out)} shown: named points, "
        f"the frontier of cache capacity, disks and results, and {words}; "
        f"{format_count(excerpt.left_out, 'point')} left out."
    )


def _statement(kind: FixedLoad, source: str, costs: Sequence[str], *, is_even: bool) -> str:
    # Multiples of the golden ratio, less their whole parts, are spread evenly however many are taken.
    rest = "plan_row * 0.6180339887498949 % 1" if is_even else "result NULLS LAST"
    cost = [f"{quote(path)} AS cost_{index}" for index, path in enumerate(costs)]
    names = [f"cost_{index}" for index in range(len(costs))]
    listed = ", ".join(names) or "0"
    beaten = " AND ".join(["other.result < best.result", *(f"other.{name} <= best.{name}" for name in names)])
    throughput, is_fast = "NULL::DOUBLE", "false"
    if kind.has_throughput:
        throughput = "throughput_iops"
        is_fast = (
            "coalesce(result < min(result) OVER (ORDER BY throughput DESC NULLS LAST, result, plan_row "
            "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), true)"
        )
    values = [f"({kind.value})::DOUBLE AS result", f"{throughput} AS throughput"]
    return f"""
WITH measured AS (
  SELECT {", ".join(["point_id, label, plan_row", *values, *cost])}
  FROM {source}
), ranked AS (
  SELECT *, row_number() OVER (PARTITION BY {listed} ORDER BY result NULLS LAST, plan_row) = 1 AS is_cheap,
    {is_fast} AS is_fast
  FROM measured
), best AS (
  SELECT * FROM ranked WHERE is_cheap AND result IS NOT NULL
), frontier AS (
  SELECT point_id FROM best WHERE NOT EXISTS (SELECT 1 FROM best AS other WHERE {beaten})
  UNION ALL
  SELECT point_id FROM ranked WHERE is_fast AND result IS NOT NULL
  UNION ALL
  -- The answer of a study also names the worst.
  (SELECT point_id FROM ranked WHERE result IS NOT NULL ORDER BY result DESC, plan_row LIMIT 1)
)
SELECT point_id FROM ranked
ORDER BY
  point_id IN (SELECT unnest($named::VARCHAR[])) DESC,
  label IS NOT NULL DESC,
  point_id IN (SELECT point_id FROM frontier) DESC,
  {rest},
  plan_row
LIMIT $most::BIGINT
"""  # noqa: S608 - names of axes, quoted


MOST_SLICED = 1_500
"""Maximum points of a slice."""
_FIRST = (CAPACITY, RAID, BATTERY)
"""The axes that are held last."""
_CACHE = "controller.cache."
_LEAST = 2
"""Minimum points of a slice that is drawn."""
_sliced: "WeakKeyDictionary[Session, tuple[Session, str]]" = WeakKeyDictionary()
"""The slices of open sessions, whose rows do not change."""


def open_slice(session: Session, most: int = MOST_SLICED) -> tuple[Session, str]:
    """Return the points for charts as a session, and a sentence on what is left out; empty if nothing is.

    An excerpt of the best points would leave gaps in lines; a slice has every point at the fixed values.
    """
    if session.point_count <= most:
        return session, ""
    if session not in _sliced:
        _sliced[session] = _slice(session, most)
    return _sliced[session]


def _slice(session: Session, most: int) -> tuple[Session, str]:
    values = _list_values(session)
    # Fixing an axis with few values leaves out the fewest points.
    order = sorted(values, key=lambda path: (path in _FIRST, len(values[path])))
    held: dict[str, Any] = {}
    ids = _find_points(session, held, most + 1)
    for path in order[:-1]:
        if len(ids) <= most:
            break
        # The value of the study's own scenario or of its first point, else the middle one.
        owned = (find_own(path, source) for source in (session.spec.get("scenario"), session.config))
        middle = values[path][len(values[path]) // 2]
        held[path] = next((own for own in owned if own in values[path]), middle)
        ids = _find_points(session, held, most + 1)
    ids = ids[:most]
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


def _find_points(session: Session, held: Mapping[str, Any], most: int) -> list[str]:
    """Return the ids of the points with labels and of those at some values, in this order, up to `most`."""
    conditions = " AND ".join(_condition(path, index, session) for index, path in enumerate(held))
    statement = (
        f"SELECT point_id FROM configurations WHERE label IS NOT NULL OR ({conditions or 'true'}) "  # noqa: S608
        f"ORDER BY label IS NULL, plan_row LIMIT {most:d}"
    )
    parameters = {f"p{index}": value for index, value in enumerate(held.values())}
    ids: list[str] = session.sql(statement, parameters)["point_id"].to_pylist()
    return ids


def _condition(path: str, index: int, session: Session) -> str:
    """Return the condition on an axis, which has no effect on a point without a cache or battery."""
    equal = f"{quote(path)} = $p{index}"
    if not path.startswith(_CACHE) or path == CAPACITY:
        return equal
    without = [f"{quote(CAPACITY)} = 0"] if CAPACITY in session.axes else []
    without += [f"{quote(BATTERY)} = 'absent'"] if BATTERY in session.axes else []
    return f"({' OR '.join([equal, *without])})"
