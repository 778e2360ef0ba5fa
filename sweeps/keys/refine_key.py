"""The key `refine` of a study: the axis whose knees get more values."""

from collections.abc import Mapping
from typing import Any

from destage.errors import Issue
from destage.spec.near_names import suggest
from destage.spec.typed_tables import key, read_table, table
from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.space.parameter_space import Space

FEWEST = 3
"""Values of a curve that has a knee."""


@table
class Refinement:
    """Add values of an axis around the knee of each curve of the grid."""

    axis: str = key("The axis along the curve, with a list of numbers, by dotted path.")
    metric: str = key(
        "The result of the curve: a result column without its unit (default: the answer of the seek).",
        name="of",
        optional=True,
    )
    rounds: int = key("How many times values are added.", minimum=1, maximum=20, default=2)

    @property
    def is_maximum(self) -> bool:
        """Whether more of it is better: it is the answer of the seek."""
        return self.metric not in metric_columns()

    @property
    def columns(self) -> tuple[str, ...]:
        """The result column that is refined; none if it is the answer."""
        column = metric_columns().get(self.metric)
        return () if column is None else (column.name,)


def read_refinement(
    document: Mapping[str, Any], space: Space, answer: str | None
) -> tuple[Refinement, list[Issue]]:
    """Return the refinement of a document that fits the schema, and every mistake in it.

    Args:
        answer: The name of the answer of the study's seek, if it has one.
    """
    refinement = read_table(Refinement, {"of": answer or "", **document["refine"]})
    issues = []
    axis, metric = refinement.axis, refinement.metric
    values = space.axes.get(axis, ())
    if axis not in space.axes:
        message = f"not an axis with a list of values{suggest(axis, list(space.axes))}"
        issues.append(Issue("study.unknown-name", "refine.axis", message, axis))
    elif len(values) < FEWEST or not all(map(is_number, values)):
        message = f"needs an axis of at least {FEWEST} numbers"
        issues.append(Issue("study.bad-axis", "refine.axis", message, axis))
    results = [*([] if answer is None else [answer]), *sorted(metric_columns())]
    if answer is None and "of" not in document["refine"]:
        issues.append(Issue("study.missing-key", "refine.of", "required without a seek"))
    elif metric not in results:
        message = f"not a result of this study{suggest(metric, results)}"
        issues.append(Issue("study.unknown-name", "refine.of", message, metric))
    if "minimize" in document.get("seek", {}):
        issues.append(Issue("study.one-of", "refine", "needs a seek with maximize, or none"))
    return refinement, issues


def is_number(value: object) -> bool:
    """Return whether a value of an axis is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
