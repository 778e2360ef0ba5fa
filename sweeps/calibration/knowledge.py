"""What to measure next: how much of a prediction's variance goes when something more is known."""

import math
from collections.abc import Sequence

import numpy as np

from destage.sweeps.calibration.sample import Mixture, effective_size, weighted_variance

_MOST_CLASSES = 8
_DRAWS_PER_CLASS = 6
"""Effective draws that a class needs, for its mean to say something."""
_NODES = (-math.sqrt(3.0), 0.0, math.sqrt(3.0))
_NODE_WEIGHTS = (1 / 6, 2 / 3, 1 / 6)
"""Gauss-Hermite nodes: the errors at which a measurement that was not made yet is tried [deviations]."""


def share_of_unknown(figures: Mixture, values: Sequence[object], *, is_ordered: bool) -> float:
    """Return the share of a predictive variance that knowing one unknown is expected to remove.

    It is the variance of the class means over the whole variance, less what chance alone makes of it: the
    given-data estimate of the first-order index (Plischke, Borgonovo and Smith 2013). Ordered values are
    classed so that each class has the same weight.
    """
    weights = figures.weights
    classes = _classify(values, weights, is_ordered=is_ordered)
    total = weighted_variance(figures.means, weights)
    count, size = len(set(classes.tolist())), effective_size(weights)
    if total <= 0 or count < 2 or size <= count + 1:  # noqa: PLR2004
        return 0.0
    between = 0.0
    mean = float(figures.means @ weights)
    for number in range(int(classes.max()) + 1):
        inside = classes == number
        weight = float(weights[inside].sum())
        if weight > 0:
            between += weight * (float(figures.means[inside] @ weights[inside]) / weight - mean) ** 2
    within = max(total - between, 0.0)
    explained = between - (count - 1) / (size - count) * within
    return max(0.0, explained) / figures.deviation**2


def share_of_figure(figures: Mixture, others: np.ndarray, deviation: np.ndarray) -> float:
    """Return the share of a predictive variance that measuring another figure is expected to remove.

    Each draw is taken for the truth in turn: the other figure is measured with an error, and the rest of the
    sample, weighted by what was measured, predicts this one.

    Args:
        others: The other figure in each draw.
        deviation: The standard deviation of its measurement and of the model there, at each draw.
    """
    weights = figures.weights
    total = weighted_variance(figures.means, weights)
    if total <= 0 or effective_size(weights) <= 2:  # noqa: PLR2004
        return 0.0
    errors = np.zeros(len(weights))
    for node, node_weight in zip(_NODES, _NODE_WEIGHTS, strict=True):
        measured = others + node * deviation
        distance = (measured[:, None] - others[None, :]) / deviation[None, :]
        likelihood = weights * np.exp(-(distance**2) / 2) / deviation
        np.fill_diagonal(likelihood, 0.0)
        evidence = likelihood.sum(axis=1)
        # Nothing like it in the sample: nothing is learned.
        prior = float(figures.means @ weights)
        predicted = np.where(
            evidence > 0, likelihood @ figures.means / np.where(evidence > 0, evidence, 1.0), prior
        )
        errors += node_weight * (figures.means - predicted) ** 2
    return max(0.0, total - float(errors @ weights)) / figures.deviation**2


def _classify(values: Sequence[object], weights: np.ndarray, *, is_ordered: bool) -> np.ndarray:
    if not is_ordered:
        names = sorted({repr(value) for value in values})
        return np.array([names.index(repr(value)) for value in values])
    most = max(2, min(_MOST_CLASSES, int(effective_size(weights) / _DRAWS_PER_CLASS)))
    numbers = np.array(values, float)
    distinct, inverse = np.unique(numbers, return_inverse=True)
    if len(distinct) <= most:
        return inverse
    order = np.argsort(numbers, kind="stable")
    reached = np.empty(len(numbers))
    reached[order] = np.cumsum(weights[order]) - weights[order] / 2
    # Equal values belong to one class.
    middle = np.bincount(inverse, reached) / np.bincount(inverse)
    classes: np.ndarray = np.minimum((middle[inverse] * most).astype(int), most - 1)
    return classes
