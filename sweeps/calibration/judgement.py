"""What measured figures say about the draws: which draws explain them, and which figures are missed.

A draw is ruled out by its implausibility, the largest distance of a figure from its measured value. Where
every draw is, robust history matching takes the second or third largest distance instead [1]. So does this:
the figures that are missed are the fewest that some draw misses while it explains all others. Of several such
sets, it is the most likely one, if each missed figure may have the discrepancy that it needs. The unknowns
are then learned from the other figures, and predictions of the same class of loads get that discrepancy.

1. Vernon, Goldstein, Bower: Galaxy formation, a Bayesian uncertainty analysis (Bayesian Analysis 5, 2010).
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from destage.sweeps.calibration.sample import Sample, effective_size, normalise
from destage.sweeps.keys.calibrate_settings import Calibration, Candidate, Figure

MISSED_SHARE = 3
"""The number of fitted figures for each one that may be missed."""
HOPELESS_FACTOR = 5.0
"""How far figures are from those of every draw where another array was measured, as a ratio.

Usual priors reach from a third to three times the catalogue's value.
"""
_Predicted = TypeVar("_Predicted", Figure, Candidate)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a fit says about each draw.

    Attributes:
        implausibility: The largest distance of an explained figure from its value [standard deviations]; of
            any figure, if all draws are ruled out. Infinite where a figure has no value.
        log_likelihoods: The logarithm of the likelihood of the same figures; minus infinity without a figure.
        weights: The weight in the posterior; 0 if the draw is ruled out. The sum is 1 unless all are.
        missed: The figures that are not explained.
    """

    implausibility: np.ndarray
    log_likelihoods: np.ndarray
    weights: np.ndarray
    missed: tuple[str, ...] = ()

    @property
    def effective(self) -> float:
        """The effective number of draws."""
        return effective_size(self.weights)

    @property
    def is_ruled_out(self) -> bool:
        """Whether no draw explains the figures, or enough of them."""
        return not self.weights.sum() > 0


@dataclass(frozen=True, slots=True)
class _Distances:
    """How far the figures of a fit are from their values: a row per figure, a column per draw.

    Attributes:
        scaled: In standard deviations; infinite without a figure.
        log_densities: The logarithm of the density of each value; minus infinity without a figure.
        free: The same with the discrepancy that makes the value most likely.
        is_nothing: Whether the simulated figure is 0, of which no share is a discrepancy.
    """

    scaled: np.ndarray
    log_densities: np.ndarray
    free: np.ndarray
    is_nothing: np.ndarray


def judge(
    calibration: Calibration, sample: Sample, fit: Sequence[str], *, may_miss: bool = True
) -> Judgement:
    """Return what the values of some figures say about each draw.

    Args:
        may_miss: Whether a third of the figures may be missed where no draw explains all of them.
    """
    count = len(sample.waves)
    if not fit:
        nothing = np.zeros(count)
        return Judgement(nothing, nothing, normalise(sample.log_ratios))
    distances = _measure_distances(calibration, sample, fit)
    cutoff = calibration.waves.cutoff
    is_missed = np.zeros(len(fit), bool)
    is_explained, is_usable = ~is_missed, np.ones(count, bool)
    if may_miss:
        is_missed, is_comparable = _find_missed(distances, sample.log_ratios, cutoff)
        if is_comparable.any() and 0 < MISSED_SHARE * is_missed.sum() <= len(fit):
            is_explained, is_usable = ~is_missed, is_comparable
    implausibility = np.where(is_usable, distances.scaled[is_explained].max(axis=0), math.inf)
    log_likelihoods = np.where(is_usable, distances.log_densities[is_explained].sum(axis=0), -math.inf)
    is_left = implausibility <= cutoff
    weights = normalise(np.where(is_left, sample.log_ratios + log_likelihoods, -math.inf))
    missed = tuple(name for name, is_out in zip(fit, is_missed.tolist(), strict=True) if is_out)
    return Judgement(implausibility, log_likelihoods, weights, missed)


def find_needed_discrepancy(figure: Figure, sample: Sample, weights: np.ndarray) -> float:
    """Return the discrepancy that a missed figure needs, as a share of the smaller of both figures.

    It is the root mean square of its error over the draws. A figure that is simulated a tenth as large as
    measured, or ten times as large, needs the same, as predictions that it widens are uncertain by a factor.
    """
    chosen = weights > 0
    simulated, value = np.abs(sample.figures[figure.name][chosen]), abs(_value(figure))
    smaller = np.minimum(simulated, value) if value else simulated
    return math.sqrt(float(((simulated - value) / smaller) ** 2 @ weights[chosen]))


def find_nearest(figure: Figure, sample: Sample) -> float | None:
    """Return the simulated value nearest to a measured one, as a ratio; None without values above 0."""
    simulated = sample.figures[figure.name]
    known = simulated[np.isfinite(simulated) & (simulated > 0)]
    value = _value(figure)
    if not len(known) or value <= 0:
        return None
    return float(known[np.abs(np.log(known / value)).argmin()])


