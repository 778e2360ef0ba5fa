"""Refinement of a grid: more values of an axis around the knee of each curve, round by round.

The knee of a curve is the value at which it is furthest above the line between its ends, as in the query
`knee` (the rule of Satopää et al. 2011, "Finding a kneedle in a haystack", ICDCS workshops). Each round adds
the middle of the steps below and above it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from destage.errors import Issue
from destage.spec.schema_nodes import node, table
from destage.spec.validation import suggest
from destage.sweeps.added_points import Measure, meet_condition
from destage.sweeps.grid import Grid
from destage.sweeps.identity import canonical_text
from destage.sweeps.objectives import metric_columns
from destage.sweeps.parameters import find_parameter
from destage.sweeps.points import Expansion, Point
from destage.sweeps.space import Space
from destage.sweeps.study import Study

REFINE = table(
    "Add values of an axis around the knee of each curve of the grid.",
    {
        "axis": node("string", "The axis along the curve, with a list of numbers, by dotted path."),
        "of": node("string", "What is gained: the answer of the seek, or a result column without its unit."),
        "rounds": node("integer", "How many times values are added.", minimum=1, maximum=20, default=2),
    },
    "axis",
)
"""The schema of a study's refinement."""
_FEWEST = 3
"""Values of a curve that has a knee."""


@dataclass(frozen=True, slots=True)
class Refinement:
    """Which axis to refine.

    Attributes:
        metric: The answer of the seek, or a result column without its unit.
        is_maximum: Whether more of it is better.
    """

    axis: str
    metric: str
    rounds: int
    is_maximum: bool


def read_refinement(
    document: Mapping[str, Any], space: Space, answer: str | None
) -> tuple[Refinement | None, list[Issue]]:
    """Return the refinement of a document that fits the schema, and every mistake in it.

    Args:
        answer: The name of the answer of the study's seek, if it has one.
    """
    written = document.get("refine")
    if written is None:
        return None, []
    issues = []
    axis, metric = written["axis"], written.get("of", answer)
    values = space.axes.get(axis, ())
    if axis not in space.axes:
        message = f"not an axis with a list of values{suggest(axis, list(space.axes))}"
        issues.append(Issue("study.unknown-name", "refine.axis", message, axis))
    elif len(values) < _FEWEST or not all(map(_is_number, values)):
        message = f"needs an axis of at least {_FEWEST} numbers"
        issues.append(Issue("study.bad-axis", "refine.axis", message, axis))
    known = [*([] if answer is None else [answer]), *sorted(metric_columns())]
    if metric is None:
        issues.append(Issue("study.missing-key", "refine.of", "required without a seek"))
    elif metric not in known:
        message = f"not a result of this study{suggest(metric, known)}"
        issues.append(Issue("study.unknown-name", "refine.of", message, metric))
    if "minimize" in document.get("seek", {}):
        issues.append(Issue("study.one-of", "refine", "needs a seek with maximize, or none"))
    rounds = written.get("rounds", REFINE["properties"]["rounds"]["default"])
    return Refinement(axis, str(metric), rounds, metric == answer), issues


class RefinedGrid:
    """The grid of a study and the values that were added to it."""

    def __init__(self, study: Study, refinement: Refinement, expansion: Expansion) -> None:
        self._study = study
        self._refinement = refinement
        self._expansion = expansion
        self._is_whole = find_parameter(refinement.axis).is_integer
        self.left = refinement.rounds
        grid = Grid(study)
        by_id = {point.id: point for point in expansion.points}
        # By the other assignments: the points of a curve by the value of the axis.
        self._curves: dict[str, dict[float, Point]] = {}
        self._others: dict[str, dict[str, object]] = {}
        for block in grid.list_blocks():
            for position, identity in enumerate(grid.identify(block).to_pylist()):
                assigned = block.assigned(position)
                value = assigned.pop(refinement.axis, None)
                if not _is_number(value):
                    continue  # a condition leaves the axis out
                key = canonical_text(assigned)
                self._others[key] = assigned
                self._curves.setdefault(key, {})[float(str(value))] = by_id[identity]

    def add(self, measure: Measure) -> bool:
        """Add the points of the next round; return whether there are any."""
        if not self.left:
            return False
        self.left -= 1
        has_added = False
        for key, curve in self._curves.items():
            values = self._choose(curve, measure)
            trials = [{**self._others[key], self._refinement.axis: value} for value in values]
            for value, trial, is_kept in zip(values, trials, meet_condition(self._study, trials), strict=True):
                point = self._expansion.add(trial) if is_kept else None
                if point is not None:
                    curve[float(value)] = point
                    has_added = True
        return has_added

    def _choose(self, curve: Mapping[float, Point], measure: Measure) -> list[float]:
        """Return the values to add to a curve: the middles of the steps on both sides of its knee."""
        sign = 1.0 if self._refinement.is_maximum else -1.0
        found = [(value, measure(curve[value], self._refinement.metric)) for value in sorted(curve)]
        known = [(value, sign * merit) for value, merit in found if merit is not None]
        knee = find_knee(known)
        if knee is None:
            return []
        values = [value for value, _ in known]
        middles = [
            (values[at] + values[at + 1]) / 2 for at in (knee - 1, knee) if 0 <= at and at + 1 < len(values)
        ]
        if self._is_whole:
            middles = [int(middle) for middle in middles]
        return [middle for middle in middles if middle not in curve]


def find_knee(curve: Sequence[tuple[float, float]]) -> int | None:
    """Return the position at which a curve is furthest above the line between its ends.

    Args:
        curve: Values and merits, in the order of the values.

    Returns:
        None if there are fewer than three values, or the curve does not rise from end to end.
    """
    if len(curve) < _FEWEST:
        return None
    (first, low), (last, high) = curve[0], curve[-1]
    if high <= low:
        return None
    above = [(merit - low) / (high - low) - (value - first) / (last - first) for value, merit in curve]
    return max(range(len(above)), key=above.__getitem__)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
