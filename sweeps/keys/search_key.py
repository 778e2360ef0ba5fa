"""The key `search` of a study: the objectives whose Pareto front is sought, and how."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from destage.errors import Issue
from destage.spec.axis_names import MAXIMIZE, MINIMIZE
from destage.spec.schema_nodes import node, table
from destage.spec.validation import suggest
from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.space.distributions import Choice, Distribution, is_distribution

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

    @property
    def columns(self) -> tuple[str, ...]:
        """The result columns that the objectives need."""
        return tuple(found.name for goal in self.goals if (found := metric_columns().get(goal.name)))


def read_search(
    document: Mapping[str, Any], sampled: Mapping[str, Distribution], answer: str | None
) -> tuple[Search, list[Issue]]:
    """Return the search of a document that fits the schema, and every mistake in it.

    Args:
        sampled: The axes with a distribution, by dotted path.
        answer: The name of the answer of the study's seek, if it has one.
    """
    written = document["search"]
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
