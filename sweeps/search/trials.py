"""The trials of a Pareto search: each is a point of the study, whose results lead to the next ones.

The trials of a batch depend on the seed and on the results of earlier batches alone: a session that is
resumed asks for the same trials again. Optuna has the samplers: NSGA-II (Deb et al. 2002, IEEE Transactions
on Evolutionary Computation 6, 182) and the multi-objective tree-structured Parzen estimator (Ozaki et al.
2022, JAIR 73, 1209).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from destage.extras import require
from destage.spec.axis_names import MAXIMIZE, MINIMIZE, name_axis
from destage.store.schemas.analysis_schema import TRIALS, UNIT_OF, analysis_column
from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.keys.search_key import PRICE, Goal, Search
from destage.sweeps.points.point import Expansion, Point
from destage.sweeps.points.point_results import PointResults
from destage.sweeps.search.added_points import meet_condition
from destage.sweeps.space.distributions import Choice, Continuous, Distribution, Steps
from destage.sweeps.study.valid_study import Study


class TrialPlanner:
    """Asks for the trials of a search, batch by batch: `ask`, then `tell` with their results."""

    def __init__(self, search: Search) -> None:
        """Start a search.

        Raises:
            UsageError: Optuna is not installed.
        """
        optuna = require("optuna")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._search = search
        self._failed = optuna.trial.TrialState.FAIL
        self._space = {path: _as_optuna(optuna, distribution) for path, distribution in search.axes.items()}
        if search.method == "tpe":
            sampler = optuna.samplers.TPESampler(seed=search.seed, multivariate=True, constant_liar=True)
        else:
            sampler = optuna.samplers.NSGAIISampler(population_size=search.batch, seed=search.seed)
        directions = [MAXIMIZE if goal.is_maximum else MINIMIZE for goal in search.goals]
        self._study = optuna.create_study(directions=directions, sampler=sampler)
        self._open: list[Any] = []
        self.asked = 0

    def ask(self) -> list[dict[str, object]]:
        """Return the assignments of the next trials by dotted path, none once all have been asked."""
        count = min(self._search.batch, self._search.trials - self.asked)
        self._open = [self._study.ask(self._space) for _ in range(count)]
        self.asked += count
        return [self._assignments(trial.params) for trial in self._open]

    def tell(self, values: Sequence[Sequence[float] | None]) -> None:
        """Give the values of the objectives of each trial of the last batch; None for an invalid one."""
        for trial, objectives in zip(self._open, values, strict=True):
            if objectives is None:
                self._study.tell(trial, state=self._failed)
            else:
                self._study.tell(trial, list(objectives))
        self._open = []

    def _assignments(self, params: Mapping[str, Any]) -> dict[str, object]:
        return {
            # Optuna keeps the position of a choice, whose values may be tables.
            path: _as_value(distribution, params[path])
            for path, distribution in self._search.axes.items()
        }


def find_front(values: np.ndarray, goals: Sequence[Goal]) -> np.ndarray:
    """Return whether each row is on the Pareto front: no other is as good in all and better in one.

    Args:
        values: One row per trial, one column per objective; a row with NaN is on no front.
    """
    signs = np.array([1.0 if goal.is_maximum else -1.0 for goal in goals])
    merits = values * signs
    has_values = ~np.isnan(merits).any(axis=1)
    on_front: np.ndarray = has_values.copy()
    for row in np.flatnonzero(has_values):
        others = merits[has_values]
        better = (others >= merits[row]).all(axis=1) & (others > merits[row]).any(axis=1)
        on_front[row] = not better.any()
    return on_front


def _as_optuna(optuna: Any, distribution: Distribution) -> Any:
    kinds = optuna.distributions
    if isinstance(distribution, Choice):
        return kinds.CategoricalDistribution(tuple(range(len(distribution.values))))
    if isinstance(distribution, Steps):
        low, high = distribution.low, distribution.high
        make = kinds.IntDistribution if distribution.is_whole else kinds.FloatDistribution
        # Optuna has no steps of a logarithm.
        return make(low, high, log=True) if distribution.is_log else make(low, high, step=distribution.step)
    if not isinstance(distribution, Continuous):
        raise TypeError(distribution)
    if distribution.is_whole:
        return kinds.IntDistribution(
            round(distribution.low), round(distribution.high), log=distribution.is_log
        )
    return kinds.FloatDistribution(distribution.low, distribution.high, log=distribution.is_log)


def _as_value(distribution: Distribution, value: Any) -> object:
    """Return the value of an axis that a parameter of Optuna stands for."""
    if isinstance(distribution, Choice):
        return distribution.values[value]
    if isinstance(distribution, Steps):
        return distribution.round(value)
    # The last digits differ between mathematical libraries.
    return value if isinstance(value, int) else float(f"{value:.12g}")


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
    def left(self) -> tuple[int, int]:
        """The number of trials that have not been asked for, expected and at most."""
        trials = self._search.trials - self._planner.asked
        return trials, trials

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
        rows = [self._list_values(point, results) for point in self.points]
        numbers = [[math.nan if value is None else value for value in row] for row in rows]
        values = np.array(numbers).reshape(len(rows), len(goals))
        columns = [
            pa.array(np.arange(len(rows))),
            pa.array(np.arange(len(rows)) // self._search.batch),
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
        measured = [value for value in values if value is not None]
        return measured if len(measured) == len(values) else None

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
