"""The trials of a search: each is a point of the study, whose results lead to the next ones."""

import math

import numpy as np
import pyarrow as pa

from destage.spec.axis_names import name_axis
from destage.store.schemas.analysis_schema import UNIT_OF, analysis_column
from destage.store.schemas.trial_table import TRIALS
from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.keys.search_key import PRICE, Goal, Search
from destage.sweeps.points.point import Expansion, Point
from destage.sweeps.points.point_results import PointResults
from destage.sweeps.search.added_points import meet_condition
from destage.sweeps.search.pareto import TrialPlanner, find_front
from destage.sweeps.study.valid_study import Study

DISKS = "array.disks"


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

    @property
    def left(self) -> int:
        """The number of trials that have not been asked for."""
        return self._search.trials - self._planner.asked

    def add(self, results: PointResults) -> bool:
        """Take the results of the last trials and add the points of the next, if there are any."""
        if self._last:
            self._planner.tell([self._evaluate(point, results) for point in self._last])
        batch = self._planner.ask()
        kept = meet_condition(self._study, batch)
        self._last = [
            self._expansion.add(trial) if is_kept else None
            for trial, is_kept in zip(batch, kept, strict=True)
        ]
        self.points += self._last
        return bool(batch)

    def tabulate(self, results: PointResults) -> dict[str, pa.Table]:
        """Return the table `trials`: their points, objectives, and whether they are on the front."""
        goals = self._search.goals
        found = [self._list_values(point, results) for point in self.points]
        known = [[math.nan if value is None else value for value in one] for one in found]
        values = np.array(known).reshape(len(found), len(goals))
        columns = [
            pa.array(np.arange(len(found))),
            pa.array(np.arange(len(found)) // self._search.batch),
            pa.array([None if point is None else point.id for point in self.points], pa.string()),
            *(pa.array(values[:, column], from_pandas=True) for column in range(len(goals))),
            pa.array(find_front(values, goals)),
        ]
        return {"trials": pa.table(columns, schema=self._schema())}

    def _schema(self) -> pa.Schema:
        numbers = [analysis_column(*self._describe(goal)) for goal in self._search.goals]
        *leading, last = TRIALS
        return pa.schema([*leading, *numbers, last], metadata=TRIALS.metadata)

    def _describe(self, goal: Goal) -> tuple[str, pa.DataType, str, str | None]:
        """Return the name of an objective's column, its type, meaning and unit."""
        size = "large" if goal.is_maximum else "small"
        if goal.name == PRICE:
            unit = None if self._study.prices is None else self._study.prices.currency
            return PRICE, pa.float64(), f"The price of the configuration, to be {size}.", unit
        if goal.name in metric_columns():
            column = metric_columns()[goal.name]
            return column.name, pa.float64(), f"Mean over replicates, to be {size}.", column.unit
        if goal.name in self._search.axes:
            return name_axis(goal.name), pa.float64(), f"The axis, to be {size}.", f"{UNIT_OF}{goal.name}"
        return goal.name, pa.float64(), f"The answer of the seek, to be {size}.", None

    def _evaluate(self, point: Point | None, results: PointResults) -> list[float] | None:
        """Return the objectives of a trial; None if one of them has no value."""
        values = self._list_values(point, results)
        known = [value for value in values if value is not None]
        return known if len(known) == len(values) else None

    def _list_values(self, point: Point | None, results: PointResults) -> list[float | None]:
        """Return the objectives of a trial, each None if it has no value."""
        goals = self._search.goals
        return [None if point is None else self._find(point, goal.name, results) for goal in goals]

    def _find(self, point: Point, name: str, results: PointResults) -> float | None:
        """Return the value of one objective."""
        if name == PRICE:
            return self._find_price(point)
        if name in self._search.axes:
            return float(str(point.axes[name]))
        return results.find_mean(point, name)

    def _find_price(self, point: Point) -> float:
        assert self._study.prices is not None  # noqa: S101 - the study was checked
        return self._study.prices.price(point.axes, count_disks(point))


def count_disks(point: Point) -> int:
    """Return the number of disks in the arrays of a point."""
    return sum(array["disks"] for array in point.config["arrays"])
