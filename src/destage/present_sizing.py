"""Whether a present array carries more: runs the sweeps behind `destage size --have`, and reads them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from destage.engine import normalise
from destage.errors import ConfigError, Issue
from destage.measured_systems.model_error import ModelError
from destage.queries import open_session
from destage.queries.findings.candidates import DISKS, JudgedArray, list_judged
from destage.queries.findings.caveats import (
    describe_error,
    describe_state_error,
    find_error,
    list_point_errors,
    list_unsteady_caches,
)
from destage.queries.findings.fit_text import Fit, JudgedChange, Reliance
from destage.spec.objective import NORMAL
from destage.sweeps import Outcome, Study
from destage.sweeps.sizing.present_array import PresentArray, is_valid
from destage.sweeps.sizing.single_changes import ORDER, Change, Considered, find_price, list_changes
from destage.sweeps.sizing.stored_data import measure_data
from destage.sweeps.sizing.weighed_arrays import find_odds

Run = Callable[[Study], Outcome]
"""Runs a study to its end, or raises an error."""


def check_array(
    array: PresentArray, considered: Considered, prices: Mapping[str, Any] | None, run: Run
) -> Fit:
    """Return whether an array carries its present load with an added one, and which change makes it.

    Args:
        considered: The parts and levels that may replace those of the array.
        prices: The price table by which the changes are ordered; None for how little they change.

    Raises:
        ConfigError: The request is invalid, the array does not hold the data of both loads, its disks fail
            anyway where a rebuild is asked about, or no run measures what an objective bounds.
    """
    cases, (shared, assumed) = array.list_states(), array.share()
    config = normalise(shared)  # which raises the mistakes of a load before anything runs
    present: list[JudgedArray] = []
    loaded: list[JudgedArray] = []
    stated: list[str] = []
    for case in cases:
        today_alone, _, unsteady = _judge(case, case.make_today(), run, shared)
        present += today_alone
        (more,), error, unsteady_with = _judge(case, case.make_added(shared), run, shared)
        if more.verdict == "not_measured":
            raise _as_error(case, more.binding)
        loaded.append(more)
        stated += [f"Present load: {sentence}" for sentence in unsteady]
        stated += [f"With the addition: {sentence}" for sentence in unsteady_with]
        stated += describe_state_error(case.state, error, is_always=more.is_always)
    today, added = _join(present), _join(loaded)
    remarks = [*stated, *assumed, *array.remarks]
    fit = Fit(config, today, added, remarks=remarks)
    if added.fits:
        return replace(
            fit, reliance=_measure_reliance(array, shared, {"present": ({}, added)}, run)["present"]
        )
    changes = list_changes(array.scenario, considered)
    possible = [change for change in changes if is_valid(shared, change.assignments)]
    simulated = [change for change in possible if array.is_large_enough(change.assignments)]
    more_disks = _judge_more_disks(cases, shared, run)
    judged = [] if more_disks is None else [(Change("disks", array.disk, {}), more_disks)]
    judged += _judge_changes(cases, shared, simulated, run)
    fitting = {
        change.label: ({**change.assignments, DISKS: one.disks}, one) for change, one in judged if one.fits
    }
    reliances = _measure_reliance(array, shared, fitting, run) if fitting else {}
    priced = [
        JudgedChange(
            change.kind,
            change.value,
            None if prices is None else find_price(change, one.disks, array.scenario, prices),
            one,
            array.measure_usable({**change.assignments, DISKS: one.disks}),
            reliances.get(change.label),
        )
        for change, one in judged
    ]
    priced.sort(key=lambda change: math.inf if change.price is None else change.price)
    errors = [sentence for one in reliances.values() for sentence in describe_error(one.error)]
    return replace(
        fit,
        remarks=list(dict.fromkeys([*stated, *errors, *remarks])),
        changes=priced if prices is not None else sorted(priced, key=_find_place),
        impossible=len(changes) - len(possible) + (more_disks is None),
        too_small=len(possible) - len(simulated),
        kept_bytes=array.kept_bytes,
        data_bytes=measure_data(shared["workload"]),
        currency=None if prices is None else prices["currency"],
    )


def _find_place(change: JudgedChange) -> int:
    return next(place for place, kind in enumerate(ORDER) if kind == change.kind)


def _measure_reliance(
    array: PresentArray,
    shared: Mapping[str, Any],
    met: Mapping[str, tuple[Mapping[str, Any], JudgedArray]],
    run: Run,
) -> dict[str, Reliance]:
    """Return how far the verdict on arrays that carry all loads is to be relied on, by label.

    Args:
        met: What each of them assigns, and its results.
    """
    study = array.make_capacities(shared, {label: assignments for label, (assignments, _) in met.items()})
    if study is None:
        return {label: Reliance(one.odds, None, None) for label, (_, one) in met.items()}
    users = study.scenario["workload"]["users"]
    with open_session(run(study).path) as session:
        answers = {row["label"]: row for row in session.sql("SELECT * FROM answers").to_pylist()}
        errors, metric = list_point_errors(session, users), session.answer
    reliances = {}
    for label, (_, one) in met.items():
        row = answers[label]
        # The search of the present number of disks has shown it; a fitted answer may be a little less.
        carried = max(1.0, (row[metric] or 0) / users)
        error = errors.get(row["point_id"])
        reliances[label] = Reliance(
            one.odds, error, carried, row["censored"] == "at_least", find_odds(error, [1.0], [carried])
        )
    return reliances


def _judge_more_disks(
    cases: Sequence[PresentArray], shared: Mapping[str, Any], run: Run
) -> JudgedArray | None:
    """Return the array with the fewest further disks that meet the objectives of all states.

    One that misses some has the most disks. None if the array can have no more.
    """
    found: dict[str, JudgedArray] = {}
    least = 0
    while waiting := [case for case in cases if case.state not in found]:
        study = waiting[0].make_more_disks(shared, least)
        if study is None:
            return None
        (one,), *_ = _judge(waiting[0], study, run, shared)
        # The other states had fewer disks.
        found = {**(found if one.disks == least else {}), one.state: one}
        least = one.disks
    return _join([found[case.state] for case in cases])


def _judge_changes(
    cases: Sequence[PresentArray], shared: Mapping[str, Any], changes: Sequence[Change], run: Run
) -> list[tuple[Change, JudgedArray]]:
    """Return changes with the array after them, in each state as long as it meets the objectives."""
    found: dict[str, list[JudgedArray]] = {change.label: [] for change in changes}
    for case in cases:
        left = [change for change in changes if all(one.is_met for one in found[change.label])]
        if not left:
            break
        assigned = [change.assignments for change in left]
        judged, *_ = _judge(case, case.make_changes(shared, left), run, shared, assigned)
        for change, one in zip(left, judged, strict=True):
            found[change.label].append(one)
    return [(change, _join(found[change.label])) for change in changes]


def _judge(
    case: PresentArray,
    study: Study,
    run: Run,
    shared: Mapping[str, Any],
    assigned: Sequence[Mapping[str, Any]] = ({},),
) -> tuple[list[JudgedArray], ModelError | str | None, list[str]]:
    """Return the judged points of a study of a state, the model's error in its runs, and what is not steady.

    Args:
        assigned: What each point assigns to the configuration with all loads.
    """
    with open_session(run(study).path) as session:
        judged, error = list_judged(session, study.found_seek.objectives, case.state), find_error(session)
        unsteady = list_unsteady_caches(session)
    pairs = zip(judged, assigned, strict=True)
    return [replace(one, is_always=case.is_always(shared, each)) for one, each in pairs], error, unsteady


def _join(states: Sequence[JudgedArray]) -> JudgedArray:
    """Return an array in normal operation, which comes first, with its states of failure."""
    return replace(states[0], states=tuple(states[1:]))


def _as_error(case: PresentArray, unmeasured: str | None) -> ConfigError:
    """Return the error of an objective that no run has a value for."""
    place = case.state
    if place == NORMAL:
        place = f"seek.subject_to.{list(case.objectives).index(unmeasured or '')}"
    return ConfigError([Issue("study.not-measured", place, "no run measures this result", unmeasured)])
