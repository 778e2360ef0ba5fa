"""Where the next wave draws the unknowns, and the weights that make the draws of all waves one sample.

Unknowns are drawn as normal scores: each is the normal quantile of its level in the prior, so that the prior
of all unknowns together is a standard normal distribution, whatever they are.

A later wave draws from a mixture: a share from the prior, the others from normal kernels around the draws
so far, which are moved towards their mean so that the mixture has the mean and covariance of the sample
(West 1993). A draw's weight is its likelihood times prior density over the density of the mixture of all
waves (Owen and Zhou 2000; Cornuet, Marin, Mira and Robert 2012), so that no wave is thrown away.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from destage.extras import require
from destage.sweeps.calibration.sample import effective_size, normalise
from destage.sweeps.space.designs import sample_cube

DEFENSIVE = 0.2
"""The share of a later wave that is drawn from the prior, which bounds the weights."""
_DIGITS = 9
"""Digits of a score; the last ones differ between mathematical libraries."""
_FARTHEST = 6.0
"""The largest score."""
_HALVINGS = 60
_NARROWEST = 0.9
"""The narrowest kernel, as a share of the sample's spread. Kernels for smooth curves are narrower; with few
draws of a dozen unknowns they follow the draws too closely, and the weights scatter: on a linear figure of
12 unknowns, 544 draws are worth 22 then, and 44 with this width."""
_LEAST_VARIANCE = 1e-8
"""Of a score, so that an unknown without any spread has a covariance."""


class Prior:
    """The prior: standard normal scores."""

    def draw(self, cube: np.ndarray) -> np.ndarray:
        """Return the scores of points of the unit cube, which has a leading dimension that chooses a part."""
        return to_scores(cube[:, 1:])

    def log_density(self, scores: np.ndarray) -> np.ndarray:
        """Return the logarithm of the density at each score, without its constant."""
        density: np.ndarray = -(scores**2).sum(axis=1) / 2
        return density


@dataclass(frozen=True, slots=True)
class Kernels:
    """A mixture of the prior and normal kernels around weighted draws.

    Attributes:
        centres: The means of the kernels, one a row.
        weights: The weight of each kernel.
        root: The Cholesky factor of the covariance of all kernels.
    """

    centres: np.ndarray
    weights: np.ndarray
    root: np.ndarray

    def draw(self, cube: np.ndarray) -> np.ndarray:
        """Return the scores of points of the unit cube, the first dimension of which chooses a part."""
        ends = np.cumsum(self.weights) / self.weights.sum()
        chosen = np.searchsorted(ends, (cube[:, 0] - DEFENSIVE) / (1 - DEFENSIVE), side="right")
        around = self.centres[np.minimum(chosen, len(ends) - 1)]
        plain = to_scores(cube[:, 1:])
        moved = np.where((cube[:, 0] < DEFENSIVE)[:, None], plain, around + plain @ self.root.T)
        return np.clip(moved.round(_DIGITS), -_FARTHEST, _FARTHEST)

    def log_density(self, scores: np.ndarray) -> np.ndarray:
        """Return the logarithm of the density at each score, without the constant of the prior's."""
        inverse = np.linalg.inv(self.root)
        apart = (scores[:, None, :] - self.centres[None, :, :]) @ inverse.T
        with np.errstate(divide="ignore"):
            parts = np.log(self.weights / self.weights.sum()) - (apart**2).sum(axis=2) / 2
        kernels = _log_sum(parts) - float(np.log(np.diag(self.root)).sum())
        both = [math.log(DEFENSIVE) + Prior().log_density(scores), math.log(1 - DEFENSIVE) + kernels]
        return _log_sum(np.stack(both, axis=1))


Proposal = Prior | Kernels


def draw_cube(points: int, unknowns: int, seed: int, wave: int) -> np.ndarray:
    """Return the points of a wave in a unit cube with one more dimension than there are unknowns."""
    return sample_cube("sobol", points, unknowns + 1, seed + wave)


def to_scores(levels: np.ndarray) -> np.ndarray:
    """Return the normal scores of levels of the prior."""
    scores: np.ndarray = require("scipy.special").ndtri(np.clip(levels, 1e-9, 1 - 1e-9))
    return scores.round(_DIGITS)


def to_levels(scores: np.ndarray) -> np.ndarray:
    """Return the levels of the prior that have these normal scores."""
    levels: np.ndarray = require("scipy.special").ndtr(scores)
    return levels


def log_prior_over_mixture(
    scores: np.ndarray, proposals: Sequence[Proposal], sizes: Sequence[int]
) -> np.ndarray:
    """Return the logarithm of prior density over the density of the mixture of all waves, at each draw.

    Args:
        sizes: The number of draws of each wave, those outside the prior's condition included.
    """
    shares = np.log(np.array(sizes) / sum(sizes))
    densities = np.stack([proposal.log_density(scores) for proposal in proposals], axis=1)
    ratios: np.ndarray = Prior().log_density(scores) - _log_sum(shares + densities)
    return ratios


def focus(scores: np.ndarray, log_ratios: np.ndarray, log_likelihoods: np.ndarray, least: float) -> Kernels:
    """Return the proposal of the next wave.

    Args:
        scores: The draws so far.
        log_ratios: Of prior over mixture, at each.
        log_likelihoods: Of each; minus infinity where it has no figure.
        least: The effective sample size that the kernels need. Where the sample has less, the likelihood
            counts with the largest power that reaches it: far from the figures it leads towards them step by
            step.
    """
    has_figures = np.isfinite(log_likelihoods)
    scores, log_ratios = scores[has_figures], log_ratios[has_figures]
    log_likelihoods = log_likelihoods[has_figures]
    weights = _temper(log_ratios, log_likelihoods, min(least, len(scores) / 2))
    size, unknowns = effective_size(weights), scores.shape[1]
    mean = weights @ scores
    covariance = (scores - mean).T @ ((scores - mean) * weights[:, None])
    # Few draws do not tell correlations, and their variance is a little too small.
    share = size / (size + unknowns)
    alone = np.diag(np.diag(covariance) + _LEAST_VARIANCE)
    covariance = (share * covariance + (1 - share) * alone) * (size + 2) / size
    width = min(1.0, max(_NARROWEST, (4 / ((unknowns + 2) * max(size, 1.0))) ** (1 / (unknowns + 4))))
    centres = math.sqrt(1 - width**2) * (scores - mean) + mean
    root = width * np.linalg.cholesky(covariance)
    return Kernels(centres.round(_DIGITS), weights.round(_DIGITS + 3), root.round(_DIGITS))


def _temper(log_ratios: np.ndarray, log_likelihoods: np.ndarray, least: float) -> np.ndarray:
    """Return the weights with the largest power of the likelihood, up to 1, that has an effective size."""
    weights = normalise(log_ratios + log_likelihoods)
    if effective_size(weights) >= least:
        return weights
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        power = (low + high) / 2
        is_enough = effective_size(normalise(log_ratios + power * log_likelihoods)) >= least
        low, high = (power, high) if is_enough else (low, power)
    return normalise(log_ratios + low * log_likelihoods)


def _log_sum(parts: np.ndarray) -> np.ndarray:
    """Return the logarithm of the sum of each row of exponentials."""
    highest = parts.max(axis=1, keepdims=True)
    log_sums: np.ndarray = highest[:, 0] + np.log(np.exp(parts - highest).sum(axis=1))
    return log_sums
