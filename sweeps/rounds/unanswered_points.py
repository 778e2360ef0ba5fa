"""Points without an answer: the points, the cause, and the setting to change."""

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np

from destage.errors import Issue
from destage.spec import quantities
from destage.spec.objective import Objective
from destage.sweeps.points.points import Expansion, Point
from destage.sweeps.points.results import Facts
from destage.sweeps.rounds.finished_runs import NEEDED, FinishedRuns
from destage.sweeps.rounds.planner import Planner
from destage.sweeps.seek.probes import SearchState
from destage.sweeps.seek.search import PointResult
from destage.sweeps.space import parameters
from destage.sweeps.study.study import Study

_UNSTEADY = "not_stationary"


def find_unanswered(
    study: Study, expansion: Expansion, planner: Planner, finished: FinishedRuns
) -> list[Issue]:
    """Return a warning for each point without an answer, in the order of the points.

    Without a seek that is a point without a run of status `ok` and with one that is `not_stationary`: an
    overloaded or failed array is a result. With a seek it is a point all of whose searches are undecided: by
    a run that is `not_stationary` or has no value of a bounded column, or because replicates scatter.

    Args:
        planner: Its planner, after the last round.
        finished: All planned runs.
    """
    if not study.is_adaptive:
        return list(_find_in_grid(expansion, finished))
    issues, rows = [], finished.facts
    for point in expansion.points:
        runs = [rows[run] for run in planner.list_runs(point)]
        unsteady = [facts for facts in runs if facts.status == _UNSTEADY]
        if study.seek is None:
            if unsteady and all(facts.status != "ok" for facts in runs):
                issues.append(_issue(point, unsteady))
            continue
        result = planner.find_result(point, rows)
        is_undecided = result is None or {one.state for one in result.replicates.values()} <= {
            SearchState.UNDECIDED
        }
        if is_undecided and unsteady:
            issues.append(_issue(point, unsteady))
        elif is_undecided and result is not None:
            objectives = study.seek.objectives_of(point.label)
            issues.append(
                Issue("sweep.unanswered", _name(point), _explain_undecided(result, objectives, runs))
            )
    return issues


def _find_in_grid(expansion: Expansion, finished: FinishedRuns) -> Iterator[Issue]:
    """Yield the warnings of a study whose points have a fixed number of runs."""
    for block in expansion.blocks:
        numbers = finished.find(block.pack_run_ids()).reshape(len(block), block.replicates)
        unsteady = finished.have_status(numbers, _UNSTEADY)
        unanswered = unsteady.any(axis=1) & ~finished.have_status(numbers, "ok").any(axis=1)
        positions = np.flatnonzero(unanswered)
        if not len(positions):
            continue
        for point, position in zip(expansion.list_points(block.take(positions)), positions, strict=True):
            needed = finished.needed_requests(numbers[position][unsteady[position]])
            message = explain_unsteady(needed[~np.isnan(needed)].tolist())
            yield Issue("sweep.unanswered", _name(point), message)


def _issue(point: Point, unsteady: Sequence[Facts]) -> Issue:
    needed = [value for facts in unsteady if (value := facts.values.get(NEEDED)) is not None]
    return Issue("sweep.unanswered", _name(point), explain_unsteady(needed))


def _explain_undecided(result: PointResult, objectives: Sequence[Objective], runs: Sequence[Facts]) -> str:
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
