"""Warnings of points without an answer: the point, the cause, and the setting to change."""

from collections.abc import Sequence
from math import ceil

from destage.errors import Issue
from destage.spec import quantities
from destage.spec.objective import Objective
from destage.sweeps.points.point import Point
from destage.sweeps.points.point_results import Facts
from destage.sweeps.rounds.finished_runs import NEEDED
from destage.sweeps.seek.largest_search import PointResult
from destage.sweeps.space import parameters

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
