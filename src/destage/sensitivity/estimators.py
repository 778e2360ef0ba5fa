"""Estimators of sensitivity, one for each design; the docstring of each has its method and references.

Errors of statistics of a sample come from leaving out a group of it at a time (jackknife: J. Shao, D. Tu, The
Jackknife and Bootstrap, Springer 1995, section 2.3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

MOST_GROUPS = 50


def jackknife_error(
    statistic: Callable[[np.ndarray], np.ndarray], rows: int, units: np.ndarray | None = None
) -> tuple[np.ndarray, int]:
    """Return the standard errors of statistics of independent rows, and the number of groups.

    Args:
        statistic: Returns the statistics of the rows with these numbers.
        rows: The number of rows, at least 2.
        units: By row, the number of its unit, where only units are independent: at least 2, from 0 (default:
            each row is one).
    """
    units = np.arange(rows) if units is None else units
    groups = min(int(units.max()) + 1, MOST_GROUPS)
    # Every group is spread over the sample: neighbours in a sequence balance each other.
    group = units % groups
    without = np.stack([statistic(np.flatnonzero(group != left_out)) for left_out in range(groups)])
    spread = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    return np.sqrt(spread * (groups - 1) / groups), groups


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

    This is the exact analysis of variance of a function of its values, every combination with the same
    weight. With V = Var(y) over the grid, the first-order share of an axis is Var(E[y | axis]) / V, its total
    share is E[Var(y | all other axes)] / V, and the share of a pair is what both explain together beyond what
    each explains alone [1, 2]. The shares of all subsets of axes sum to 1.

    [1] R. A. Fisher, The Design of Experiments, 1935, chapter VI.
    [2] I. M. Sobol, Sensitivity estimates for nonlinear mathematical models, Mathematical Modelling and
        Computational Experiments 1 (1993) 407-414.

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
    for axis in range(axes):
        for other in range(axis + 1, axes):
            both = _explain(centred, (axis, other)) - first[axis] - first[other]
            pairs[axis, other] = pairs[other, axis] = both
    return Shares(first / variance, total / variance, pairs / variance)


def _explain(centred: np.ndarray, kept: tuple[int, ...]) -> float:
    """Return the variance of the means over all other axes."""
    others = tuple(axis for axis in range(centred.ndim) if axis not in kept)
    return float((centred.mean(axis=others) ** 2).mean())


def saltelli_shares(values: np.ndarray, axes: int) -> Shares:
    """Return the indices of the sampled axes; NaN where all values are equal.

    The design is Saltelli's: base samples A and B, and A with one column from B (and the reverse). First
    order: V_i = mean(f(B) (f(A with B_i) - f(A))), the estimator of [1], table 2 (b). Total: T_i =
    mean((f(A) - f(A with B_i))^2) / 2 [2]. Pairs, from designs that also have B with A_i:
    V_ij = mean(f(B with A_i) f(A with B_j) - f(A) f(B)) - V_i - V_j [3].

    A design that is crossed with a grid has a function for each combination (stratum). The indices are then
    those of the function over design and grid together, with equal weights of the strata: the first order of
    a sampled axis is that of the mean over strata, its total the mean of the strata's totals.

    [1] A. Saltelli et al., Variance based sensitivity analysis of model output. Design and estimator for the
        total sensitivity index, Computer Physics Communications 181 (2010) 259-270.
    [2] M. J. W. Jansen, Analysis of variance designs for model output, Computer Physics Communications 117
        (1999) 35-43.
    [3] A. Saltelli, Making best use of model evaluations to compute sensitivity indices, Computer Physics
        Communications 145 (2002) 280-297.

    Args:
        values: The function by stratum, base sample, and row of the sample: f(A), f(A with B_i) for each
            axis, f(B), and f(B with A_i) for each axis if there are samples for pairs.
    """
    has_pairs = values.shape[2] > axes + 2
    centred = values - values.mean()
    a, b, mixed = centred[..., 0], centred[..., axes + 1], centred[..., 1 : axes + 1]
    base = np.stack([a, b])
    variance = float((base**2).mean() - base.mean() ** 2)
    if variance <= np.finfo(float).eps ** 2 * float((values**2).mean()):
        unknown = np.full(axes, np.nan)
        return Shares(unknown, unknown, np.full((axes, axes), np.nan) if has_pairs else None)
    mean_a, mean_b, mean_mixed = (sample.mean(axis=0) for sample in (a, b, mixed))
    first = (mean_b[:, None] * (mean_mixed - mean_a[:, None])).mean(axis=0)
    total = ((a[..., None] - mixed) ** 2).mean(axis=(0, 1)) / 2
    pairs = None
    if has_pairs:
        swapped = centred[..., axes + 2 :].mean(axis=0)
        product = float((mean_a * mean_b).mean())
        pairs = np.zeros((axes, axes))
        for axis in range(axes):
            for other in range(axis + 1, axes):
                closed = float((swapped[:, axis] * mean_mixed[:, other]).mean()) - product
                pairs[axis, other] = pairs[other, axis] = closed - first[axis] - first[other]
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
    means = [
        centred.mean(axis=tuple(other for other in range(centred.ndim) if other != axis)) for axis in axes
    ]
    first = np.array([float((mean**2).mean()) for mean in means])
    total = np.array([float(centred.var(axis=axis).mean()) for axis in axes])
    return Shares(first / variance, total / variance)


@dataclass(frozen=True, slots=True)
class Effects:
    """Statistics of the elementary effects, by axis [unit of the result].

    Attributes:
        mu: Their mean.
        mu_star: The mean of their absolute values, which does not cancel where the effect changes its sign
            (F. Campolongo, J. Cariboni, A. Saltelli, An effective screening design for sensitivity analysis
            of large models, Environmental Modelling & Software 22 (2007) 1509-1518).
        sigma: Their standard deviation: large where the axis acts together with others or not in proportion.
    """

    mu: np.ndarray
    mu_star: np.ndarray
    sigma: np.ndarray


def elementary_effects(values: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return the effect of each axis by stratum and trajectory.

    An effect is the difference of the result over a step of one axis of a Morris design [1], divided by that
    of the axis in the unit cube, so that it is the change over the whole range of the axis at that slope.

    [1] M. D. Morris, Factorial sampling plans for preliminary computational experiments, Technometrics 33
        (1991) 161-174.

    Args:
        values: The result by stratum, trajectory and step.
        levels: The sample in the unit cube by trajectory, step and axis; each step changes one axis.
    """
    steps = np.diff(levels, axis=1)
    changes = np.diff(values, axis=2)
    # By trajectory and axis, the step that changes it.
    changing = np.abs(steps).argmax(axis=1)
    trajectories = np.arange(len(levels))[:, None]
    sizes = steps[trajectories, changing, np.arange(levels.shape[2])]
    effects: np.ndarray = changes[:, trajectories, changing] / sizes
    return effects


