"""The results of replays on several configurations, with intervals."""

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from destage.queries.session import Session
from destage.sql import quote

COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "dependent": ("completion_time_s", "commit_p95_us", "response_mean_us"),
        "open": ("response_mean_us", "response_p95_us", "response_p99_us"),
        "asap": ("completion_time_s", "throughput_iops", "response_p95_us"),
    }
)
"""What answers a replay in each mode: only in `open` has the array no influence on when requests arrive."""
_HITS = ("read_hit_ratio", "write_hit_ratio")


def tabulate_replay(session: Session, mode: str) -> pa.Table:
    """Return a row per point, in the order of the plan: means with 95 % intervals, limiting resource."""
    axes = ", ".join(f"points.{quote(path)} AS {name}" for path, name in session.names.items())
    measured = ", ".join(
        ", ".join([name, f"{name}_low", f"{name}_high"]) for name in (*COLUMNS[mode], *_HITS)
    )
    return session.sql_of_named_columns(
        f"SELECT {axes}{', ' if axes else ''}{measured}, limiting_resource(points, 0.5) AS limiting, n, "  # noqa: S608
        "n_not_stationary, n_overloaded, n_array_failed, n_failed, n_missing FROM points ORDER BY plan_row"
    )
