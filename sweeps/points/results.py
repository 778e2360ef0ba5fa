"""The results of answered points, for what adds points by them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.points.points import Point
from destage.sweeps.seek.probes import BOUNDED
from destage.sweeps.seek.search import PointResult
from destage.sweeps.study.study import Study

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


class PointResults:
    """The results of points whose runs have all ended."""

    def __init__(
        self,
        study: Study,
        rows: Mapping[str, Facts],
        find_result: Callable[[Point], PointResult | None],
        list_runs: Callable[[str], Sequence[Mapping[int | None, str]]],
    ) -> None:
        """Read the results of points.

        Args:
            rows: The facts of runs, by run id.
            find_result: Returns the result of a point's seek.
            list_runs: Returns the runs of a point by its id: of each replicate, the run of each probe.
        """
        self._metric = None if study.seek is None else study.seek.metric
        self._rows = rows
        self._find_result = find_result
        self._list_runs = list_runs

    def find_mean(self, point: Point, name: str) -> float | None:
        """Return the mean of a point over replicates: of its answer, or of a column at its answer.

        A bound stands for an answer beyond it. None if a run failed or has no value.

        Args:
            name: The answer of the seek, or a result column without its unit.
        """
        result = None if self._metric is None else self._find_result(point)
        if name == self._metric:
            return None if result is None else result.interval.mean
        column = metric_columns()[name].name
        at = None if result is None else result.passing
        replicates = self._list_runs(point.id)
        facts = [
            self._rows[run] for runs in replicates if (run := runs.get(at)) is not None and run in self._rows
        ]
        values = [one.values.get(column) for one in facts if one.status == "ok"]
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known and len(known) == len(replicates) else None

    def list_figures(self, column: str | None, point: Point) -> list[float]:
        """Return the figure of each replicate of a point: its answer, or a result column of its runs.

        Nothing if the search is undecided, or the array cannot carry the load or lost data.
        """
        if column is None:
            result = self._find_result(point)
            results = () if result is None else result.replicates.values()
            return [one.value for one in results if one.state in BOUNDED and one.value is not None]
        facts = [self._rows[run] for runs in self._list_runs(point.id) for run in runs.values()]
        if any(one.status in NO_LOAD for one in facts):
            return []
        values = [one.values.get(column) for one in facts if one.status == "ok"]
        return [value for value in values if value is not None]