def summarize_effects(effects: np.ndarray) -> Effects:
    """Return the statistics of effects by stratum, trajectory and axis, all strata together."""
    pooled = effects.reshape(-1, effects.shape[-1])
    sigma = pooled.std(axis=0, ddof=1) if len(pooled) > 1 else np.full(pooled.shape[1], np.nan)
    return Effects(pooled.mean(axis=0), np.abs(pooled).mean(axis=0), sigma)


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

    The points are any; a share is what a regression on one axis explains of the variance. The regression has
    a mean for each value of an axis with few values (the correlation ratio of [1]), and a sum of cosines of
    the rank along an axis with many, as in [2]. Both explain some of a variance that is pure chance; the
    share is corrected for the number of their coefficients: 1 - (1 - R^2) (n - 1) / (n - 1 - k) for k
    coefficients, which is unbiased for an axis without effect [3].

    The axes should vary independently of each other, as in a Sobol sample: two that always change together
    each have the share of both. Interactions cannot be separated, so total shares are unknown.

    [1] K. Pearson, On the general theory of skew correlation and non-linear regression, 1905.
    [2] E. Plischke, How to compute variance-based sensitivity indicators with your spreadsheet software,
        Environmental Modelling & Software 35 (2012) 188-191.
    [3] E. Plischke, E. Borgonovo, C. L. Smith, Global sensitivity measures from given data, European Journal
        of Operational Research 226 (2013) 536-550.

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
