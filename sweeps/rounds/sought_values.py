"""What searches for the largest and for the smallest value share: verdicts of runs, answers, warnings."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from destage.engine import limiting_resource
from destage.errors import Issue
from destage.sweeps.points.points import Expansion, Point
from destage.sweeps.points.results import NO_LOAD, Facts
from destage.sweeps.rounds.answer_tables import make_answer_tables
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.rounds.forecast import Forecast
from destage.sweeps.rounds.ledger import Ledger, Slot
from destage.sweeps.rounds.unanswered_points import (
    explain_runs,
    explain_undecided,
    list_unsteady,
    make_warning,
)
from destage.sweeps.seek.probes import Probe, ProbeVerdict, SearchState
from destage.sweeps.seek.search import PointResult
from destage.sweeps.study.study import Study


class SoughtValues(ABC):
    """The searches of all points."""

    def __init__(self, study: Study, ledger: Ledger) -> None:
        self._study = study
        self._seek = study.found_seek
        self._ledger = ledger

    @staticmethod
    def list_columns(study: Study) -> Sequence[str]:
        """Return the columns of the objectives, and those that tell what limits a point."""
        seek = study.found_seek
        bounded = [*seek.objectives, *(one for limits in seek.limits.values() for one in limits)]
        return (*(objective.column for objective in bounded), *limiting_resource.columns_needed())

    @abstractmethod
    def choose_runs(self) -> Mapping[str, Sequence[Slot]]:
        """Return the next runs by the id of their point; none once all points are answered."""

    @abstractmethod
    def forecast(self) -> Forecast:
        """Return the runs that later rounds will add."""

    @abstractmethod
    def find_result(self, point: Point) -> PointResult | None:
        """Return the sought value of a point; None before the search has ended."""

    def tabulate(self, expansion: Expansion) -> tuple[pa.Table, pa.Table]:
        """Return the answers, a row per point, and their certificates, a row per point and replicate."""
        found = {point.id: self.find_result(point) for point in expansion.points}
        results = {identity: result for identity, result in found.items() if result is not None}
        return make_answer_tables(self._study, expansion, results, self._ledger)

    def find_unanswered(self, expansion: Expansion, finished: FinishedRuns) -> Iterator[Issue]:
        """Yield a warning for each point all of whose searches are undecided.

        A run is `not_stationary` or has no value of a bounded column, or the replicates scatter.
        """
        del finished
        for point in expansion.points:
            runs = self._ledger.list_facts(point)
            result = self.find_result(point)
            states = set() if result is None else {one.state for one in result.replicates.values()}
            if not states <= {SearchState.UNDECIDED}:
                continue
            if unsteady := list_unsteady(runs):
                yield make_warning(point, explain_runs(unsteady))
            elif result is not None:
                objectives = self._seek.objectives_of(point.label)
                yield make_warning(point, explain_undecided(result, objectives, runs))

    def _look(self, point: Point, replicate: int, value: int) -> Probe | None:
        """Return what is known of a run of a point."""
        facts = self._ledger.look(point, (replicate, value))
        return None if facts is None else self._judge(facts, point.label)

    def _judge(self, facts: Facts, label: str | None) -> Probe:
        """Return the verdict of a run by the objectives of the point with a label, and its margins.

        A run without a steady state (`not_stationary`) or without a value of a bounded column is undecided; a
        run whose load the array cannot carry (`overloaded`) or whose array lost data (`array_failed`) fails.
        """
        if facts.status == "failed":
            return Probe(ProbeVerdict.BROKEN)
        if facts.status in NO_LOAD:
            return Probe(ProbeVerdict.FAIL)
        if facts.status != "ok":
            return Probe(ProbeVerdict.UNDECIDED)
        objectives = self._seek.objectives_of(label)
        values = [facts.values.get(objective.column) for objective in objectives]
        measured = [value for value in values if value is not None]
        if len(measured) < len(values):
            return Probe(ProbeVerdict.UNDECIDED, lacks_value=True)
        pairs = list(zip(objectives, measured, strict=True))
        is_met = all(objective.is_met(value) for objective, value in pairs)
        margins = tuple(objective.margin(value) for objective, value in pairs)
        return Probe(ProbeVerdict.PASS if is_met else ProbeVerdict.FAIL, margins)
