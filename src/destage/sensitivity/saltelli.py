"""Sobol indices from Saltelli's design: base samples A and B, and A with one column from B (and the reverse).

First order: V_i = mean(f(B) (f(A with B_i) - f(A))), the estimator of [1], table 2 (b). Total: T_i =
mean((f(A) - f(A with B_i))^2) / 2 [2]. Pairs, from designs that also have B with A_i:
V_ij = mean(f(B with A_i) f(A with B_j) - f(A) f(B)) - V_i - V_j [3].

A design that is crossed with a grid has a function for each combination (stratum). The indices are then those
of the function over design and grid together, with equal weights of the strata: the first order of a sampled
axis is that of the mean over strata, its total the mean of the strata's totals.

[1] A. Saltelli et al., Variance based sensitivity analysis of model output. Design and estimator for the
    total sensitivity index, Computer Physics Communications 181 (2010) 259-270.
[2] M. J. W. Jansen, Analysis of variance designs for model output, Computer Physics Communications 117
    (1999) 35-43.
[3] A. Saltelli, Making best use of model evaluations to compute sensitivity indices, Computer Physics
    Communications 145 (2002) 280-297.
"""

import numpy as np

from destage.sensitivity.factorial import Shares


def saltelli_shares(values: np.ndarray, axes: int) -> Shares:
    """Return the indices of the sampled axes; NaN where all values are equal.

    Args:
        values: The function by stratum, base sample, and row of the sample: f(A), f(A with B_i) for each
            axis, f(B), and f(B with A_i) for each axis if there are samples for pairs.
        axes: The number of sampled axes.
    """
    has_pairs = values.shape[2] > axes + 2
    centred = values - values.mean()
    a, b, mixed = centred[..., 0], centred[..., axes + 1], centred[..., 1 : axes + 1]
    base = np.stack([a, b])
    variance = float((base**2).mean() - base.mean() ** 2)
    if variance <= np.finfo(float).eps ** 2 * float((values**2).mean()):
        unknown = np.full(axes, np.nan)
        return Shares(unknown, unknown, np.full((axes, axes), np.nan) if has_pairs else None)
    mean_a, mean_b, mean_mixed = (one.mean(axis=0) for one in (a, b, mixed))
    first = (mean_b[:, None] * (mean_mixed - mean_a[:, None])).mean(axis=0)
    total = ((a[..., None] - mixed) ** 2).mean(axis=(0, 1)) / 2
    pairs = None
    if has_pairs:
        swapped = centred[..., axes + 2 :].mean(axis=0)
        product = float((mean_a * mean_b).mean())
        pairs = np.zeros((axes, axes))
        for one in range(axes):
            for other in range(one + 1, axes):
                closed = float((swapped[:, one] * mean_mixed[:, other]).mean()) - product
                pairs[one, other] = pairs[other, one] = closed - first[one] - first[other]
        pairs /= variance
    return Shares(first / variance, total / variance, pairs)


def crossed_shares(values: np.ndarray, shape: tuple[int, ...]) -> Shares:
    """Return the shares of the axes of the grid that a design is crossed with.

    Args:
        values: The function by stratum and row, of independent rows.
        shape: The number of values of each axis of the grid, whose product is the number of strata.
    """
    by_axis = values.reshape(*shape, values.shape[1])
    centred = by_axis - by_axis.mean()
    variance = float((centred**2).mean())
    axes = range(len(shape))
    if variance <= np.finfo(float).eps ** 2 * float((values**2).mean()):
        unknown = np.full(len(shape), np.nan)
        return Shares(unknown, unknown)
    means = [centred.mean(axis=tuple(one for one in range(centred.ndim) if one != axis)) for axis in axes]
    first = np.array([float((mean**2).mean()) for mean in means])
    total = np.array([float(centred.var(axis=axis).mean()) for axis in axes])
    return Shares(first / variance, total / variance)
