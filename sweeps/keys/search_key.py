"""The key `search` of a study: the objectives whose Pareto front is sought, and how."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from destage.errors import Issue
from destage.spec.axis_names import MAXIMIZE, MINIMIZE
from destage.spec.near_names import suggest
from destage.spec.typed_tables import key, read_table, table
from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.space.distributions import Choice, Distribution
from destage.sweeps.space.parameter_space import is_distribution

METHODS = ("nsga2", "tpe")
PRICE = "price"
"""The objective that prices of the study give."""
_COLUMN = "`price`, the answer such as `users_supported`, a result column without its unit, or an axis"


@table
class Goal:
    """One objective of a search: what is to be small, or what is to be large."""

    minimize: str | None = key(f"{_COLUMN}, which is to be small.", default=None)
    maximize: str | None = key(f"{_COLUMN}, which is to be large.", default=None)

    @property
    def name(self) -> str:
        """The answer of the seek, `price`, a result column without its unit, or the path of an axis."""
        return self.minimize or self.maximize or ""

    @property
    def is_maximum(self) -> bool:
        """Whether it is to be large."""
        return self.minimize is None


@table
class Search:
    """A search for the Pareto front.

    Attributes:
        axes: The distribution of each axis, by dotted path; weights of choices do not count.
    """

    goals: tuple[Annotated[Goal, {"minProperties": 1, "maxProperties": 1}], ...] = key(
        "What to minimize and what to maximize, such as `{minimize: price}`.",
        name="objectives",
        minItems=1,
        maxItems=4,
    )
    trials: int = key("The number of configurations to try.", minimum=1, maximum=100_000)
    batch: int = key(
        "The number of trials that run at the same time: a generation of NSGA-II.", minimum=2, default=16
    )
    method: str = key("The sampler.", enum=list(METHODS), default="nsga2")
    seed: int = key("The seed of the sampler.", minimum=0, default=1)
    axes: Mapping[str, Distribution]

    @property
    def columns(self) -> tuple[str, ...]:
        """The result columns that the objectives need."""
        return tuple(column.name for goal in self.goals if (column := metric_columns().get(goal.name)))


def read_search(
    document: Mapping[str, Any], sampled: Mapping[str, Distribution], answer: str | None
) -> tuple[Search, list[Issue]]:
    """Return the search of a document that fits the schema, and every mistake in it.

    Args:
        sampled: The axes with a distribution, by dotted path.
        answer: The name of the answer of the study's seek, if it has one.
    """
    search = read_table(Search, document["search"], axes=sampled)
    return search, [*_find_axis_mistakes(document, sampled), *_find_goal_mistakes(document, search, answer)]


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
    for path, distribution in sampled.items():
        if isinstance(distribution, Choice) and len(set(distribution.weights)) > 1:
            message = "a search does not use weights; write a list of the values"
            issues.append(Issue("study.no-effect", f"axes.{path}.choice", message))
    return issues


def _find_goal_mistakes(document: Mapping[str, Any], search: Search, answer: str | None) -> Iterator[Issue]:
    """Yield the mistakes in the objectives."""
    numbers = [path for path, distribution in search.axes.items() if distribution.is_ordered]
    results = [*([] if answer is None else [answer]), PRICE, *numbers, *sorted(metric_columns())]
    names = [goal.name for goal in search.goals]
    for index, (goal, name) in enumerate(zip(search.goals, names, strict=True)):
        place = f"search.objectives.{index}.{MAXIMIZE if goal.is_maximum else MINIMIZE}"
        if name == PRICE and "prices" not in document:
            yield Issue("study.no-price", place, "needs `prices` of the study", name)
        elif name not in results:
            message = f"not a result of this study{suggest(name, results)}"
            yield Issue("study.unknown-name", place, message, name)
        elif name in names[:index]:
            yield Issue("study.duplicate-name", place, "an earlier objective has this name", name)
