"""The answers of a seek: per point the mean, its interval, the binding objective, and the certificates."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa

from destage.engine import limiting_resource
from destage.store.answers import answers_schema, certificates_schema
from destage.sweeps.keys.seek import Seek
from destage.sweeps.points.points import Expansion, Point
from destage.sweeps.points.results import Facts
from destage.sweeps.rounds.ledger import Ledger
from destage.sweeps.search.trials import DISKS, count_disks
from destage.sweeps.seek.probes import BOUNDED, ReplicateResult, SearchState, ValueVerdict
from destage.sweeps.seek.search import PointResult
from destage.sweeps.study.study import Replicates, Study

_MISSES = (SearchState.CERTIFIED, SearchState.BELOW, SearchState.ABOVE, SearchState.MORE_EXPENSIVE)
"""The states with a run next to the answer that misses an objective."""


def make_answer_tables(
    study: Study, expansion: Expansion, results: Mapping[str, PointResult], ledger: Ledger
) -> tuple[pa.Table, pa.Table]:
    """Return the answers, a row per point, and their certificates, a row per point and replicate.

    Args:
        study: A study with a seek.
        results: The result of each point whose search has ended, by its id.
    """
    answers, certificates = [], []
    for point in expansion.points:
        found = results.get(point.id)
        if found is None:
            continue
        above = [
            facts
            for replicate, one in found.replicates.items()
            if (one.state in _MISSES or found.failing_verdict is not None)
            and (facts := ledger.look(point, (replicate, one.failing))) is not None
        ]
        axes = expansion.axis_values(point)
        price = _find_price(study, point, found)
        answers.append(
            _answer(study.found_seek, study.replicates, point, found, above) | axes | {"price": price}
        )
        certificates += [
            _certificate(point, replicate, one, ledger) for replicate, one in found.replicates.items()
        ]
    return (
        pa.Table.from_pylist(answers, schema=answers_schema(list(expansion.fields))),
        pa.Table.from_pylist(certificates, schema=certificates_schema()),
    )


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