def is_hopeless(calibration: Calibration, sample: Sample, judgement: Judgement) -> bool:
    """Return whether a fit is ruled out and further draws of the prior would not change it.

    Most figures are then all slower, or all faster, than the measured value by more than `HOPELESS_FACTOR`.
    """
    if not judgement.is_ruled_out:
        return False
    far = 0
    for name in calibration.leading:
        figure = calibration.figures[name]
        nearest = find_nearest(figure, sample)
        if nearest is not None:
            value, simulated = _value(figure), sample.figures[name]
            known = simulated[np.isfinite(simulated)]
            is_one_sided = bool((known > value).all() or (known < value).all())
            far += is_one_sided and max(nearest / value, value / nearest) > HOPELESS_FACTOR
    return 2 * far > len(calibration.leading)


def widen(calibration: Calibration, sample: Sample, fit: Sequence[str], judgement: Judgement) -> Calibration:
    """Return a calibration whose predictions have the discrepancy that the missed figures show.

    In each class of loads, the variance grows by what the missed figures need beyond what was stated (their
    mean, if there are several): how far their error reaches is not known, so that any load of the class may
    have it. Where no figure of a class is fitted, the missed figures of all classes count.
    """
    if judgement.is_ruled_out or not judgement.missed:
        return calibration
    fitted = [calibration.figures[name] for name in fit]
    beyond = {
        figure.name: find_needed_discrepancy(figure, sample, judgement.weights) ** 2 - figure.discrepancy**2
        for figure in fitted
        if figure.name in judgement.missed
    }

    def widen_one(figure: _Predicted) -> _Predicted:
        alike = [other for other in fitted if other.load_class == figure.load_class] or fitted
        added = [beyond[other.name] for other in alike if other.name in beyond]
        if not added:
            return figure
        return replace(figure, discrepancy=math.sqrt(figure.discrepancy**2 + statistics.fmean(added)))

    return replace(
        calibration,
        figures={
            name: figure if name in fit else widen_one(figure) for name, figure in calibration.figures.items()
        },
        candidates={name: widen_one(candidate) for name, candidate in calibration.candidates.items()},
    )


def _measure_distances(calibration: Calibration, sample: Sample, fit: Sequence[str]) -> _Distances:
    scaled, log_densities, free, is_nothing = [], [], [], []
    for name in fit:
        figure = calibration.figures[name]
        simulated, error = sample.figures[name], sample.errors[name]
        # Of the simulated figure, as in the prediction: a share of the measured one would be smaller where
        # the model happens to be too low, and pull the posterior.
        discrepancy = figure.discrepancy * np.abs(simulated)
        deviation = np.sqrt(figure.tolerance**2 + discrepancy**2 + error**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.abs(simulated - _value(figure))
            distance = apart / deviation
            density = -(distance**2) / 2 - np.log(deviation)
            free.append(-0.5 - np.log(apart))
        has_figure = np.isfinite(distance)
        scaled.append(np.where(has_figure, distance, math.inf))
        log_densities.append(np.where(has_figure, density, -math.inf))
        is_nothing.append(simulated == 0)
    return _Distances(np.stack(scaled), np.stack(log_densities), np.stack(free), np.stack(is_nothing))


def _find_missed(
    distances: _Distances, log_ratios: np.ndarray, cutoff: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return which figures are missed, and the draws in which a discrepancy can explain what is missed.

    A draw that explains all others misses exactly these figures, as no draw misses fewer.
    """
    exceeds = ~(distances.scaled <= cutoff)
    is_comparable = ~(exceeds & (~np.isfinite(distances.scaled) | distances.is_nothing)).any(axis=0)
    is_candidate = is_comparable if is_comparable.any() else ~is_comparable
    counts = np.where(is_candidate, exceeds.sum(axis=0), len(exceeds) + 1)
    log_weights = log_ratios + np.where(exceeds, distances.free, distances.log_densities).sum(axis=0)
    by_set: dict[bytes, list[int]] = {}
    for draw in np.flatnonzero(counts == counts.min()).tolist():
        by_set.setdefault(exceeds[:, draw].tobytes(), []).append(draw)
    draws = max(by_set.values(), key=lambda draws: _log_sum(log_weights[draws]))
    return exceeds[:, draws[0]], is_comparable


def _log_sum(logarithms: np.ndarray) -> float:
    """Return the logarithm of the sum of exponentials; minus infinity of what is not finite."""
    known = logarithms[np.isfinite(logarithms)]
    return float(np.logaddexp.reduce(known)) if len(known) else -math.inf


def _value(figure: Figure) -> float:
    if figure.value is None:
        raise AssertionError("a fitted figure has a value")
    return figure.value
