"""Trajectories of Morris's method: from a random start, each axis is changed once (Morris 1991)."""

import hashlib

import numpy as np


def sample_trajectories(trajectories: int, dimensions: int, seed: int, levels: int) -> np.ndarray:
    """Return points of the unit cube, one a row: `dimensions` + 1 rows a trajectory.

    The levels are 0, 1 / (levels - 1), ..., 1. Two neighbouring rows of a trajectory differ in one
    coordinate, by levels / (2 (levels - 1)); all levels are as likely. A trajectory depends on the seed and
    its own number only, so that more trajectories begin with the same ones.

    Args:
        levels: The number of levels of an axis, which is even.
    """
    cube = np.empty((trajectories * (dimensions + 1), dimensions))
    for number in range(trajectories):
        first = number * (dimensions + 1)
        cube[first : first + dimensions + 1] = _sample_one(number, dimensions, seed, levels)
    return cube


def _sample_one(number: int, dimensions: int, seed: int, levels: int) -> np.ndarray:
    lower, side, order = _draw(number, dimensions, seed)
    step = levels // 2
    start = lower % np.uint64(step) + (side & np.uint64(1)) * np.uint64(step)
    end = (start + np.uint64(step)) % np.uint64(levels)
    # The axis at each place of the order is changed in that row and stays so.
    place = np.argsort(np.argsort(order, kind="stable"))
    is_changed = np.arange(dimensions + 1)[:, None] > place
    found: np.ndarray = np.where(is_changed, end, start) / (levels - 1)
    return found


def _draw(number: int, dimensions: int, seed: int) -> np.ndarray:
    """Return three random whole numbers for each axis.

    A digest, since numpy's generators may give other numbers in other versions: a sweep that is continued
    years later must come to the same points.
    """
    digest = hashlib.shake_128(f"morris/{seed}/{number}".encode()).digest(3 * 8 * dimensions)
    return np.frombuffer(digest, "<u8").reshape(3, dimensions)
