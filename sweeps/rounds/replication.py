"""The number of replicates of each point: more until its interval is narrow enough."""

from collections.abc import Callable, Container, Mapping, Sequence

from destage.sweeps.points.point import Point
from destage.sweeps.rounds.forecast import Forecast, PointProgress, forecast_runs
from destage.sweeps.rounds.ledger import Ledger, Slot
from destage.sweeps.seek.intervals import Interval, replicates_needed
from destage.sweeps.study.valid_study import Replicates


class Replication:
    """The replicates of all points of a ledger."""

    def __init__(self, target: Replicates, ledger: Ledger) -> None:
        self._target = target
        self._ledger = ledger
        self._counts: dict[str, int] = {}
        self._most = target.least if target.metric is None else target.most

    def count(self, point: Point) -> int:
        """Return the number of replicates of a point."""
        return self._counts.get(point.id, self._target.least)

    def choose_runs(
        self, list_missing: Callable[[Point], Sequence[Slot]], extend: Callable[[Point], bool]
    ) -> dict[str, Sequence[Slot]]:
        """Return the runs that points lack by the id of the point, those of further replicates included.

        Args:
            list_missing: Returns the runs that a point lacks with its replicates.
            extend: Adds replicates to a point that has all runs; returns whether it has.
        """
        wanted: dict[str, Sequence[Slot]] = {}
        for point in self._ledger.points.values():
            missing = list_missing(point)
            if not missing and self.count(point) < self._most and extend(point):
                missing = list_missing(point)
            if missing:
                wanted[point.id] = missing
        return wanted

    def extend(self, point: Point, interval: Interval) -> bool:
        """Add replicates to a point that may have more; return whether its interval needs them."""
        target = self._target
        if interval.is_within(target.relative):
            return False
        wanted = replicates_needed(interval, target.relative, target.most)
        self._counts[point.id] = min(max(wanted, self.count(point) + 1), target.most)
        return True

    def forecast(self, results: Container[str] | None = None) -> Forecast:
        """Return the runs that searches and further replicates are expected to take.

        Args:
            results: The points whose search has ended, by id; None if nothing is sought.
        """
        planned: Mapping[str, int] = self._ledger.count_runs()
        return forecast_runs(
            PointProgress(
                planned=planned[point.id],
                least=self._target.least,
                replicates=self.count(point),
                most=self._most,
                seeks=results is not None,
                has_result=results is not None and point.id in results,
            )
            for point in self._ledger.points.values()
        )
