"""The searches of points for the largest value that meets the objectives."""

from collections.abc import Mapping, Sequence
from functools import partial

from destage.sweeps.points.point import Point
from destage.sweeps.rounds.forecast import Forecast
from destage.sweeps.rounds.ledger import Ledger, Slot
from destage.sweeps.rounds.replication import Replication
from destage.sweeps.rounds.sought_values import SoughtValues
from destage.sweeps.seek.ladder import make_ladder
from destage.sweeps.seek.largest_search import PointResult, search
from destage.sweeps.study.valid_study import Study


class LargestValues(SoughtValues):
    """The searches of all points, each by itself."""

    def __init__(self, study: Study, ledger: Ledger) -> None:
        super().__init__(study, ledger)
        self._replication = Replication(study.replicates, ledger)
        self._ladder = make_ladder(self._seek, study.ceiling)
        self._results: dict[str, PointResult] = {}

    def choose_runs(self) -> Mapping[str, Sequence[Slot]]:
        """Return the runs that searches wait for, and the further replicates of those that have ended."""
        return self._replication.choose_runs(self._go_on, self._extend)

    def forecast(self) -> Forecast:
        """Return the runs that searches and further replicates are expected to take."""
        return self._replication.forecast(self._results)

    def find_result(self, point: Point) -> PointResult | None:
        """Return the sought value of a point; None before the search has ended."""
        if point.id in self._results:
            return self._results[point.id]
        outcome = self._search(point)
        return outcome if isinstance(outcome, PointResult) else None

    def _go_on(self, point: Point) -> Sequence[Slot]:
        """Return the runs that the search of a point waits for; none once it has ended."""
        if point.id in self._results:
            return ()
        outcome = self._search(point)
        if not isinstance(outcome, PointResult):
            return outcome
        self._results[point.id] = outcome
        return ()

    def _search(self, point: Point) -> PointResult | tuple[tuple[int, int], ...]:
        count = self._replication.count(point)
        return search(
            self._ladder, self._seek.start, self._study.replicates.least, count, partial(self._look, point)
        )

    def _extend(self, point: Point) -> bool:
        """Add replicates to a point if its interval is too wide and more are allowed."""
        result = self._results.get(point.id)
        # Beyond a bound of the search, or without a steady state, replicates do not narrow the interval.
        if result is None or result.censored is not None or not result.interval.n:
            return False
        if not self._replication.extend(point, result.interval):
            return False
        del self._results[point.id]
        return True
