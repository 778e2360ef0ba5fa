"""Pareto search: which configurations to try next, so that the front of several objectives is found.

The trials of a batch depend on the seed and on the results of earlier batches alone: a session that is
resumed asks for the same trials again. Optuna has the samplers: NSGA-II (Deb et al. 2002, IEEE Transactions
on Evolutionary Computation 6, 182) and the multi-objective tree-structured Parzen estimator (Ozaki et al.
2022, JAIR 73, 1209).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from destage.errors import Issue
from destage.extras import require
from destage.spec.axis_names import MAXIMIZE, MINIMIZE
from destage.spec.schema_nodes import node, table
from destage.spec.validation import suggest
from destage.sweeps.distributions import Choice, Continuous, Distribution, Steps, is_distribution
from destage.sweeps.objectives import metric_columns

METHODS = ("nsga2", "tpe")
PRICE = "price"
"""The objective that prices of the study give."""
_COLUMN = "`price`, the answer such as `users_supported`, a result column without its unit, or an axis"
SEARCH = table(
    "Search the axes, each with a distribution, for the Pareto front of some objectives; without `design`.",
    {
        "objectives": node(
            "array",
            "What to minimize and what to maximize, such as `{minimize: price}`.",
            minItems=1,
            maxItems=4,
            items={
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "additionalProperties": False,
                "properties": {
                    goal: node("string", f"{_COLUMN}, which is to be {size}.")
                    for goal, size in {MINIMIZE: "small", MAXIMIZE: "large"}.items()
                },
            },
        ),
        "trials": node("integer", "The number of configurations to try.", minimum=1, maximum=100_000),
        "batch": node(
            "integer",
            "The number of trials that run at the same time: a generation of NSGA-II.",
            minimum=2,
            default=16,
        ),
        "method": node("string", "The sampler.", enum=list(METHODS), default="nsga2"),
        "seed": node("integer", "The seed of the sampler.", minimum=0, default=1),
    },
    "objectives",
    "trials",
)
"""The schema of a study's search."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One objective.

    Attributes:
        name: The answer of the seek, `price`, a result column without its unit, or the path of an axis.
        is_maximum: Whether it is to be large.
    """

    name: str
    is_maximum: bool


@dataclass(frozen=True, slots=True)
class Search:
    """A search for the Pareto front.

    Attributes:
        axes: The distribution of each axis, by dotted path; weights of choices do not count.
    """

    goals: tuple[Goal, ...]
    trials: int
    batch: int
    method: str
    seed: int
    axes: Mapping[str, Distribution]


def read_search(
    document: Mapping[str, Any], sampled: Mapping[str, Distribution], answer: str | None
) -> tuple[Search | None, list[Issue]]:
    """Return the search of a document that fits the schema, and every mistake in it.

    Args:
        sampled: The axes with a distribution, by dotted path.
        answer: The name of the answer of the study's seek, if it has one.
    """
    written = document.get("search")
    if written is None:
        return None, []
    goals, issues = _read_goals(document, sampled, answer)
    batch, method, seed = (
        written.get(key, SEARCH["properties"][key].get("default")) for key in ("batch", "method", "seed")
    )
    search = Search(tuple(goals), written["trials"], batch, method, seed, sampled)
    return search, [*_find_axis_mistakes(document, sampled), *issues]


def _find_axis_mistakes(document: Mapping[str, Any], sampled: Mapping[str, Distribution]) -> list[Issue]:
    """Return the mistakes of a study with a search in what it searches."""
    issues = []
    if "design" in document:
        issues.append(Issue("study.one-of", "search", "set either search or design, not both"))
    issues += [
        Issue("study.no-effect", key, "not used by a search, whose axes each have a distribution")
        for key in ("zip", "when", "derived")
        if key in document
    ]
    if "minimize" in document.get("seek", {}):
        issues.append(Issue("study.one-of", "search", "needs a seek with maximize, or none"))
    listed = [path for path, axis in document.get("axes", {}).items() if not is_distribution(axis)]
    if listed:
        message = "a search tries axes with a distribution only, such as choice"
        issues.append(Issue("study.bad-axis", f"axes.{listed[0]}", message))
    elif not document.get("axes"):
        issues.append(Issue("study.no-effect", "search", "no axis has a distribution"))
    for path, one in sampled.items():
        if isinstance(one, Choice) and len(set(one.weights)) > 1:
            message = "a search does not use weights; write a list of the values"
            issues.append(Issue("study.no-effect", f"axes.{path}.choice", message))
    return issues


def _read_goals(
    document: Mapping[str, Any], sampled: Mapping[str, Distribution], answer: str | None
) -> tuple[list[Goal], list[Issue]]:
    """Return the objectives, and the mistakes in them."""
    goals: list[Goal] = []
    issues = []
    numbers = [path for path, one in sampled.items() if one.is_ordered]
    known = [*([] if answer is None else [answer]), PRICE, *numbers, *sorted(metric_columns())]
    for index, objective in enumerate(document["search"]["objectives"]):
        ((goal, name),) = objective.items()
        place = f"search.objectives.{index}.{goal}"
        if name == PRICE and "prices" not in document:
            issues.append(Issue("study.no-price", place, "needs `prices` of the study", name))
        elif name not in known:
            message = f"not a result of this study{suggest(name, known)}"
            issues.append(Issue("study.unknown-name", place, message, name))
        elif name in [one.name for one in goals]:
            issues.append(Issue("study.duplicate-name", place, "an earlier objective has this name", name))
        goals.append(Goal(name, goal == MAXIMIZE))
    return goals, issues


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
