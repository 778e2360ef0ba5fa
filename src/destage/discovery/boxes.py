"""Boxes: ranges of some axes, and how well they separate the points where a statement holds (cases)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from destage.store.schemas.axis_codes import AxisCodes


@dataclass(frozen=True)
class Box:
    """The points whose values are allowed on every axis.

    Attributes:
        axes: The axes.
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
        for at, (one, allowed) in enumerate(zip(self.axes, self.allowed, strict=True)):
            if at != axis and not allowed.all():
                # No limit leaves out a point at which the axis has no effect.
                inside &= allowed[one.codes] | (one.codes < 0)
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
        return [at for at, allowed in enumerate(self.allowed) if not allowed.all()]

    def count_values(self, axis: int, inside: np.ndarray) -> np.ndarray:
        """Return the number of some points at each value of an axis."""
        codes = self.axes[axis].codes[inside]
        return np.bincount(codes[codes >= 0], minlength=self.axes[axis].count)

    def replace(self, axis: int, allowed: np.ndarray) -> "Box":
        """Return the box with other values allowed on one axis."""
        return Box(self.axes, self.is_case, (*self.allowed[:axis], allowed, *self.allowed[axis + 1 :]))


def whole_box(axes: Sequence[AxisCodes], is_case: np.ndarray) -> Box:
    """Return the box of all points."""
    return Box(axes, is_case, tuple(np.ones(one.count, bool) for one in axes))
