"""Questions for means at given points: a fixed number of runs, or more until intervals are narrow."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence

import numpy as np

from destage.errors import Issue
from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.points.point import Expansion, Point
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.rounds.forecast import Forecast, PointProgress, forecast_runs
from destage.sweeps.rounds.question import (
    UNSTEADY,
    Ledger,
    Question,
    Slot,
    explain_runs,
    explain_unsteady,
    list_unsteady,
    make_warning,
)
from destage.sweeps.seek.intervals import Interval, replicates_needed, t_interval
from destage.sweeps.study.valid_study import Replicates, Study


class FixedRuns(Question):
    """A study that plans nothing from results: the planner takes its runs from the blocks of points."""

    def find_unanswered(self, expansion: Expansion, finished: FinishedRuns) -> Iterator[Issue]:
        """Yield a warning for each point without a run of status `ok` and with one that is `not_stationary`.

        An overloaded or failed array is a result.
        """
        for block in expansion.blocks:
            numbers = finished.find(block.pack_run_ids()).reshape(len(block), block.replicates)
            unsteady = finished.have_status(numbers, UNSTEADY)
            unanswered = unsteady.any(axis=1) & ~finished.have_status(numbers, "ok").any(axis=1)
            positions = np.flatnonzero(unanswered)
            if not len(positions):
                continue
            for point, position in zip(expansion.list_points(block.take(positions)), positions, strict=True):
                needed = finished.needed_requests(numbers[position][unsteady[position]])
                yield make_warning(point, explain_unsteady(needed[~np.isnan(needed)].tolist()))


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


class PointMeans(Question):
    """A study that seeks nothing, and whose replicates or points depend on results."""

    def __init__(self, study: Study, ledger: Ledger) -> None:
        super().__init__(study, ledger)
        self._replication = Replication(study.replicates, ledger)

    @staticmethod
    def list_columns(study: Study) -> Sequence[str]:
        """Return the result column whose interval ends the replication."""
        metric = study.replicates.metric
        return () if metric is None else (metric_columns()[metric].name,)

    def choose_runs(self) -> Mapping[str, Sequence[Slot]]:
        """Return the replicates that points lack."""
        return self._replication.choose_runs(self._list_missing, self._extend)

    def forecast(self) -> Forecast:
        """Return the replicates that later rounds may add."""
        return self._replication.forecast()

    def find_unanswered(self, expansion: Expansion, finished: FinishedRuns) -> Iterator[Issue]:
        """Yield a warning for each point with runs that are `not_stationary` and none of status `ok`."""
        del finished
        for point in expansion.points:
            runs = self._ledger.list_facts(point)
            unsteady = list_unsteady(runs)
            if unsteady and all(facts.status != "ok" for facts in runs):
                yield make_warning(point, explain_runs(unsteady))

    def _list_missing(self, point: Point) -> list[Slot]:
        planned = self._ledger.list_slots(point)
        slots: list[Slot] = [(replicate, None) for replicate in range(self._replication.count(point))]
        return [slot for slot in slots if slot not in planned]

    def _extend(self, point: Point) -> bool:
        """Add replicates to a point if its interval is too wide and more are allowed."""
        column = metric_columns()[self._study.replicates.metric or ""].name
        measured = [row.values.get(column) for row in self._ledger.list_facts(point) if row.status == "ok"]
        return self._replication.extend(point, t_interval([value for value in measured if value is not None]))
