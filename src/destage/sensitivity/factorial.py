"""Shares of the variance over a full grid: the exact analysis of variance of a function of its values.

Every combination weighs the same. With V = Var(y) over the grid, the first-order share of an axis is
Var(E[y | axis]) / V, its total share is E[Var(y | all other axes)] / V, and the share of a pair is what both
explain together beyond what each explains alone [1, 2]. The shares of all subsets of axes sum to 1.

[1] R. A. Fisher, The Design of Experiments, 1935, chapter VI.
[2] I. M. Sobol, Sensitivity estimates for nonlinear mathematical models, Mathematical Modelling and
    Computational Experiments 1 (1993) 407-414.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of the variance.

    Attributes:
        first: By axis, the share that it explains alone.
        total: By axis, the share that it explains alone or together with others; None if unknown.
        pairs: By axis and axis, the share of their interaction (0 on the diagonal); None if unknown.
    """

    first: np.ndarray
    total: np.ndarray | None = None
    pairs: np.ndarray | None = None


def factorial_shares(values: np.ndarray) -> Shares:
    """Return the shares of a full grid; NaN where all values are equal.

    Args:
        values: The function, with a dimension for each axis.
    """
    axes = values.ndim
    # Equal values have a variance of rounding.
    centred = values - values.mean()
    variance = float((centred**2).mean())
    is_constant = variance <= np.finfo(float).eps ** 2 * float((values**2).mean())
    if is_constant:
        unknown = np.full(axes, np.nan)
        return Shares(unknown, unknown, np.full((axes, axes), np.nan))
    first = np.array([_explain(centred, (axis,)) for axis in range(axes)])
    total = np.array([float(centred.var(axis=axis).mean()) for axis in range(axes)])
    pairs = np.zeros((axes, axes))
    for one in range(axes):
        for other in range(one + 1, axes):
            both = _explain(centred, (one, other)) - first[one] - first[other]
            pairs[one, other] = pairs[other, one] = both
    return Shares(first / variance, total / variance, pairs / variance)


def _explain(centred: np.ndarray, kept: tuple[int, ...]) -> float:
    """Return the variance of the means over all other axes."""
    others = tuple(axis for axis in range(centred.ndim) if axis not in kept)
    return float((centred.mean(axis=others) ** 2).mean())
