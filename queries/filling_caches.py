"""Points whose write cache was still filling while they were measured.

A write cache that takes in more dirty data than the disks write back fills up, and response times rise once
it is full. A measurement window that ends earlier shows a load that the array cannot sustain. In a steady
state, as much is dirty at the end of the window as at its start, apart from the cycle between the water
marks.
"""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from destage.queries.presentation import format_count
from destage.queries.session import Session

FILLING = 0.1
"""The share of new dirty data not destaged within the window from which on a write cache is filling."""
FILLING_SHARE = (
    "sum(dirty_end_sectors - dirty_start_sectors) / nullif(sum(accepted_sectors - absorbed_sectors), 0)"
)
"""That share as SQL over runs."""
_STEADY = {"auto", "requests", "duration"}
"""Windows of a load that goes on; the others measure a case from beginning to end."""
_CASES = ("faults", "workload.phases")
"""Parameters of a load or an array that changes in the course of a run."""


def list_filling_caches(session: Session) -> list[str]:
    """Return a sentence on the points whose write cache was filling, if there are any."""
    if session.kind == "replay" or not _is_steady(session.spec):
        return []
    row = session.sql(
        f"WITH shares AS (SELECT {FILLING_SHARE} AS share FROM replicates GROUP BY point_id) "  # noqa: S608
        f"SELECT count(*) AS points, count(*) FILTER (WHERE share > {FILLING}) AS filling, "
        "max(share) AS worst FROM shares"
    ).to_pylist()[0]
    if not row["filling"]:
        return []
    where = f"at {row['filling']:,} of {format_count(row['points'], 'point')}"
    return [_describe(row["worst"], where)]


def describe_run(scenario: Mapping[str, Any], row: Mapping[str, Any]) -> list[str]:
    """Return a sentence on the write cache of one run if it was filling, given its configuration and row."""
    taken = (row["accepted_sectors"] or 0) - (row["absorbed_sectors"] or 0)
    if not taken or not _is_steady({"scenario": scenario}):
        return []
    share = (row["dirty_end_sectors"] - row["dirty_start_sectors"]) / taken
    return [_describe(share)] if share > FILLING else []


def _describe(share: float, where: str = "") -> str:
    """Return what follows if this share of the new dirty data was not destaged, `where` of several points."""
    place, most = (f" {where}", "up to ") if where else ("", "")
    return (
        f"Not sustained{place}: the write cache was filling during the measurement window, at whose end "
        f"{most}{share * 100:.0f} % of the new dirty data was not destaged. A longer window shows worse "
        "results: set run.warm_up and run.window to auto."
    )


def _is_steady(spec: Mapping[str, Any]) -> bool:
    """Return whether a study measures a load that goes on, and not a case such as a power failure."""
    scenario = spec.get("scenario") or {}
    axes = spec.get("axes") or {}
    points = [point for point in spec.get("points") or () if isinstance(point, Mapping)]
    if scenario.get("faults") or (scenario.get("workload") or {}).get("phases"):
        return False
    if any(path.startswith(_CASES) for path in chain(axes, *points)):
        return False
    windows = [
        (scenario.get("run") or {}).get("window", "auto"),
        *(axes["run.window"] if isinstance(axes.get("run.window"), list) else ()),
        *(point["run.window"] for point in points if "run.window" in point),
    ]
    # A window of requests or of time is a table with this one key.
    return all(set(window if isinstance(window, Mapping) else [window]) <= _STEADY for window in windows)
