"""Weighted samples, and mixtures of normal distributions with a member for each draw."""

import math
from dataclasses import dataclass

import numpy as np

from destage.extras import require

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
    found: np.ndarray = values[order][positions]
    return found


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
    """

    means: np.ndarray
    deviations: np.ndarray
    weights: np.ndarray

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
        return float(_distribution((value - self.means) / self.deviations) @ self.weights)

    def quantile(self, level: float) -> float:
        """Return the value below which this share lies, by bisection."""
        low = float((self.means - _WIDEST * self.deviations).min())
        high = float((self.means + _WIDEST * self.deviations).max())
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.probability_below(middle) < level else (low, middle)
        return (low + high) / 2

    def crps(self, value: float) -> float:
        """Return the continuous ranked probability score of a value that came out, in its unit.

        0 is a certain and right prediction; of a single number it is the absolute error. The closed form
        of a mixture is of Grimit, Gneiting, Berrocal and Johnson (2006).
        """
        near = _mean_distance(value - self.means, self.deviations) @ self.weights
        apart = _mean_distance(
            self.means[:, None] - self.means[None, :],
            np.hypot(self.deviations[:, None], self.deviations[None, :]),
        )
        return float(near - self.weights @ apart @ self.weights / 2)


def crps_uniform(low: float, high: float, value: float) -> float:
    """Return the continuous ranked probability score of a rule: every value between two as likely."""
    inside = min(max((value - low) / (high - low), 0.0), 1.0)
    outside = max(low - value, value - high, 0.0)
    return outside + (high - low) * (inside**3 + (1 - inside) ** 3) / 3


def _distribution(scores: np.ndarray) -> np.ndarray:
    found: np.ndarray = require("scipy.special").ndtr(scores)
    return found


def _mean_distance(distance: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Return the mean absolute value of normal distributions."""
    scores = distance / deviation
    density = np.exp(-(scores**2) / 2) / (math.sqrt(2) * _SQRT_PI)
    found: np.ndarray = deviation * (scores * (2 * _distribution(scores) - 1) + 2 * density)
    return found
