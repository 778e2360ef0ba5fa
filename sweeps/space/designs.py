"""Designs: the points of a unit cube at which sampled axes are tried, by four methods.

A design of more points starts with the points of a smaller one where its method allows it (all but the Latin
hypercube, with one seed), so that an extended study runs the new points only.

* Latin hypercube and Sobol sequence: points that fill the cube.
* Morris: trajectories from a random start, in which each axis is changed once (Morris 1991).
* Saltelli, for Sobol indices: two independent samples A and B, and A with single columns of B. Base sample i
  has the rows i w to i w + w - 1, where w is `count_rows`: A_i, then A_i with column k of B_i for each axis
  k, then B_i, and for second-order indices B_i with column k of A_i for each axis k (Saltelli et al. 2010,
  "Variance based sensitivity analysis of model output").
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from destage.errors import Issue
from destage.extras import require
from destage.spec.typed_tables import key, read_table, table
from destage.sweeps.space.distributions import Distribution


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
    sample: np.ndarray = np.where(is_changed, end, start) / (levels - 1)
    return sample


def _draw(number: int, dimensions: int, seed: int) -> np.ndarray:
    """Return three random whole numbers for each axis.

    A digest, since numpy's generators may give other numbers in other versions: a sweep that is continued
    years later must come to the same points.
    """
    digest = hashlib.shake_128(f"morris/{seed}/{number}".encode()).digest(3 * 8 * dimensions)
    return np.frombuffer(digest, "<u8").reshape(3, dimensions)


def count_rows(dimensions: int, *, second_order: bool) -> int:
    """Return the number of rows of one base sample."""
    return 2 * dimensions + 2 if second_order else dimensions + 2


def combine_samples(base: np.ndarray, *, second_order: bool) -> np.ndarray:
    """Return the rows for base samples.

    Args:
        base: A and B side by side, one base sample a row.
    """
    dimensions = base.shape[1] // 2
    first, second = base[:, :dimensions], base[:, dimensions:]
    rows = np.repeat(first[:, None, :], count_rows(dimensions, second_order=second_order), axis=1)
    rows[:, dimensions + 1 :] = second[:, None, :]
    for axis in range(dimensions):
        rows[:, 1 + axis, axis] = second[:, axis]
        if second_order:
            rows[:, dimensions + 2 + axis, axis] = first[:, axis]
    return rows.reshape(-1, dimensions)


SEQUENCES = ("sobol", "latin_hypercube", "halton")
"""Methods that spread points evenly."""
METHODS = (*SEQUENCES, "morris", "saltelli")
_MOST_POINTS = 100_000
_OWNERS = {"levels": "morris", "second_order": "saltelli"}
"""Keys that only one method has."""


@table
class Design:
    """How the sampled axes of a study are sampled.

    Attributes:
        points: The number of points; of base samples (Saltelli); of trajectories (Morris).
        axes: The distribution of each axis, by dotted path.
    """

    method: str = key(
        "The design: points that fill the space (sobol, halton, latin_hypercube), or the sample of a "
        "sensitivity analysis (morris: trajectories that change one axis at a time; saltelli: for Sobol "
        "indices).",
        enum=list(METHODS),
        default="sobol",
    )
    points: int = key(
        "The number of points; with saltelli the number N of base samples, which make N (axes + 2) points.",
        optional=True,
        minimum=2,
        maximum=_MOST_POINTS,
    )
    trajectories: int | None = key(
        "With morris: the number of trajectories, of axes + 1 points each.",
        minimum=2,
        maximum=_MOST_POINTS,
        default=None,
    )
    levels: int = key(
        "With morris: the number of values of an axis, an even number.", minimum=2, maximum=1000, default=4
    )
    second_order: bool = key(
        "With saltelli: sample for second-order indices too, which makes N (2 axes + 2) points.",
        default=False,
    )
    seed: int = key("The seed of the design's random numbers.", minimum=0, default=1)
    axes: Mapping[str, Distribution]

    @property
    def is_even(self) -> bool:
        """Whether it spreads points evenly; otherwise it is the sample of a sensitivity analysis."""
        return self.method in SEQUENCES

    @property
    def rows_per_point(self) -> int:
        """The number of rows that one of `points` makes."""
        if self.method == "morris":
            return len(self.axes) + 1
        return count_rows(len(self.axes), second_order=self.second_order) if self.method == "saltelli" else 1

    def sample_levels(self) -> np.ndarray:
        """Return the sample in the unit cube: a row each, a column for each axis.

        Raises:
            UsageError: scipy is not installed.
        """
        dimensions = len(self.axes)
        if self.method == "morris":
            return sample_trajectories(self.points, dimensions, self.seed, self.levels)
        if self.method == "saltelli":
            base = sample_cube("sobol", self.points, 2 * dimensions, self.seed)
            return combine_samples(base, second_order=self.second_order)
        return sample_cube(self.method, self.points, dimensions, self.seed)

    def sample(self) -> dict[str, list[object]]:
        """Return the values of each axis, row by row, in base units.

        Raises:
            UsageError: scipy is not installed.
        """
        cube = self.sample_levels()
        return {
            path: distribution.quantiles(cube[:, column])
            for column, (path, distribution) in enumerate(self.axes.items())
        }


def read_design(
    written: Mapping[str, Any] | None, sampled: Mapping[str, Distribution], paths: list[str]
) -> tuple[Design | None, list[Issue]]:
    """Return a study's design, and the mistakes in it.

    Args:
        sampled: The axes with a distribution that have no mistake.
        paths: All axes with a distribution; some, or the study has a design.
    """
    if written is None:
        message = f"{paths[0]} has a distribution; set `design.points`, the number of sampled points"
        return None, [Issue("study.missing-key", "design", message)]
    if not paths:
        return None, [Issue("study.no-effect", "design", "no axis has a distribution")]
    design = read_table(Design, {"points": 0, **written}, axes=sampled)
    method, count = design.method, "trajectories" if design.method == "morris" else "points"
    unused = {key for key, owner in _OWNERS.items() if owner != method} | {"points", "trajectories"} - {count}
    issues = [
        Issue("study.no-effect", f"design.{key}", f"not used by the method {method}{hint}", value)
        for key, value in written.items()
        if key in unused
        for hint in [f"; set `{count}`" if key in {"points", "trajectories"} else ""]
    ]
    if count not in written and not issues:
        issues.append(Issue("study.missing-key", f"design.{count}", f"required by the method {method}"))
    if design.levels % 2:
        issues.append(Issue("study.out-of-range", "design.levels", "must be even", design.levels))
    # Without an axis that has no mistake, there is nothing to sample.
    if issues or not sampled:
        return None, issues
    return (design if design.trajectories is None else replace(design, points=design.trajectories)), []


def sample_cube(method: str, points: int, dimensions: int, seed: int) -> np.ndarray:
    """Return points of the unit cube [0, 1), one a row.

    Sobol points are scrambled (Owen 1995; Matousek's linear matrix scramble with a random shift), as are
    Halton's; a Latin hypercube has one point in each of its strata.

    Args:
        method: One of `SEQUENCES`.

    Raises:
        UsageError: scipy is not installed.
    """
    qmc = require("scipy.stats.qmc")
    draw: Mapping[str, Callable[[], Any]] = {
        "sobol": lambda: _draw_sobol(qmc, points, dimensions, seed),
        "halton": lambda: qmc.Halton(dimensions, rng=seed).random(points),
        "latin_hypercube": lambda: qmc.LatinHypercube(dimensions, rng=seed).random(points),
    }
    cube: np.ndarray = draw[method]()
    return cube


def _draw_sobol(qmc: Any, points: int, dimensions: int, seed: int) -> np.ndarray:
    """Return the first points of a sequence, which is balanced at powers of two only."""
    power = max(points - 1, 1).bit_length()
    every: np.ndarray = qmc.Sobol(dimensions, rng=seed).random_base2(power)
    return every[:points]
