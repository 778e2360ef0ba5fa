"""The results of answered points, for what adds points by them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.points.point import Point
from destage.sweeps.seek.largest_search import PointResult
from destage.sweeps.seek.probes import BOUNDED

NO_LOAD = frozenset({"overloaded", "array_failed"})
"""The statuses of runs whose array cannot carry the load, or lost data."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The results of a run that planning and answers need.

    Attributes:
        values: Result columns by name.
    """

    status: str
    values: Mapping[str, float | None]


class PlannedRuns(Protocol):
    """The planned runs of points, and the facts of those that have ended."""

    facts: Mapping[str, Facts]

    def list_replicates(self, point: Point) -> Sequence[Mapping[int | None, str]]:
        """Return the runs of a point: of each replicate, the run of each value of the sought parameter."""
        ...


class PointResults:
    """The results of points whose runs have all ended."""

    def __init__(
        self, answer: str | None, runs: PlannedRuns, find_result: Callable[[Point], PointResult | None]
    ) -> None:
        """Read the results of points.

        Args:
            answer: The name of the answer of the study's seek, if it has one.
            find_result: Returns the result of a point's seek.
        """
        self._answer = answer
        self._runs = runs
        self._find_result = find_result

    def find_mean(self, point: Point, name: str) -> float | None:
        """Return the mean of a point over replicates: of its answer, or of a column at its answer.

        A bound stands for an answer beyond it. None if a run failed or has no value.

        Args:
            name: The answer of the seek, or a result column without its unit.
        """
        result = self._find_result(point)
        if name == self._answer:
            return None if result is None else result.interval.mean
        column = metric_columns()[name].name
        passing = None if result is None else result.passing
        replicates = self._runs.list_replicates(point)
        rows = self._runs.facts
        facts = [rows[run] for runs in replicates if (run := runs.get(passing)) is not None and run in rows]
        values = [row.values.get(column) for row in facts if row.status == "ok"]
        measured = [value for value in values if value is not None]
        return sum(measured) / len(measured) if measured and len(measured) == len(replicates) else None

    def list_figures(self, column: str | None, point: Point) -> list[float]:
        """Return the figure of each replicate of a point: its answer, or a result column of its runs.

        Nothing if the search is undecided, or the array cannot carry the load or lost data.
        """
        if column is None:
            result = self._find_result(point)
            results = () if result is None else result.replicates.values()
            return [
                outcome.value for outcome in results if outcome.state in BOUNDED and outcome.value is not None
            ]
        rows = self._runs.facts
        facts = [rows[run] for runs in self._runs.list_replicates(point) for run in runs.values()]
        if any(row.status in NO_LOAD for row in facts):
            return []
        values = [row.values.get(column) for row in facts if row.status == "ok"]
        return [value for value in values if value is not None]
