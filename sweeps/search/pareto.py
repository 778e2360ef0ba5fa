"""Pareto search: which configurations to try next, so that the front of several objectives is found.

The trials of a batch depend on the seed and on the results of earlier batches alone: a session that is
resumed asks for the same trials again. Optuna has the samplers: NSGA-II (Deb et al. 2002, IEEE Transactions
on Evolutionary Computation 6, 182) and the multi-objective tree-structured Parzen estimator (Ozaki et al.
2022, JAIR 73, 1209).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from destage.extras import require
from destage.spec.axis_names import MAXIMIZE, MINIMIZE
from destage.sweeps.keys.search_key import Goal, Search
from destage.sweeps.space.distributions import Choice, Continuous, Distribution, Steps


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
        self._space = {path: _as_optuna(optuna, one) for path, one in search.axes.items()}
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
        for trial, found in zip(self._open, values, strict=True):
            if found is None:
                self._study.tell(trial, state=self._failed)
            else:
                self._study.tell(trial, list(found))
        self._open = []

    def _assignments(self, params: Mapping[str, Any]) -> dict[str, object]:
        return {
            # Optuna keeps the position of a choice, whose values may be tables.
            path: _as_value(one, params[path])
            for path, one in self._search.axes.items()
        }


def find_front(values: np.ndarray, goals: Sequence[Goal]) -> np.ndarray:
    """Return whether each row is on the Pareto front: no other is as good in all and better in one.

    Args:
        values: One row per trial, one column per objective; a row with NaN is on no front.
    """
    signs = np.array([1.0 if goal.is_maximum else -1.0 for goal in goals])
    merits = values * signs
    known = ~np.isnan(merits).any(axis=1)
    on_front: np.ndarray = known.copy()
    for row in np.flatnonzero(known):
        others = merits[known]
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
