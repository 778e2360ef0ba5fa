"""Whether a present array carries more: runs the sweeps behind `destage size --have`, and reads them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from destage.engine import normalise
from destage.errors import ConfigError, Issue
from destage.measured_systems.model_error import ModelError
from destage.queries import open_session
from destage.queries.findings.candidates import DISKS, JudgedArray, list_judged
from destage.queries.findings.caveats import describe_error, find_error, list_point_errors
from destage.queries.findings.fit_text import Fit, JudgedChange, Reliance
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
        ConfigError: The request is invalid, the array does not hold the data of both loads, or no run
            measures what an objective bounds.
    """
    shared, assumed = array.share()
    (today,), _ = _judge(array.make_today(), run)
    (added,), error = _judge(array.make_added(shared), run)
    if added.verdict == "not_measured":
        place = f"seek.subject_to.{list(array.objectives).index(added.binding or '')}"
        raise ConfigError([Issue("study.not-measured", place, "no run measures this result", added.binding)])
    remarks = [*describe_error(error), *assumed, *array.remarks]
    fit = Fit(normalise(shared), today, added, remarks=remarks)
    if added.is_met:
        return replace(
            fit, reliance=_measure_reliance(array, shared, {"present": ({}, added)}, run)["present"]
        )
    changes = list_changes(array.scenario, considered)
    possible = [change for change in changes if is_valid(shared, change.assignments)]
    simulated = [change for change in possible if array.is_large_enough(change.assignments)]
    judged: list[tuple[Change, JudgedArray]] = []
    more = array.make_more_disks(shared)
    if more is not None:
        disk = Change("disks", array.disk, {})
        judged += [(disk, found) for found in _judge(more, run)[0]]
    if simulated:
        named = {change.label: change for change in simulated}
        found = _judge(array.make_changes(shared, simulated), run)[0]
        judged += [(named[one.label or ""], one) for one in found]
    fitting = {
        change.label: ({**change.assignments, DISKS: one.disks}, one) for change, one in judged if one.is_met
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
        remarks=list(dict.fromkeys([*describe_error(error), *errors, *remarks])),
        changes=priced if prices is not None else sorted(priced, key=_find_place),
        impossible=len(changes) - len(possible) + (more is None),
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


def _judge(study: Study, run: Run) -> tuple[list[JudgedArray], ModelError | str | None]:
    """Return the judged points of a study, and the model's error in its runs."""
    with open_session(run(study).path) as session:
        return list_judged(session, study.found_seek.objectives), find_error(session)
