"""Boxes of the parameter space: ranges of some axes, and how well they separate cases from other points.

Cases are the points where a statement holds. The patient rule induction method (PRIM) peels boxes of more and
more cases from all points [1]. Each step removes a small part of the points at one end of one axis, or one
value of an axis without order: of all such parts the one after which the share of cases rises by most per
removed point. Axes with many values lose a twentieth of the points at a step; an axis with few loses the
points of one value, so that the gain is taken per point [2]. Only the order of the values of an axis counts.
The boxes of all steps are the peeling trajectory.

[1] J. H. Friedman, N. I. Fisher, Bump hunting in high-dimensional data, Statistics and Computing 9 (1999)
    123-143.
[2] J. H. Kwakkel, M. Jaxa-Rozen, Improving scenario discovery for handling heterogeneous uncertainties and
    multinomial classified outcomes, Environmental Modelling & Software 79 (2016) 311-321.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from destage.store.schemas.axis_codes import AxisCodes


@dataclass(frozen=True)
class Box:
    """The points whose values are allowed on every axis.

    Attributes:
        is_case: By point, whether the statement holds.
        allowed: By axis, whether each of its values is allowed; of an ordered axis, these are neighbours.
    """

    axes: Sequence[AxisCodes]
    is_case: np.ndarray
    allowed: tuple[np.ndarray, ...]

    @cached_property
    def is_inside(self) -> np.ndarray:
        """By point, whether it is in the box."""
        return self.is_inside_without(None)

    def is_inside_without(self, axis: int | None) -> np.ndarray:
        """Return for each point whether it is in the box without the limits of one axis."""
        inside = np.ones(len(self.is_case), bool)
        for number, (axis_codes, allowed) in enumerate(zip(self.axes, self.allowed, strict=True)):
            if number != axis and not allowed.all():
                # No limit leaves out a point at which the axis has no effect.
                inside &= allowed[axis_codes.codes] | (axis_codes.codes < 0)
        return inside

    @cached_property
    def points(self) -> int:
        """The number of points inside."""
        return int(self.is_inside.sum())

    @cached_property
    def cases(self) -> int:
        """The number of cases inside."""
        return int((self.is_inside & self.is_case).sum())

    @property
    def density(self) -> float:
        """The share of the points inside that are cases."""
        return self.cases / self.points if self.points else 0.0

    @property
    def coverage(self) -> float:
        """The share of all cases that are inside."""
        every = int(self.is_case.sum())
        return self.cases / every if every else 0.0

    @property
    def mass(self) -> float:
        """The share of all points that are inside."""
        return self.points / len(self.is_case)

    @property
    def f_measure(self) -> float:
        """The harmonic mean of coverage and density."""
        both = self.coverage + self.density
        return 2 * self.coverage * self.density / both if both else 0.0

    @property
    def restricted(self) -> list[int]:
        """The numbers of the axes of which some values are not allowed."""
        return [number for number, allowed in enumerate(self.allowed) if not allowed.all()]

    def count_values(self, axis: int, inside: np.ndarray) -> np.ndarray:
        """Return the number of some points at each value of an axis."""
        codes = self.axes[axis].codes[inside]
        return np.bincount(codes[codes >= 0], minlength=self.axes[axis].count)

    def replace(self, axis: int, allowed: np.ndarray) -> "Box":
        """Return the box with other values allowed on one axis."""
        return Box(self.axes, self.is_case, (*self.allowed[:axis], allowed, *self.allowed[axis + 1 :]))


def whole_box(axes: Sequence[AxisCodes], is_case: np.ndarray) -> Box:
    """Return the box of all points."""
    return Box(axes, is_case, tuple(np.ones(axis.count, bool) for axis in axes))


PEELED = 0.05
"""Share of the points in a box that a step removes from an axis with many values."""
LEAST_MASS = 0.05
LEAST_POINTS = 5
"""Share and number of points that a box keeps."""


def peel(box: Box) -> list[Box]:
    """Return the peeling trajectory, which begins with the given box."""
    trajectory = [box]
    least = max(LEAST_POINTS, round(LEAST_MASS * len(box.is_case)))
    while box.density < 1:
        smaller = [peeled for peeled in _list_peeled(box) if least <= peeled.points < box.points]
        if not smaller:
            break
        density, points = box.density, box.points
        box = max(
            smaller, key=lambda peeled: ((peeled.density - density) / (points - peeled.points), peeled.points)
        )
        trajectory.append(box)
    return trajectory


def list_expanded(box: Box) -> Iterator[Box]:
    """Yield the boxes that one limit less, or a limit further out, makes of a box."""
    for axis in box.restricted:
        allowed, axis_codes = box.allowed[axis], box.axes[axis]
        yield box.replace(axis, np.ones_like(allowed))
        if not axis_codes.is_ordered:
            for code in np.flatnonzero(~allowed):
                yield box.replace(axis, allowed | (np.arange(axis_codes.count) == code))
            continue
        low, high = _ends(allowed)
        counts = box.count_values(axis, box.is_inside_without(axis))
        step = max(1, int(PEELED * box.points))
        places = np.arange(axis_codes.count)
        below = np.cumsum(counts[:low][::-1])
        if below.size and below[-1]:
            further = low - 1 - int(np.searchsorted(below, min(step, below[-1])))
            yield box.replace(axis, allowed | ((places >= further) & (places < low)))
        above = np.cumsum(counts[high + 1 :])
        if above.size and above[-1]:
            further = high + 1 + int(np.searchsorted(above, min(step, above[-1])))
            yield box.replace(axis, allowed | ((places <= further) & (places > high)))


def _list_peeled(box: Box) -> Iterator[Box]:
    """Yield the boxes that one step makes of a box."""
    step = max(1, int(PEELED * box.points))
    for axis, (axis_codes, allowed) in enumerate(zip(box.axes, box.allowed, strict=True)):
        counts = box.count_values(axis, box.is_inside)
        present = np.flatnonzero(counts)
        if len(present) <= 1:
            continue
        places = np.arange(axis_codes.count)
        if not axis_codes.is_ordered:
            for code in present:
                yield box.replace(axis, allowed & (places != code))
            continue
        # At least one value, and as many as have the points of a step together.
        below = np.cumsum(counts[present])
        first = max(1, int(np.searchsorted(below, step, side="right")))
        yield box.replace(axis, allowed & (places >= present[first]))
        above = np.cumsum(counts[present][::-1])
        last = max(1, int(np.searchsorted(above, step, side="right")))
        yield box.replace(axis, allowed & (places <= present[::-1][last]))


def _ends(allowed: np.ndarray) -> tuple[int, int]:
    codes = np.flatnonzero(allowed)
    return int(codes[0]), int(codes[-1])
