"""The questions for the largest and for the smallest value of a parameter that meets the objectives.

What both share: the verdicts of runs, the answers with their certificates, and the warnings of points without
an answer. The smallest value is one of all, or of the cheapest.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import pyarrow as pa

from destage.engine import result_columns
from destage.errors import ConfigError, Issue
from destage.store.state.answers import answers_schema, certificates_schema
from destage.sweeps.keys.seek_key import Seek
from destage.sweeps.points.point import Expansion, Point
from destage.sweeps.points.point_results import NO_LOAD, Facts
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.rounds.forecast import Forecast, LeastProgress, forecast_least
from destage.sweeps.rounds.question import (
    Ledger,
    Question,
    Replication,
    Slot,
    explain_runs,
    explain_undecided,
    list_unsteady,
    make_warning,
)
from destage.sweeps.search.trials import DISKS, count_disks
from destage.sweeps.seek.ladder import make_ladder
from destage.sweeps.seek.largest_search import PointResult, search
from destage.sweeps.seek.probes import (
    BOUNDED,
    Probe,
    ProbeVerdict,
    ReplicateResult,
    SearchState,
    ValueVerdict,
)
from destage.sweeps.seek.smallest_search import (
    Candidate,
    Evidence,
    choose_points,
    choose_value,
    conclude,
    examine,
    schedule_looks,
)
from destage.sweeps.study.valid_study import Replicates, Study

_MISSES = (SearchState.CERTIFIED, SearchState.BELOW, SearchState.ABOVE, SearchState.MORE_EXPENSIVE)
"""The states with a run next to the answer that misses an objective."""


class SoughtValues(Question):
    """The searches of all points."""

    def __init__(self, study: Study, ledger: Ledger) -> None:
        super().__init__(study, ledger)
        self._seek = study.found_seek

    @staticmethod
    def list_columns(study: Study) -> Sequence[str]:
        """Return the columns of the objectives, and those that tell what limits a point."""
        seek = study.found_seek
        bounded = [*seek.objectives, *(objective for limits in seek.limits.values() for objective in limits)]
        return (*(objective.column for objective in bounded), *result_columns.columns_needed())

    def tabulate(self, expansion: Expansion) -> tuple[pa.Table, pa.Table]:
        """Return the answers, a row per point, and their certificates, a row per point and replicate."""
        answers, certificates = [], []
        for point in expansion.points:
            result = self.find_result(point)
            if result is None:
                continue
            above = [
                facts
                for replicate, outcome in result.replicates.items()
                if (outcome.state in _MISSES or result.failing_verdict is not None)
                and (facts := self._ledger.look(point, (replicate, outcome.failing))) is not None
            ]
            rest = {**expansion.axis_values(point), "price": _find_price(self._study, point, result)}
            answers.append(_answer(self._seek, self._study.replicates, point, result, above) | rest)
            certificates += [
                _certificate(point, replicate, outcome, self._ledger)
                for replicate, outcome in result.replicates.items()
            ]
        return (
            pa.Table.from_pylist(answers, schema=answers_schema(list(expansion.fields))),
            pa.Table.from_pylist(certificates, schema=certificates_schema()),
        )

    def find_unanswered(self, expansion: Expansion, finished: FinishedRuns) -> Iterator[Issue]:
        """Yield a warning for each point all of whose searches are undecided.

        A run is `not_stationary` or has no value of a bounded column, or the replicates scatter.
        """
        del finished
        for point in expansion.points:
            runs = self._ledger.list_facts(point)
            result = self.find_result(point)
            states = set() if result is None else {outcome.state for outcome in result.replicates.values()}
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


def _answer(
    seek: Seek, target: Replicates, point: Point, result: PointResult, above: Sequence[Facts]
) -> dict[str, object]:
    """Return the answer of one point, from its search and the runs just above it."""
    states = Counter(outcome.state for outcome in result.replicates.values())
    values = [outcome.value for outcome in result.replicates.values() if outcome.state in BOUNDED]
    interval = result.interval
    # A bound in place of an unknown value has no valid spread.
    half_width = None if result.censored is not None else interval.half_width
    met = None if target.metric is None else result.censored is None and interval.is_within(target.relative)
    mean = interval.mean
    return {
        "point_id": point.id,
        "label": point.label,
        "metric": seek.metric,
        "answer_mean": mean,
        "answer_low": None if mean is None or half_width is None else mean - half_width,
        "answer_high": None if mean is None or half_width is None else mean + half_width,
        "answer_half_width": half_width,
        "passing": result.passing,
        "failing": result.failing,
        "failing_verdict": None if result.failing_verdict is None else result.failing_verdict.value,
        "n": interval.n,
        "answers": values,
        "censored": None if result.censored is None else result.censored.value,
        "monotone": result.monotone,
        "binding": _find_binding(seek, point.label, result, above),
        "limiting": _most_common([result_columns.limiting_resource(facts.values) for facts in above]),
        "interval_met": met,
        "undecided": states[SearchState.UNDECIDED],
        "failed": states[SearchState.FAILED],
    }


def _find_price(study: Study, point: Point, result: PointResult) -> float | None:
    """Return the price of a point at its answer [currency]; None without prices or an answer."""
    if study.prices is None or result.passing is None or result.censored is not None:
        return None
    disks = result.passing if study.sought == DISKS else count_disks(point)
    return study.prices.price(point.axes, disks)


def _certificate(point: Point, replicate: int, result: ReplicateResult, ledger: Ledger) -> dict[str, object]:
    passing, failing = (
        None if value is None else ledger.find(point, (replicate, value))
        for value in (result.passing, result.failing)
    )
    return {
        "point_id": point.id,
        "replicate": replicate,
        "n": result.value,
        "run_id_pass": passing,
        "run_id_fail": failing,
        "state": result.state.value,
    }


def _binding(seek: Seek, label: str | None, facts: Facts) -> str | None:
    """Return the objective that a run misses by most or has no value for, or the status of a failed run."""
    if facts.status != "ok":
        return facts.status
    missed = []
    for objective in seek.objectives_of(label):
        value = facts.values.get(objective.column)
        if value is None or not objective.is_met(value):
            missed.append((math.inf if value is None else objective.violation(value), objective.text))
    return max(missed)[1] if missed else None


def _find_binding(seek: Seek, label: str | None, result: PointResult, above: Sequence[Facts]) -> str | None:
    """Return the objective that most runs just above the answer miss.

    Of an undecided value whose runs all meet it, that is the objective nearest to its bound.
    """
    missed = _most_common([_binding(seek, label, facts) for facts in above])
    if missed is not None or result.failing_verdict is not ValueVerdict.UNDECIDED:
        return missed
    return max(
        (objective.violation(value), objective.text)
        for facts in above
        for objective in seek.objectives_of(label)
        if (value := facts.values.get(objective.column)) is not None
    )[1]


def _most_common(names: list[str | None]) -> str | None:
    counted = Counter(name for name in names if name is not None)
    return min(counted, key=lambda name: (-counted[name], name)) if counted else None


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


class SmallestValues(SoughtValues):
    """The searches of all points, of which only the cheapest may have to end."""

    def __init__(self, study: Study, ledger: Ledger) -> None:
        super().__init__(study, ledger)
        replicates, has_scout = study.replicates, self._seek.cheapest is not None
        self._looks = schedule_looks(replicates.least, replicates.most, has_scout=has_scout)
        considered = range(self._seek.least, self._seek.most + 1, self._seek.step)
        points = list(ledger.points.values())
        self._values = {point.id: point.list_allowed(considered) for point in points}
        self._results: dict[str, PointResult] = {}
        empty = [point for point in points if not self._values[point.id]]
        if empty:
            message = f"no value from {self._seek.least} to {self._seek.most} is valid at {empty[0].axes}"
            raise ConfigError([Issue("study.out-of-range", "seek.max", message)], study.name)

    def choose_runs(self) -> Mapping[str, Sequence[Slot]]:
        """Return the runs to execute next; none at the end."""
        open_points = [point for point in self._ledger.points.values() if point.id not in self._results]
        evidence_by_point = {point.id: self._examine(point) for point in open_points}
        if self._seek.cheapest is None:
            positions = {
                point.id: self._choose(point, evidence_by_point[point.id])
                for point in open_points
                if not evidence_by_point[point.id].missing
            }
            expensive: set[str] = set()
        else:
            positions, expensive = self._choose_cheapest(evidence_by_point)
        wanted: dict[str, Sequence[Slot]] = {}
        for point in open_points:
            evidence, position = evidence_by_point[point.id], positions.get(point.id)
            if point.id in expensive:
                self._conclude(point, evidence, is_expensive=True)
            elif evidence.missing:
                wanted[point.id] = evidence.missing
            elif position is not None:
                value = self._values[point.id][position]
                wanted[point.id] = [(replicate, value) for replicate in range(self._looks.first)]
        if not wanted:
            for point in open_points:
                if point.id not in self._results:
                    self._conclude(point, evidence_by_point[point.id], is_expensive=False)
        return wanted

    def forecast(self) -> Forecast:
        """Return the runs that later rounds will add."""
        searches = [
            LeastProgress(planned, len(self._values[identity]), identity in self._results)
            for identity, planned in self._ledger.count_runs().items()
        ]
        return forecast_least(searches, self._looks.counts[0], self._seek.cheapest)

    def find_result(self, point: Point) -> "PointResult | None":
        """Return the sought value of a point; None before the search has ended."""
        return self._results.get(point.id)

    def _examine(self, point: Point) -> Evidence:
        probed = {value for _, value in self._ledger.list_slots(point) if value is not None}
        return examine(self._values[point.id], probed, self._looks, partial(self._look, point))

    def _choose(self, point: Point, evidence: Evidence) -> int | None:
        values = self._values[point.id]
        first = next(
            (index for index, value in enumerate(values) if value >= self._seek.start), len(values) - 1
        )
        return choose_value(evidence, len(values), first)

    def _choose_cheapest(
        self, evidence_by_point: Mapping[str, Evidence]
    ) -> tuple[dict[str, int | None], set[str]]:
        """Return the positions of the values to try, and the ids of the points that are too expensive."""
        # Points that are concluded are more expensive than those that were the cheapest at the time.
        points = [point for point in self._ledger.points.values() if point.id in evidence_by_point]
        candidates = [
            Candidate(
                len(self._values[point.id]),
                evidence_by_point[point.id],
                partial(self._price, point, point.axes),
            )
            for point in points
        ]
        choice = choose_points(candidates, self._seek.cheapest or 1, self._seek.max_price)
        values: dict[str, int | None] = {points[index].id: value for index, value in choice.values.items()}
        return values, {points[index].id for index in choice.expensive}

    def _price(self, point: Point, axes: Mapping[str, object], position: int) -> float:
        prices = self._study.prices
        if prices is None:
            raise AssertionError("a study that seeks the cheapest points has prices")
        return prices.price(axes, self._values[point.id][position])

    def _conclude(self, point: Point, evidence: Evidence, *, is_expensive: bool) -> None:
        self._results[point.id] = conclude(
            self._values[point.id], evidence, self._looks.counts[0], is_expensive=is_expensive
        )
