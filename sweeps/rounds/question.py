"""What a study asks of each of its points: which runs that takes, and the answers that they give.

A point without an answer has a warning: the point, the cause, and the setting to change. The ledger has the
runs that are planned, and what is known of those that have ended.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil

import pyarrow as pa

from destage.errors import Issue
from destage.spec import quantities
from destage.spec.objective import Objective
from destage.sweeps.points.point import Expansion, Point
from destage.sweeps.points.point_results import Facts
from destage.sweeps.rounds.finished_runs import NEEDED, FinishedRuns
from destage.sweeps.rounds.forecast import NO_MORE, Forecast
from destage.sweeps.seek.largest_search import PointResult
from destage.sweeps.space import parameters
from destage.sweeps.study.valid_study import Study

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
