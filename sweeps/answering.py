"""From searches to answers: per point the mean, its interval, what binds, what limits, the certificates."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa

from destage.engine import limiting
from destage.store.answers import answers_schema, certificates_schema
from destage.sweeps.bracket import Found, State
from destage.sweeps.intervals import t_interval
from destage.sweeps.points import Expansion, Point
from destage.sweeps.rounds import Facts, Rounds
from destage.sweeps.study import Replicates, Seek, Study


def columns_needed(seek: Seek | None) -> tuple[str, ...]:
    """Return the result columns that answering needs beside a run's status.

    Args:
        seek: What is sought, if anything.
    """
    if seek is None:
        return ("events",)
    objectives = [objective.column for objective in seek.objectives]
    return tuple(dict.fromkeys(["events", *objectives, *limiting.columns_needed()]))


def answer_tables(
    study: Study, expansion: Expansion, rounds: Rounds, rows: Mapping[str, Facts]
) -> tuple[pa.Table, pa.Table]:
    """Return the answers and their certificates.

    Args:
        study: A study that seeks something.
        expansion: Its points.
        rounds: Its rounds, planned to the end.
        rows: The facts of all runs.

    Returns:
        One row per point, and one row per point and replicate.
    """
    if study.seek is None:
        raise AssertionError("only a study that seeks something has answers")
    answers, certificates = [], []
    for point in expansion.points:
        found = rounds.found(point, rows)
        axes = expansion.axis_values(point)
        above = [
            rows[run]
            for replicate, one in found.items()
            if one.state in {State.CERTIFIED, State.BELOW}
            and one.value is not None
            and (run := rounds.run_of(point, replicate, one.value + 1)) is not None
        ]
        answers.append(_answer(study.seek, study.replicates, point, found, above) | axes)
        certificates += [
            _certificate(study.seek, point, replicate, one, rounds) for replicate, one in found.items()
        ]
    return (
        pa.Table.from_pylist(answers, schema=answers_schema(list(expansion.fields))),
        pa.Table.from_pylist(certificates, schema=certificates_schema()),
    )


def _answer(
    seek: Seek, target: Replicates, point: Point, found: Mapping[int, Found], above: Sequence[Facts]
) -> dict[str, object]:
    """Return the answer of one point, from its searches and from the runs just above their values."""
    states = Counter(one.state for one in found.values())
    bounded = (State.CERTIFIED, State.AT_LEAST, State.BELOW)
    values = [one.value for one in found.values() if one.state in bounded and one.value is not None]
    interval = t_interval(values)
    censored = next((state.value for state in (State.AT_LEAST, State.BELOW) if states[state]), None)
    # A bound that stands in for an unknown value gives no honest spread.
    half_width = None if censored is not None else interval.half_width
    met = None if target.metric is None else censored is None and interval.is_within(target.relative)
    mean = interval.mean
    return {
        "point_id": point.id,
        "label": point.label,
        "metric": seek.metric,
        "answer_mean": mean,
        "answer_low": None if mean is None or half_width is None else mean - half_width,
        "answer_high": None if mean is None or half_width is None else mean + half_width,
        "answer_half_width": half_width,
        "n": interval.n,
        "answers": values,
        "censored": censored,
        "monotone": all(one.monotone for one in found.values()),
        "binding": _most_common([_binding(seek, facts) for facts in above]),
        "limiting": _most_common([limiting.limiting_resource(facts.values) for facts in above]),
        "interval_met": met,
        "undecided": states[State.UNDECIDED],
        "failed": states[State.FAILED],
    }


def _certificate(seek: Seek, point: Point, replicate: int, found: Found, rounds: Rounds) -> dict[str, object]:
    value = found.value
    return {
        "point_id": point.id,
        "replicate": replicate,
        "n": value,
        "run_id_pass": None
        if value is None or value < seek.least
        else rounds.run_of(point, replicate, value),
        "run_id_fail": None
        if value is None or value >= seek.most
        else rounds.run_of(point, replicate, value + 1),
        "state": found.state.value,
    }


def _binding(seek: Seek, facts: Facts) -> str | None:
    """Return the objective that a run misses by most, or the status that stands in for one."""
    if facts.status != "ok":
        return facts.status
    missed = [
        (objective.violation(value), objective.text)
        for objective in seek.objectives
        if (value := facts.values.get(objective.column)) is not None and not objective.is_met(value)
    ]
    return max(missed)[1] if missed else None


def _most_common(names: list[str | None]) -> str | None:
    counted = Counter(name for name in names if name is not None)
    return min(counted, key=lambda name: (-counted[name], name)) if counted else None
