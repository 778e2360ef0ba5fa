"""Points that a write cache makes slower, under sequential reads and writes.

Without a write cache, the disks serve a sequential stream of reads and writes in one pass over the tracks.
With one, the reads come first, and what was written follows as destages: a second pass over the same tracks,
and seeks between the two. Policies that destage the fullest stripes first lose most, as those are the ones
that are being written.
"""

from typing import TYPE_CHECKING

from destage.measured_systems.model_error import is_sequential
from destage.queries.text.presentation import format_count
from destage.sql import quote

if TYPE_CHECKING:
    from destage.queries.opening.session import Session

_CACHE = ("controller.cache.", "controller.battery.")
"""Axes of the cache; points that differ in these alone are compared."""
_LEAST = 0.95
"""The ratio of the rates below which a point of one replicate, which has no interval, counts as slower."""


def list_slower_caches(session: "Session") -> list[str]:
    """Return a sentence if a write cache lowers the rate of a mixed sequential load, and why."""
    alike = [quote(axis) for axis in session.axes if not axis.startswith(_CACHE)]
    kept = ", ".join(alike) or "0"
    rows = session.sql_of_named_columns(
        f"""
        WITH measured AS (
            SELECT plan_row, throughput_iops AS rate, throughput_iops_low AS low,
                throughput_iops_high AS high, accepted_sectors > 0 AS cached, row({kept}) AS alike
            FROM points WHERE throughput_iops > 0 AND reads > 0 AND writes > 0
        ), bare AS (
            SELECT alike, min(rate) AS rate, min(low) AS low FROM measured WHERE NOT cached GROUP BY alike
        )
        SELECT measured.plan_row, measured.rate / bare.rate AS ratio
        FROM measured JOIN bare ON measured.alike IS NOT DISTINCT FROM bare.alike
        WHERE cached AND coalesce(measured.high < bare.low, measured.rate < {_LEAST} * bare.rate)
        ORDER BY measured.plan_row
        """  # noqa: S608 - quoted axes
    ).to_pylist()
    slower = [
        row
        for row in rows
        if is_sequential(session.sweep.configuration(row["plan_row"])["workload"]["streams"])
    ]
    if not slower:
        return []
    most = 100 - 100 * min(row["ratio"] for row in slower)
    points = format_count(len(slower), "point")
    sentence = (
        f"With a write cache, {points} served up to {most:.0f} % fewer I/Os than without: "
        "the disks read the sequence in one pass and write it in a second one, with seeks between."
    )
    return [sentence]
