"""Points without an answer: which they are, why, and the setting that mends it."""

from collections.abc import Mapping
from math import ceil

from destage.errors import Issue
from destage.spec import quantities
from destage.sweeps import parameters
from destage.sweeps.planner import Facts, Planner
from destage.sweeps.points import Expansion, Point
from destage.sweeps.seek_search import SearchState
from destage.sweeps.study import Study

NEEDED = "requests_needed"
"""The result column with the `max_requests` that a run without a steady state needs."""


def find_unanswered(
    study: Study, expansion: Expansion, planner: Planner, rows: Mapping[str, Facts]
) -> list[Issue]:
    """Return a warning for each point without an answer, in the order of the points.

    Without a seek that is a point without a run of status `ok` and with one that is `not_stationary`: an
    overloaded or failed array is a result. With a seek it is a point all of whose searches are undecided.

    Args:
        study: The study.
        expansion: Its points.
        planner: Its planner, after the last round.
        rows: The facts of all runs.
    """
    issues = []
    for point in expansion.points:
        runs = [rows[run] for run in planner.list_runs(point)]
        unsteady = [facts for facts in runs if facts.status == "not_stationary"]
        if unsteady and _is_unanswered(study, planner, point, rows, runs):
            issues.append(Issue("sweep.unanswered", _name(point), _explain(unsteady)))
    return issues


def _name(point: Point) -> str:
    """Return a point's label, or the values of its axes."""
    return point.label or ", ".join(f"{path} {_format(path, value)}" for path, value in point.axes.items())


def _format(path: str, value: object) -> str:
    unit = parameters.find_parameter(path).unit
    if unit is None or not isinstance(value, int | float):
        return str(value)
    return quantities.render(value, unit)


def _is_unanswered(
    study: Study, planner: Planner, point: Point, rows: Mapping[str, Facts], runs: list[Facts]
) -> bool:
    if study.seek is None:
        return all(facts.status != "ok" for facts in runs)
    states = {one.state for one in planner.find_results(point, rows).values()}
    return states <= {SearchState.UNDECIDED}


def _explain(unsteady: list[Facts]) -> str:
    needed = [value for facts in unsteady if (value := facts.values.get(NEEDED)) is not None]
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
