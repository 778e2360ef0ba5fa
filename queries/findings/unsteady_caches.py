"""Points whose write cache was filling or emptying while they were measured.

A write cache that takes in more dirty data than the disks write back fills up, and response times rise once
it is full. A measurement window that ends earlier shows a load that the array cannot sustain; one in which
the cache empties shows more work for the disks than there is in the long run. In a steady state, as much is
dirty at the end of the window as at its start, apart from the cycle between the water marks.
"""

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from destage.queries.text.presentation import format_count

if TYPE_CHECKING:
    from destage.queries.opening.session import Session

LEAST = 0.1
"""The ratio of the change of the dirty data to the new dirty data from which on a cache is not steady."""
CHANGE = "sum(dirty_end_sectors - dirty_start_sectors) / nullif(sum(accepted_sectors - absorbed_sectors), 0)"
"""That ratio as SQL over runs."""
LEAST_WRITES = 0.01
"""The least share of the requests that are writes which the disks did not see, or saw in excess."""
_EXCESS = (
    "abs(sum(dirty_end_sectors - dirty_start_sectors)) / sum(accepted_sectors) * sum(writes) / sum(requests)"
)
_STEADY = {"auto", "requests", "duration"}
"""Windows of a load that goes on; the others measure a case from beginning to end."""
_CASES = ("faults", "workload.phases")
"""Parameters of a load or an array that changes in the course of a run."""


def list_unsteady_caches(session: "Session") -> list[str]:
    """Return a sentence on the points whose write cache was filling, and one on those where it emptied."""
    if not _is_steady(session.spec):
        return []
    row = session.sql(
        f"WITH changes AS (SELECT if({_EXCESS} >= {LEAST_WRITES}, {CHANGE}, 0) AS change "  # noqa: S608
        "FROM replicates GROUP BY point_id) "
        "SELECT count(*) AS points, max(change) AS most, min(change) AS least, "
        f"count(*) FILTER (WHERE change > {LEAST}) AS filling, "
        f"count(*) FILTER (WHERE change < -{LEAST}) AS emptying FROM changes"
    ).to_pylist()[0]
    of = f"of {format_count(row['points'], 'point')}"
    return [
        *([_describe(row["most"], f" at {row['filling']:,} {of}")] if row["filling"] else []),
        *([_describe(row["least"], f" at {row['emptying']:,} {of}")] if row["emptying"] else []),
    ]


def describe_run(scenario: Mapping[str, Any], row: Mapping[str, Any]) -> list[str]:
    """Return a sentence if the write cache of one run was not steady, given its configuration and result."""
    taken = (row["accepted_sectors"] or 0) - (row["absorbed_sectors"] or 0)
    if not taken or not _is_steady({"scenario": scenario}):
        return []
    grown = row["dirty_end_sectors"] - row["dirty_start_sectors"]
    excess = abs(grown) / row["accepted_sectors"] * row["writes"] / row["requests"]
    change = grown / taken
    return [_describe(change)] if abs(change) > LEAST and excess >= LEAST_WRITES else []


def _describe(change: float, where: str = "") -> str:
    """Return what follows if the dirty data changed by this ratio to the new dirty data."""
    share = f"{'up to ' if where else ''}{abs(change) * 100:.0f} %"
    if change > 0:
        finding, later = f"Not sustained{where}: the write cache was filling", "worse"
        why = f"{share} of the new dirty data was not destaged"
    else:
        finding, later = f"Not steady{where}: the write cache was emptying", "better"
        why = f"the disks destaged {share} more than the new dirty data"
    return (
        f"{finding} during the measurement window; {why}. A longer window shows {later} results: set "
        "run.warm_up and run.window to auto."
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
