"""Refinement of a grid: more values of an axis around the knee of each curve, round by round.

The knee of a curve is the value at which it is furthest above the line between its ends, as in the query
`knee` (the rule of Satopää et al. 2011, "Finding a kneedle in a haystack", ICDCS workshops). Each round adds
the middle of the steps below and above it.
"""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from destage import engine
from destage.sweeps.keys.refine_key import FEWEST, Refinement, is_number
from destage.sweeps.points.grid import Grid
from destage.sweeps.points.point import Expansion, Point
from destage.sweeps.points.point_results import PointResults
from destage.sweeps.search.added_points import meet_condition
from destage.sweeps.space.parameters import find_parameter
from destage.sweeps.study.valid_study import Study


class RefinedGrid:
    """The grid of a study and the values that were added to it."""

    def __init__(self, study: Study, refinement: Refinement, expansion: Expansion) -> None:
        self._study = study
        self._refinement = refinement
        self._expansion = expansion
        self._is_whole = find_parameter(refinement.axis).is_integer
        self._rounds_left = refinement.rounds
        grid = Grid(study)
        by_id = {point.id: point for point in expansion.points}
        # By the other assignments: the points of a curve by the value of the axis.
        self._curves: dict[str, dict[float, Point]] = {}
        self._others: dict[str, dict[str, object]] = {}
        for block in grid.list_blocks():
            for position, identity in enumerate(grid.identify(block).to_pylist()):
                assigned = block.assigned(position)
                value = assigned.pop(refinement.axis, None)
                if not is_number(value):
                    continue  # a condition leaves the axis out
                key = engine.canonical_text(assigned)
                self._others[key] = assigned
                self._curves.setdefault(key, {})[float(str(value))] = by_id[identity]

    @property
    def left(self) -> tuple[int, int]:
        """The points that are still to come, expected and at most: two a curve and round."""
        points = 2 * self._rounds_left * len(self._curves)
        return points, points

    def add(self, results: PointResults) -> bool:
        """Add the points of the next round; return whether there are any."""
        if not self._rounds_left:
            return False
        self._rounds_left -= 1
        has_added = False
        for key, curve in self._curves.items():
            values = self._choose(curve, results)
            trials = [{**self._others[key], self._refinement.axis: value} for value in values]
            for value, trial, is_kept in zip(
                values, trials, meet_condition(self._study, trials), strict=True
            ):
                point = self._expansion.add(trial) if is_kept else None
                if point is not None:
                    curve[float(value)] = point
                    has_added = True
        return has_added

    def tabulate(self, results: PointResults) -> dict[str, pa.Table]:
        """Return no table: the values that were added are points like the others."""
        del results
        return {}

    def _choose(self, curve: Mapping[float, Point], results: PointResults) -> list[float]:
        """Return the values to add to a curve: the middles of the steps on both sides of its knee."""
        sign = 1.0 if self._refinement.is_maximum else -1.0
        means = [(value, results.find_mean(curve[value], self._refinement.metric)) for value in sorted(curve)]
        measured = [(value, sign * merit) for value, merit in means if merit is not None]
        knee = find_knee(measured)
        if knee is None:
            return []
        values = [value for value, _ in measured]
        middles = [
            (values[index] + values[index + 1]) / 2
            for index in (knee - 1, knee)
            if index >= 0 and index + 1 < len(values)
        ]
        if self._is_whole:
            middles = [int(middle) for middle in middles]
        return [middle for middle in middles if middle not in curve]


def find_knee(curve: Sequence[tuple[float, float]]) -> int | None:
    """Return the position at which a curve is furthest above the line between its ends.

    Args:
        curve: Values and merits, in the order of the values.

    Returns:
        None if there are fewer than three values, or the curve does not rise from end to end, or nowhere
        above that line.
    """
    if len(curve) < FEWEST:
        return None
    (first, low), (last, high) = curve[0], curve[-1]
    if high <= low:
        return None
    above = [(merit - low) / (high - low) - (value - first) / (last - first) for value, merit in curve]
    knee = max(range(len(above)), key=above.__getitem__)
    return knee if above[knee] > 0 else None
