"""The weighted sample of the unknowns: the draws of all waves with their figures.

Statistics are those of weighted samples, and of mixtures of normal distributions with a member for each draw.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from destage.extras import require
from destage.sweeps.keys.calibrate_settings import Figure

_SQRT_PI = math.sqrt(math.pi)
_WIDEST = 12.0
"""How far from the outermost means a quantile is looked for [standard deviations]."""
_HALVINGS = 80


def effective_size(weights: np.ndarray) -> float:
    """Return the number of draws with equal weights that say as much (Kish 1965); 0 without a weight."""
    total, squares = float(weights.sum()), float((weights**2).sum())
    # Weights of a hopeless draw are so small that their squares vanish.
    return total**2 / squares if squares > 0 else 0.0


def normalise(logarithms: np.ndarray) -> np.ndarray:
    """Return weights with the sum 1 from their logarithms; all zero if no draw has a weight."""
    highest = logarithms.max(initial=-math.inf)
    if highest == -math.inf:
        return np.zeros(len(logarithms))
    weights = np.exp(logarithms - highest)
    normal: np.ndarray = weights / weights.sum()
    return normal


def weighted_quantiles(values: np.ndarray, weights: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return the smallest values up to which at least each level of the weight lies."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    reached /= reached[-1]
    positions = np.minimum(np.searchsorted(reached, levels - 1e-12), len(values) - 1)
    quantiles: np.ndarray = values[order][positions]
    return quantiles


def weighted_variance(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the variance of the draws around their weighted mean; the weights have the sum 1."""
    mean = float(values @ weights)
    return float((values - mean) ** 2 @ weights)


def odds_interval(share: float, size: float) -> tuple[float, float]:
    """Return the 95 % interval of a probability estimated from a number of draws (Wilson 1927)."""
    if size <= 0:
        return 0.0, 1.0
    z = 1.959963984540054
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, slots=True)
class Mixture:
    """A mixture of normal distributions: what is predicted, a member for each draw of the unknowns.

    Attributes:
        means: The simulated figure of each draw.
        deviations: The standard deviation around each: simulation error and model discrepancy.
        weights: The weight of each draw; their sum is 1.
        is_ratio: Whether the members are log-normal distributions with these means and deviations, for
            errors so large that a normal distribution would reach below 0.
    """

    means: np.ndarray
    deviations: np.ndarray
    weights: np.ndarray
    is_ratio: bool = False

    @property
    def mean(self) -> float:
        """The mean."""
        return float(self.means @ self.weights)

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        variance = weighted_variance(self.means, self.weights) + self.deviations**2 @ self.weights
        return math.sqrt(float(variance))

    def probability_below(self, value: float) -> float:
        """Return the probability of a smaller value."""
        if self.is_ratio:
            return self._logarithms().probability_below(math.log(value)) if value > 0 else 0.0
        return float(_distribution((value - self.means) / self.deviations) @ self.weights)

    def quantile(self, level: float) -> float:
        """Return the value below which this share lies, by bisection."""
        if self.is_ratio:
            return math.exp(self._logarithms().quantile(level))
        low = float((self.means - _WIDEST * self.deviations).min())
        high = float((self.means + _WIDEST * self.deviations).max())
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.probability_below(middle) < level else (low, middle)
        return (low + high) / 2

    def crps(self, value: float) -> float:
        """Return the continuous ranked probability score of a value that came out, in its unit.

        0 is a certain and right prediction; of a single number it is the absolute error. The closed form
        of a mixture is of Grimit, Gneiting, Berrocal and Johnson (2006); the distances of log-normal
        members follow from the mean of the smaller of two (Lien 1986).
        """
        if self.is_ratio:
            return self._ratio_crps(value)
        near = _mean_distance(value - self.means, self.deviations) @ self.weights
        apart = _mean_distance(
            self.means[:, None] - self.means[None, :],
            np.hypot(self.deviations[:, None], self.deviations[None, :]),
        )
        return float(near - self.weights @ apart @ self.weights / 2)

    def _logarithms(self) -> "Mixture":
        """Return the normal distributions of the logarithms."""
        squares = np.log1p((self.deviations / self.means) ** 2)
        return Mixture(np.log(self.means) - squares / 2, np.sqrt(squares), self.weights)

    def _ratio_crps(self, value: float) -> float:
        logs = self._logarithms()
        middles, widths = logs.means, logs.deviations
        near = float(self.means @ self.weights) - value
        if value > 0:
            scores = (math.log(value) - middles) / widths
            smaller = self.means * _distribution(scores - widths) + value * _distribution(-scores)
            near = float((self.means + value - 2 * smaller) @ self.weights)
        both = np.hypot(widths[:, None], widths[None, :])
        behind = (middles[None, :] - middles[:, None] - widths[:, None] ** 2) / both
        parts = self.means[:, None] * _distribution(behind)
        apart = self.means[:, None] + self.means[None, :] - 2 * (parts + parts.T)
        return near - float(self.weights @ apart @ self.weights) / 2


