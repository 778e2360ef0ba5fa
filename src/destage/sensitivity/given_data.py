"""First-order shares from any points: how much of the variance a regression on one axis explains.

The regression has a mean for each value of an axis with few values (the correlation ratio of [1]), and a sum
of cosines of the rank along an axis with many, as in [2]. Both explain some of a variance that is pure
chance; the share is corrected for the number of their coefficients: 1 - (1 - R^2) (n - 1) / (n - 1 - k) for k
coefficients, which is unbiased for an axis without effect [3].

The axes should vary independently of each other, as in a Sobol sample: two that always change together each
have the share of both. Interactions cannot be separated, so total shares are unknown.

[1] K. Pearson, On the general theory of skew correlation and non-linear regression, 1905.
[2] E. Plischke, How to compute variance-based sensitivity indicators with your spreadsheet software,
    Environmental Modelling & Software 35 (2012) 188-191.
[3] E. Plischke, E. Borgonovo, C. L. Smith, Global sensitivity measures from given data, European Journal of
    Operational Research 226 (2013) 536-550.
"""

from collections.abc import Sequence

import numpy as np

_MOST_CLASSES = 12
"""Values of an ordered axis up to which each has a mean of its own."""
_MOST_HARMONICS = 6
_POINTS_PER_HARMONIC = 10


def choose_basis(codes: np.ndarray, *, is_ordered: bool) -> np.ndarray:
    """Return an orthonormal basis of functions of one axis without the constant one; columns by point.

    Args:
        codes: The place of each point's value among the values of the axis, in their order.
    """
    points = len(codes)
    classes = len(np.unique(codes))
    if is_ordered and classes > min(_MOST_CLASSES, points // 3):
        count = max(1, min(_MOST_HARMONICS, points // _POINTS_PER_HARMONIC))
        positions = _rank(codes) / points
        functions = np.cos(np.pi * positions[:, None] * np.arange(1, count + 1))
    else:
        functions = (codes[:, None] == np.unique(codes)[1:]).astype(float)
    centred = functions - functions.mean(axis=0)
    basis, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    kept: np.ndarray = basis[:, sizes > 1e-9 * max(sizes.max(initial=0.0), 1.0)]
    return kept


def given_data_shares(values: np.ndarray, bases: Sequence[np.ndarray]) -> np.ndarray:
    """Return the first-order share of each axis; NaN where the points are too few, or all values equal.

    Args:
        values: The result by point.
        bases: The basis of each axis.
    """
    centred = values - values.mean()
    spread = float(centred @ centred)
    if spread <= np.finfo(float).eps ** 2 * float(values @ values):
        return np.full(len(bases), np.nan)
    return np.array(
        [_adjust(float(((basis.T @ centred) ** 2).sum()) / spread, *basis.shape) for basis in bases]
    )


def _adjust(share: float, points: int, coefficients: int) -> float:
    spare = points - 1 - coefficients
    return 1 - (1 - share) * (points - 1) / spare if spare > 0 else np.nan


def _rank(codes: np.ndarray) -> np.ndarray:
    """Return the middle of the ranks of each point's value, from 0.5."""
    _, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middles: np.ndarray = (ends - counts / 2)[inverse]
    return middles
