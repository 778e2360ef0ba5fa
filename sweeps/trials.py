"""The trials of a search: each is a point of the study, whose results lead to the next ones."""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from destage.errors import Issue, QueryError
from destage.store.analysis_schema import analysis_field
from destage.sweeps.axis_columns import find_type, fit, kind_of
from destage.sweeps.pareto_search import PRICE, Search, TrialPlanner, find_front
from destage.sweeps.points import Expansion, Point
from destage.sweeps.study import Study

DISKS = "array.disks"
Measure = Callable[[Point, str], float | None]
"""Returns the value of an objective at a point; None if it has none."""


class Trials:
    """The trials of a search, asked for batch by batch.

    Attributes:
        points: The point of each trial in order; None where its configuration is invalid.
    """

    def __init__(self, study: Study, search: Search, expansion: Expansion) -> None:
        self._study = study
        self._search = search
        self._expansion = expansion
        self._planner = TrialPlanner(search)
        self._last: list[Point | None] = []
        self.points: list[Point | None] = []

    def add(self, measure: Measure) -> bool:
        """Take the results of the last trials, and add the points of the next; return whether there are any."""
        if self._last:
            self._planner.tell([self._evaluate(point, measure) for point in self._last])
        batch = self._planner.ask()
        kept = self._meet_condition(batch)
        self._last = [
            self._expansion.add(trial) if is_kept else None
            for trial, is_kept in zip(batch, kept, strict=True)
        ]
        self.points += self._last
        return bool(batch)

    def tabulate(self, measure: Measure) -> pa.Table:
        """Return the trials: a row each, with its point, its objectives, and whether it is on the front."""
        goals = self._search.goals
        found = [self._evaluate(point, measure) for point in self.points]
        blank = [float("nan")] * len(goals)
        values = np.array([blank if one is None else one for one in found]).reshape(len(found), len(goals))
        columns: dict[str, pa.Array] = {
            "trial": pa.array(range(len(found)), pa.int64()),
            "batch": pa.array([trial // self._search.batch for trial in range(len(found))], pa.int64()),
            "point_id": pa.array([None if point is None else point.id for point in self.points], pa.string()),
        }
        for column, goal in enumerate(goals):
            columns[goal.name] = pa.array(values[:, column], from_pandas=True)
        columns["on_front"] = pa.array(find_front(values, goals))
        return pa.table(columns)

    def _evaluate(self, point: Point | None, measure: Measure) -> list[float] | None:
        """Return the objectives of a trial; None if one of them has no value."""
        if point is None:
            return None
        values = [
            self._find_price(point) if goal.name == PRICE else measure(point, goal.name)
            for goal in self._search.goals
        ]
        known = [value for value in values if value is not None]
        return known if len(known) == len(values) else None

    def _find_price(self, point: Point) -> float:
        assert self._study.prices is not None  # noqa: S101 - the study was checked
        disks = point.axes.get(DISKS, point.config["arrays"][0]["disks"])
        return self._study.prices.price(point.axes, int(disks))  # type: ignore[call-overload]

    def _meet_condition(self, batch: Sequence[dict[str, object]]) -> Sequence[bool]:
        """Return whether each trial meets the study's condition."""
        where = self._study.where
        if where is None or not batch:
            return [True] * len(batch)
        from destage import sql  # noqa: PLC0415 - loads duckdb, which only a condition needs

        columns = {}
        for path in batch[0]:
            values = [trial[path] for trial in batch]
            kind = find_type({kind_of(value) for value in values})
            columns[path] = pa.array([fit(value, kind) for value in values], kind)
        columns["position"] = pa.array(range(len(batch)))
        try:
            kept = set(sql.filter_rows(pa.table(columns), where)["position"].to_pylist())
        except QueryError as error:
            raise self._study.error([Issue("study.bad-sql", "where", error.message, where)]) from error
        return [position in kept for position in range(len(batch))]
