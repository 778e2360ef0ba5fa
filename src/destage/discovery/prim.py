"""The patient rule induction method (PRIM): boxes of more and more cases, peeled from all points.

Each step removes a small part of the points at one end of one axis, or one value of an axis without order: of
all such parts the one after which the share of cases rises by most per removed point. Axes with many values
lose a twentieth of the points at a step; an axis with few loses the points of one value, so that the gain is
taken per point [2]. Only the order of the values of an axis counts. The boxes of all steps are the peeling
trajectory.

[1] J. H. Friedman, N. I. Fisher, Bump hunting in high-dimensional data, Statistics and Computing 9 (1999)
    123-143.
[2] J. H. Kwakkel, M. Jaxa-Rozen, Improving scenario discovery for handling heterogeneous uncertainties and
    multinomial classified outcomes, Environmental Modelling & Software 79 (2016) 311-321.
"""

from collections.abc import Iterator

import numpy as np

from destage.discovery.boxes import Box

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
        smaller = [one for one in _list_peeled(box) if least <= one.points < box.points]
        if not smaller:
            break
        density, points = box.density, box.points
        box = max(smaller, key=lambda one: ((one.density - density) / (points - one.points), one.points))
        trajectory.append(box)
    return trajectory


def list_expanded(box: Box) -> Iterator[Box]:
    """Yield the boxes that one limit less, or a limit further out, makes of a box."""
    for axis in box.restricted:
        allowed, one = box.allowed[axis], box.axes[axis]
        yield box.replace(axis, np.ones_like(allowed))
        if not one.is_ordered:
            for code in np.flatnonzero(~allowed):
                yield box.replace(axis, allowed | (np.arange(one.count) == code))
            continue
        low, high = _ends(allowed)
        counts = box.count_values(axis, box.is_inside_without(axis))
        step = max(1, int(PEELED * box.points))
        places = np.arange(one.count)
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
    for axis, (one, allowed) in enumerate(zip(box.axes, box.allowed, strict=True)):
        counts = box.count_values(axis, box.is_inside)
        present = np.flatnonzero(counts)
        if len(present) <= 1:
            continue
        places = np.arange(one.count)
        if not one.is_ordered:
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
    found = np.flatnonzero(allowed)
    return int(found[0]), int(found[-1])
