"""Designs: the points of a unit cube at which sampled axes are tried.

A design of more points starts with the points of a smaller one where its method allows it (Sobol and Halton
sequences with one seed), so that an extended study runs the new points only.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from destage.extras import require
from destage.spec.schema_nodes import node, table
from destage.sweeps.distributions import Distribution

METHODS = ("sobol", "latin_hypercube", "halton")
DESIGN = table(
    "How axes with a distribution are sampled; every sampled point is combined with the grid of the others.",
    {
        "method": node("string", "The design.", enum=list(METHODS), default="sobol"),
        "points": node("integer", "The number of points.", minimum=2, maximum=100_000),
        "seed": node("integer", "The seed of the design's scrambling.", minimum=0, default=1),
    },
    "points",
)
"""The schema of a study's design."""


@dataclass(frozen=True, slots=True)
class Design:
    """How the sampled axes of a study are sampled.

    Attributes:
        points: The number of points.
        axes: The distribution of each axis, by dotted path.
    """

    method: str
    points: int
    seed: int
    axes: Mapping[str, Distribution]

    def sample(self) -> dict[str, list[object]]:
        """Return the values of each axis, point by point, in base units.

        Raises:
            UsageError: scipy is not installed.
        """
        cube = sample_cube(self.method, self.points, len(self.axes), self.seed)
        return {
            path: distribution.quantiles(cube[:, column])
            for column, (path, distribution) in enumerate(self.axes.items())
        }


def sample_cube(method: str, points: int, dimensions: int, seed: int) -> np.ndarray:
    """Return points of the unit cube [0, 1), one a row.

    Sobol points are scrambled (Owen 1995; Matousek's linear matrix scramble with a random shift), as are
    Halton's; a Latin hypercube has one point in each of its strata.

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
