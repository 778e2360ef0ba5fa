"""The results of replays on several configurations, with intervals."""

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from destage.queries.opening.session import Session
from destage.queries.tables.views import STATUSES
from destage.sql import quote

COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "dependent": ("completion_time_s", "commit_p95_us", "response_mean_us"),
        "open": ("response_mean_us", "response_p95_us", "response_p99_us"),
        "asap": ("completion_time_s", "throughput_iops", "response_p95_us"),
    }
)
"""The main result of a replay in each mode; in `open`, the array does not influence when requests arrive."""
_HITS = ("read_hit_ratio", "write_hit_ratio")


def tabulate_replay(session: Session, mode: str, *, is_brief: bool = False) -> pa.Table:
    """Return a row per point, in the order of the plan: means with 95 % intervals.

    Args:
        is_brief: Whether hit ratios have no intervals, and the limiting resource and the number of replicates
            are left out, so that a terminal of 80 columns has room for the rest.
    """
    axes = [f"points.{quote(path)} AS {name}" for path, name in session.names.items()]
    bounded = [*COLUMNS[mode], *([] if is_brief else _HITS)]
    measured = [column for name in bounded for column in (name, f"{name}_low", f"{name}_high")]
    others = _HITS if is_brief else ("limiting_resource(points, 0.5) AS limiting", "n")
    listed = ", ".join([*axes, *measured, *others, *(f"n_{status}" for status in STATUSES), "n_missing"])
    return session.sql_of_named_columns(f"SELECT {listed} FROM points ORDER BY plan_row")  # noqa: S608
