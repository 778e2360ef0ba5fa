"""Whether an array has room for the traces that a study replays, before anything runs."""

from itertools import islice

from destage import engine
from destage.errors import DestageError, TraceError
from destage.sweeps.points.point import Expansion

_CODE = "trace.beyond-array"
_MOST = 1_000
"""The most points that are examined: where none of them has room and there are more, the study runs."""


def check_room(expansion: Expansion) -> None:
    """Check that a point of a study that replays traces has room for them.

    Points without room fail by themselves where others have it, as in a grid over the number of disks.

    Raises:
        TraceError: All points fail for the same reason: their traces have addresses beyond their arrays.
    """
    trouble: DestageError | None = None
    count = 0
    points = (point for block in expansion.blocks for point in expansion.list_points(block))
    for point in islice(points, _MOST + 1):
        trouble = _find_trouble({**point.config, "run": {"max_events": 1}})
        count += 1
        if trouble is None or trouble.code != _CODE or count > _MOST:
            return
    if trouble is not None:
        which = f", as at all {count} points" if count > 1 else ""
        (issue,) = trouble.issues
        raise TraceError(_CODE, issue.message + which, f"scenario.{issue.place}")


def _find_trouble(config: dict[str, object]) -> DestageError | None:
    """Return why a configuration cannot begin: a trace is laid on the array before the first event."""
    try:
        engine.simulate(config)
    except DestageError as error:
        return error
    return None