def crps_uniform(low: float, high: float, value: float) -> float:
    """Return the continuous ranked probability score of a rule: every value between two as likely."""
    inside = min(max((value - low) / (high - low), 0.0), 1.0)
    outside = max(low - value, value - high, 0.0)
    return outside + (high - low) * (inside**3 + (1 - inside) ** 3) / 3


def _distribution(scores: np.ndarray) -> np.ndarray:
    levels: np.ndarray = require("scipy.special").ndtr(scores)
    return levels


def _mean_distance(distance: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Return the mean absolute value of normal distributions."""
    scores = distance / deviation
    density = np.exp(-(scores**2) / 2) / (math.sqrt(2) * _SQRT_PI)
    distances: np.ndarray = deviation * (scores * (2 * _distribution(scores) - 1) + 2 * density)
    return distances


@dataclass(frozen=True, slots=True)
class Sample:
    """The draws of all waves so far.

    Attributes:
        waves: The wave of each draw.
        scores: The normal scores of the unknowns, a row per draw.
        values: The value of each unknown in each draw [base unit].
        log_ratios: The logarithm of prior over mixture of all waves, at each draw.
        figures: By figure, its mean over replicates in each draw; NaN where it was not simulated or the array
            cannot carry the load.
        errors: By figure, the standard error of that mean.
    """

    waves: np.ndarray
    scores: np.ndarray
    values: Mapping[str, Sequence[object]]
    log_ratios: np.ndarray
    figures: Mapping[str, np.ndarray]
    errors: Mapping[str, np.ndarray]


def predict(
    figure: Figure, sample: Sample, weights: np.ndarray, *, is_widened: bool = False
) -> tuple[Mixture | None, float]:
    """Return the predictive distribution of a figure, and the share of the weight that has none.

    Its spread is that of the posterior, the simulation error and the model discrepancy; the tolerance of a
    measurement is not part of it.

    Args:
        is_widened: Whether missed figures have widened it. Each member is then log-normal around the
            simulated figure as its median, with the discrepancy as its coefficient of variation.
    """
    simulated, error = sample.figures[figure.name], sample.errors[figure.name]
    has_figure = np.isfinite(simulated) & (weights > 0)
    share = float(weights[has_figure].sum())
    if share <= 0:
        return None, 1.0
    means = simulated[has_figure]
    deviations = np.hypot(error[has_figure], figure.discrepancy * np.abs(means))
    # A figure without any error is a step.
    least = 1e-9 * max(float(np.abs(means).max()), 1e-300)
    deviations = np.maximum(deviations, least)
    is_ratio = is_widened and bool((means > 0).all())
    if is_ratio:
        above_median = np.hypot(1.0, deviations / means)
        means, deviations = means * above_median, deviations * above_median
    return Mixture(means, deviations, weights[has_figure] / share, is_ratio), 1.0 - share


def pool_errors(
    values: Sequence[Sequence[float]], ceilings: Sequence[object] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of each draw's replicates and its standard error.

    Few replicates do not tell their scatter, so that all draws share one: the root mean square of the
    standard deviation relative to the mean.

    Args:
        values: The figure of each replicate, by draw; none where there is no figure.
        ceilings: The most that the rest of the system of each draw allows. A figure above it is the ceiling,
            without an error, and its replicates do not count in the scatter: they may be bounds of a search.
    """
    means = np.array([math.fsum(figures) / len(figures) if figures else math.nan for figures in values])
    limits = np.full(len(means), math.inf) if ceilings is None else np.array(ceilings, float)
    is_capped = means > limits
    squares, freedom = 0.0, 0
    for figures, mean, is_limit in zip(values, means.tolist(), is_capped.tolist(), strict=True):
        if len(figures) > 1 and mean and not is_limit:
            squares += math.fsum((value - mean) ** 2 for value in figures) / mean**2
            freedom += len(figures) - 1
    relative = math.sqrt(squares / freedom) if freedom else 0.0
    counts = np.array([max(len(figures), 1) for figures in values])
    errors: np.ndarray = relative * np.abs(means) / np.sqrt(counts)
    return np.where(is_capped, limits, means), np.where(is_capped, 0.0, errors)
