"""What searches for the largest and for the smallest value share.

The verdicts of runs, the answers with their certificates, and the warnings of points without an answer.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import pyarrow as pa

from destage.engine import limiting_resource
from destage.errors import Issue
from destage.store.state.answers import answers_schema, certificates_schema
from destage.sweeps.keys.seek_key import Seek
from destage.sweeps.points.point import Expansion, Point
from destage.sweeps.points.point_results import NO_LOAD, Facts
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.rounds.ledger import Ledger
from destage.sweeps.rounds.question import Question
from destage.sweeps.rounds.unanswered_texts import (
    explain_runs,
    explain_undecided,
    list_unsteady,
    make_warning,
)
from destage.sweeps.search.trials import DISKS, count_disks
from destage.sweeps.seek.largest_search import PointResult
from destage.sweeps.seek.probes import (
    BOUNDED,
    Probe,
    ProbeVerdict,
    ReplicateResult,
    SearchState,
    ValueVerdict,
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
        bounded = [*seek.objectives, *(one for limits in seek.limits.values() for one in limits)]
        return (*(objective.column for objective in bounded), *limiting_resource.columns_needed())

    def tabulate(self, expansion: Expansion) -> tuple[pa.Table, pa.Table]:
        """Return the answers, a row per point, and their certificates, a row per point and replicate."""
        answers, certificates = [], []
        for point in expansion.points:
            found = self.find_result(point)
            if found is None:
                continue
            above = [
                facts
                for replicate, one in found.replicates.items()
                if (one.state in _MISSES or found.failing_verdict is not None)
                and (facts := self._ledger.look(point, (replicate, one.failing))) is not None
            ]
            rest = {**expansion.axis_values(point), "price": _find_price(self._study, point, found)}
            answers.append(_answer(self._seek, self._study.replicates, point, found, above) | rest)
            certificates += [
                _certificate(point, replicate, one, self._ledger)
                for replicate, one in found.replicates.items()
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


def _answer(
    seek: Seek, target: Replicates, point: Point, found: PointResult, above: Sequence[Facts]
) -> dict[str, object]:
    """Return the answer of one point, from its search and the runs just above it."""
    states = Counter(one.state for one in found.replicates.values())
    values = [one.value for one in found.replicates.values() if one.state in BOUNDED]
    interval = found.interval
    # A bound in place of an unknown value has no valid spread.
    half_width = None if found.censored is not None else interval.half_width
    met = None if target.metric is None else found.censored is None and interval.is_within(target.relative)
    mean = interval.mean
    return {
        "point_id": point.id,
        "label": point.label,
        "metric": seek.metric,
        "answer_mean": mean,
        "answer_low": None if mean is None or half_width is None else mean - half_width,
        "answer_high": None if mean is None or half_width is None else mean + half_width,
        "answer_half_width": half_width,
        "passing": found.passing,
        "failing": found.failing,
        "failing_verdict": None if found.failing_verdict is None else found.failing_verdict.value,
        "n": interval.n,
        "answers": values,
        "censored": None if found.censored is None else found.censored.value,
        "monotone": found.monotone,
        "binding": _find_binding(seek, point.label, found, above),
        "limiting": _most_common([limiting_resource.limiting_resource(facts.values) for facts in above]),
        "interval_met": met,
        "undecided": states[SearchState.UNDECIDED],
        "failed": states[SearchState.FAILED],
    }


def _find_price(study: Study, point: Point, found: PointResult) -> float | None:
    """Return the price of a point at its answer [currency]; None without prices or an answer."""
    if study.prices is None or found.passing is None or found.censored is not None:
        return None
    disks = found.passing if study.sought == DISKS else count_disks(point)
    return study.prices.price(point.axes, disks)


def _certificate(point: Point, replicate: int, found: ReplicateResult, ledger: Ledger) -> dict[str, object]:
    passing, failing = (
        None if value is None else ledger.find(point, (replicate, value))
        for value in (found.passing, found.failing)
    )
    return {
        "point_id": point.id,
        "replicate": replicate,
        "n": found.value,
        "run_id_pass": passing,
        "run_id_fail": failing,
        "state": found.state.value,
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


def _find_binding(seek: Seek, label: str | None, found: PointResult, above: Sequence[Facts]) -> str | None:
    """Return the objective that most runs just above the answer miss.

    Of an undecided value whose runs all meet it, that is the objective nearest to its bound.
    """
    missed = _most_common([_binding(seek, label, facts) for facts in above])
    if missed is not None or found.failing_verdict is not ValueVerdict.UNDECIDED:
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
