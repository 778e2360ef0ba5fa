"""The number of replicates of each point: more until its interval is narrow enough."""

from destage.sweeps.points.points import Point
from destage.sweeps.seek.intervals import Interval, replicates_needed
from destage.sweeps.study.study import Replicates


class Replication:
    """The number of replicates of each point.

    Attributes:
        most: The maximum for a point.
    """

    def __init__(self, target: Replicates) -> None:
        self._target = target
        self._counts: dict[str, int] = {}
        self.most = target.least if target.metric is None else target.most

    def count(self, point: Point) -> int:
        """Return the number of replicates of a point."""
        return self._counts.get(point.id, self._target.least)

    def may_extend(self, point: Point) -> bool:
        """Return whether a point may have more replicates."""
        return self.count(point) < self.most

    def extend(self, point: Point, interval: Interval) -> bool:
        """Add replicates to a point that may have more; return whether its interval needs them."""
        target = self._target
        if interval.is_within(target.relative):
            return False
        wanted = replicates_needed(interval, target.relative, target.most)
        self._counts[point.id] = min(max(wanted, self.count(point) + 1), target.most)
        return True
