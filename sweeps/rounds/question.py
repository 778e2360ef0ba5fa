"""What a study asks of each of its points: which runs that takes, and the answers that they give.

Here are the questions for means: of a fixed number of runs, or of more until intervals are narrow.

A point without an answer has a warning: the point, the cause, and the setting to change. The ledger has the
runs that are planned, and what is known of those that have ended.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from math import ceil

import numpy as np
import pyarrow as pa

from destage.errors import Issue
from destage.spec import quantities
from destage.spec.objective import Objective
from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.points.point import Expansion, Point
from destage.sweeps.points.point_results import Facts
from destage.sweeps.rounds.finished_runs import NEEDED, FinishedRuns
from destage.sweeps.rounds.forecast import NO_MORE, Forecast, PointProgress, forecast_runs
from destage.sweeps.seek.intervals import Interval, replicates_needed, t_interval
from destage.sweeps.seek.largest_search import PointResult
from destage.sweeps.space import parameters
from destage.sweeps.study.valid_study import Replicates, Study

UNSTEADY = "not_stationary"


def make_warning(point: Point, message: str) -> Issue:
    """Return the warning that a point has no answer."""
    return Issue("sweep.unanswered", _name(point), message)


def list_unsteady(runs: Sequence[Facts]) -> list[Facts]:
    """Return the runs without a steady state."""
    return [facts for facts in runs if facts.status == UNSTEADY]


def explain_runs(unsteady: Sequence[Facts]) -> str:
    """Return why a point has no answer and what to change, given its runs without a steady state."""
    needed = [value for facts in unsteady if (value := facts.values.get(NEEDED)) is not None]
    return explain_unsteady(needed)


def explain_undecided(result: PointResult, objectives: Sequence[Objective], runs: Sequence[Facts]) -> str:
    """Return why the search of a point whose runs became steady has no answer, and what to change."""
    for objective in objectives:
        if any(facts.status == "ok" and facts.values.get(objective.column) is None for facts in runs):
            return f"no answer: a run has no value for {objective.text}; remove this objective"
    return (
        f"no answer: at {result.failing}, the replicates show neither that the objectives are met nor that "
        "one is missed; raise replicates.max or seek.max"
    )


def _name(point: Point) -> str:
    """Return a point's label, or the values of its axes."""
    return point.label or ", ".join(f"{path} {_format(path, value)}" for path, value in point.axes.items())


def _format(path: str, value: object) -> str:
    unit = parameters.find_parameter(path).unit
    if unit is None or not isinstance(value, int | float):
        return str(value)
    return quantities.render(value, unit)


def explain_unsteady(needed: Sequence[float]) -> str:
    """Return why a point has no answer and what to change, given the `requests_needed` of its runs."""
    if needed:
        # Two significant digits: it is an estimate.
        digits = 10 ** max(len(str(int(max(needed)))) - 2, 0)
        most = ceil(max(needed) / digits) * digits
        return (
            "no answer: the write cache takes longer to fill and destage than max_requests allows; "
            f"set run.max_requests to {most} or more, or give run.warm_up and run.window"
        )
    return (
        "no answer: response times were not stationary within max_requests; reduce the load, raise "
        "run.max_requests, or give run.warm_up and run.window"
    )


Slot = tuple[int, int | None]
"""A run of a point: its replicate, and the sought parameter's value; None if the study seeks nothing."""


class Ledger:
    """The planned runs by point and slot, and the facts of those that have ended.

    Attributes:
        points: The points with planned runs or without, in their order.
        facts: By run id.
    """

    def __init__(self) -> None:
        self.points: dict[str, Point] = {}
        self.facts: Mapping[str, Facts] = {}
        self._runs: dict[str, dict[Slot, str]] = {}

    def open(self, points: Iterable[Point]) -> None:
        """Add the points that are new."""
        for point in points:
            if point.id not in self.points:
                self.points[point.id] = point
                self._runs[point.id] = {}

    def enter(self, point: Point, slot: Slot, run: str) -> None:
        """Add a planned run."""
        self._runs[point.id][slot] = run

    def read(self, rows: Mapping[str, Facts]) -> None:
        """Keep the facts of the planned runs that have ended."""
        planned = (run for runs in self._runs.values() for run in runs.values())
        self.facts = {run: rows[run] for run in planned if run in rows}

    def find(self, point: Point, slot: Slot) -> str | None:
        """Return the id of a planned run; None if it was not planned."""
        return self._runs[point.id].get(slot)

    def look(self, point: Point, slot: Slot) -> Facts | None:
        """Return what is known of a run; None before it has ended."""
        run = self.find(point, slot)
        return None if run is None else self.facts.get(run)

    def list_slots(self, point: Point) -> Iterable[Slot]:
        """Return the planned runs of a point."""
        return self._runs[point.id].keys()

    def list_replicates(self, point: Point) -> list[dict[int | None, str]]:
        """Return the runs of a point: of each replicate, the run of each value of the sought parameter."""
        replicates: dict[int, dict[int | None, str]] = {}
        for (replicate, probe), run in self._runs[point.id].items():
            replicates.setdefault(replicate, {})[probe] = run
        return list(replicates.values())

    def list_facts(self, point: Point) -> list[Facts]:
        """Return what is known of the runs of a point, all of which have ended."""
        return [self.facts[run] for run in self._runs[point.id].values()]

    def count_runs(self) -> dict[str, int]:
        """Return the number of planned runs of each point, by its id."""
        return {identity: len(runs) for identity, runs in self._runs.items()}

    def expect_events(self, point: Point) -> float | None:
        """Return the mean number of events of the runs of a point; None before any has ended."""
        events = list(self._list_events(point))
        return sum(events) / len(events) if events else None

    def _list_events(self, point: Point) -> Iterator[float]:
        for run in self._runs[point.id].values():
            facts = self.facts.get(run)
            if facts is not None and (events := facts.values.get("events")) is not None:
                yield events


class Question(ABC):
    """What a study asks; unless a kind says otherwise, it seeks nothing and plans nothing from results."""

    def __init__(self, study: Study, ledger: Ledger) -> None:
        self._study = study
        self._ledger = ledger

    @staticmethod
    def list_columns(study: Study) -> Sequence[str]:
        """Return the result columns that it needs."""
        del study
        return ()

    def choose_runs(self) -> Mapping[str, Sequence[Slot]]:
        """Return the next runs by the id of their point; none once all points of the ledger are answered."""
        return {}

    def forecast(self) -> Forecast:
        """Return the runs that later rounds will add."""
        return NO_MORE

    def find_result(self, point: Point) -> PointResult | None:
        """Return the sought value of a point; None if nothing is sought, or before the search has ended."""
        del point
        return None

    def tabulate(self, expansion: Expansion) -> tuple[pa.Table, pa.Table] | None:
        """Return the answers and their certificates, after the last round; None if nothing is sought."""
        del expansion
        return None

    @abstractmethod
    def find_unanswered(self, expansion: Expansion, finished: FinishedRuns) -> Iterator[Issue]:
        """Yield a warning for each point without an answer, after the last round.

        Args:
            finished: All planned runs.
        """


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
