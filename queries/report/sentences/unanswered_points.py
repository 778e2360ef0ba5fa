"""The points of a sweep that have no answer, with the cause and what to change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.report.sentences.point_names import name_point
from destage.queries.text.presentation import format_count, format_number
from destage.queries.text.shown_results import describe_failing
from destage.sql import quote

_RESUME = "continue with `destage run SWEEP`"
_UNSETTLED = {"write_cache": "the write cache did not become steady"}


@dataclass(frozen=True, slots=True)
class UnansweredPoint:
    """A point without an answer: its name, why, and what to change."""

    name: str
    cause: str
    remedy: str


def list_unanswered(session: Session, most: int) -> tuple[list[UnansweredPoint], int]:
    """Return the first `most` points without an answer, in the order of the plan, and their total number."""
    if not session.config:
        return [], 0
    statement = _statement(session)
    count: int = session.sql(f"SELECT count(*) AS n FROM ({statement})")["n"][0].as_py()  # noqa: S608
    if not count:
        return [], 0
    axes = ["label", *session.axes]
    steady = {tuple(row[name] for name in axes): row for row in session.query("unanswered").to_pylist()}
    points = []
    for row in session.sql(f"{statement} LIMIT {most:d}").to_pylist():
        unsteady = steady.get(tuple(row[name] for name in axes))
        if unsteady is None:
            cause, remedy = _explain_run(row)
        else:
            needed = unsteady["requests_needed"]
            cause = _UNSETTLED.get(unsteady["unsettled"], "response times did not become steady")
            remedy = f"{unsteady['remedy']} to {format_number(needed)}" if needed else unsteady["remedy"]
        points.append(UnansweredPoint(name_point(row, session), cause, remedy))
    return points, count


def _statement(session: Session) -> str:
    lacks, joined, extra = "coalesce(n_ok, 0) = 0", "", ""
    if session.metric is not None:
        # A search that ended because other points are cheaper needs no answer.
        lacks = f"{quote(session.answer)} IS NULL AND censored IS DISTINCT FROM 'more_expensive'"
        joined, extra = "LEFT JOIN answers USING (point_id)", ", failing, failing_verdict, binding"
    return f"""
WITH judged AS (
  SELECT
    point_id,
    count(*) AS n_runs,
    count(*) FILTER (WHERE status = 'ok') AS n_ok,
    count(*) FILTER (WHERE status = 'failed') AS n_failed,
    count(*) FILTER (WHERE status = 'overloaded') AS n_overloaded,
    count(*) FILTER (WHERE status = 'array_failed') AS n_array_failed,
    min(error) FILTER (WHERE status = 'failed') AS error
  FROM runs
  GROUP BY point_id
)

SELECT configurations.*, judged.* EXCLUDE (point_id){extra}
FROM configurations
LEFT JOIN judged USING (point_id)
{joined}
WHERE {lacks}
ORDER BY configurations.plan_row
"""  # noqa: S608 - the name of the answer, quoted


def _explain_run(row: Mapping[str, Any]) -> tuple[str, str]:
    if not row["n_runs"]:
        return "none of its runs is finished", _RESUME
    if row["n_failed"]:
        runs = format_count(row["n_failed"], "run")
        return f"{runs} failed: {row['error'] or 'no message'}", f"remove the cause, then {_RESUME}"
    if row["n_array_failed"]:
        return "the array failed in its runs", "add redundancy or spares, or end the window before"
    if row["n_overloaded"]:
        return "the load exceeds the capacity of the array", "reduce the load"
    if (verdict := row.get("failing_verdict")) is not None:
        remedy = "remove the objective" if verdict == "not_measured" else "raise replicates.max or seek.max"
        return f"{format_number(row['failing'])} {describe_failing(verdict, row['binding'])}", remedy
    return "its search is unfinished", _RESUME
