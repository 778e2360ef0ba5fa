"""The measurement that would narrow the predictions most, of those that could be made next.

It is the one with the greatest expected information about what is predicted [1]. Each candidate is simulated
for a few draws of the posterior, chosen systematically [2]; what measuring it would remove of the variance of
a prediction follows from these draws. What a measurement says about itself does not count.

1. Chaloner, Verdinelli: Bayesian experimental design: a review (Statistical Science 10, 1995).
2. Kitagawa: Monte Carlo filter and smoother for non-Gaussian nonlinear state space models (Journal of
   Computational and Graphical Statistics 5, 1996).
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from destage.spec import quantities
from destage.sweeps.calibration.knowledge import share_of_figure
from destage.sweeps.calibration.sample import Mixture, Sample
from destage.sweeps.keys.calibrate_settings import TOLERANCE, Calibration, Candidate, Figure

MOST_DRAWS = 24
"""Draws that a candidate is simulated for."""
_OF_A_TEST = ("workload", "run")
"""The fields of a configuration that a test chooses; the others are those of the array."""
_TOLERANCE = float(quantities.parse(TOLERANCE, "fraction"))


@dataclass(frozen=True, slots=True)
class Measurement:
    """A figure that could be measured, at each draw.

    Attributes:
        prediction: What it is expected to be: the simulated figure, with the error of the model.
        deviations: The standard deviation of a measurement around the simulated figure.
    """

    prediction: Mixture
    deviations: np.ndarray


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What measuring something is expected to do.

    Attributes:
        measurement: What is measured.
        figure: The prediction that it narrows most.
        deviation: The standard deviation of that prediction now, as a share of its mean.
        variance_removed: The share of its variance that is expected to go.
        gain: The squared relative deviation that is expected to go, mean of all predictions.
    """

    measurement: str
    figure: str
    deviation: float
    variance_removed: float
    gain: float

    @property
    def deviation_after(self) -> float:
        """The expected standard deviation afterwards, as a share of the mean."""
        return self.deviation * math.sqrt(1 - self.variance_removed)


def choose_draws(weights: np.ndarray, most: int = MOST_DRAWS) -> np.ndarray:
    """Return how often each draw is chosen, at equal steps of the weight; not at all if none has a weight."""
    total = float(weights.sum())
    if total <= 0:
        return np.zeros(len(weights), int)
    reached = np.cumsum(weights) / total
    places = np.searchsorted(reached, (np.arange(most) + 0.5) / most)
    return np.bincount(np.minimum(places, len(weights) - 1), minlength=len(weights))


def rank_measurements(
    predictions: Mapping[str, Mixture], measurements: Mapping[str, Measurement]
) -> list[Narrowing]:
    """Return what each measurement would narrow, the best first; all are over the same draws."""
    ranked = []
    for name, measurement in measurements.items():
        found = [
            (
                share_of_figure(mixture, measurement.prediction.means, measurement.deviations),
                mixture.deviation / abs(mixture.mean),
                figure,
            )
            for figure, mixture in predictions.items()
            if figure != name and mixture.mean
        ]
        if found:
            gain = statistics.fmean(share * deviation**2 for share, deviation, _ in found)
            share, deviation, figure = max(found, key=lambda row: (row[0] * row[1] ** 2, row[2]))
            ranked.append(Narrowing(name, figure, deviation, share, gain))
    return sorted(ranked, key=lambda row: (-row.gain, row.measurement))


def list_narrowings(
    calibration: Calibration,
    sample: Sample,
    fitted: Sequence[str],
    weights: np.ndarray,
    leading_weights: np.ndarray,
) -> list[Narrowing]:
    """Return what the measurements that were not made would narrow, the best first.

    None is of another array than those that were measured: what a change brings cannot be measured before.
    What is to be predicted counts; without that, the measured figures that are not fitted; without these, the
    candidates.

    Args:
        fitted: The figures of the fit.
        weights: The posterior of the fit.
        leading_weights: That of the leading fit, from which the draws are chosen.
    """
    counts = choose_draws(leading_weights)
    chosen = (counts > 0) & (weights > 0)
    if not chosen.any():
        return []
    posterior = counts[chosen] * weights[chosen] / leading_weights[chosen]
    open_figures = [figure for name, figure in calibration.figures.items() if name not in fitted]
    unmeasured = [figure for figure in open_figures if figure.value is None]
    candidates = list(calibration.candidates.values())
    known: list[Figure | Candidate] = [*open_figures, *candidates]
    present = {path for name in fitted for path in calibration.figures[name].set}
    possible = [figure for figure in unmeasured if _is_on_present_array(figure, present)]
    considered: list[Figure | Candidate] = [*possible, *candidates]
    predicted: Sequence[Figure | Candidate] = unmeasured or open_figures or candidates
    measurements = {
        figure.name: measurement
        for figure in known
        if (measurement := _simulate(figure, sample, chosen, posterior / posterior.sum())) is not None
    }
    return rank_measurements(
        {
            figure.name: measurements[figure.name].prediction
            for figure in predicted
            if figure.name in measurements
        },
        {figure.name: measurements[figure.name] for figure in considered if figure.name in measurements},
    )


def _is_on_present_array(figure: Figure, present: AbstractSet[str]) -> bool:
    """Return whether a figure assigns no more than its load and the fields that fitted figures assign."""
    return all(path in present or path.split(".")[0] in _OF_A_TEST for path in figure.set)


def _simulate(
    figure: Figure | Candidate, sample: Sample, chosen: np.ndarray, weights: np.ndarray
) -> Measurement | None:
    """Return a figure at the chosen draws; None if one of them has no such figure."""
    if figure.name not in sample.figures:
        return None
    means, error = sample.figures[figure.name][chosen], sample.errors[figure.name][chosen]
    model = np.hypot(figure.discrepancy * np.abs(means), error)
    share = figure.tolerance if isinstance(figure, Candidate) else _TOLERANCE
    deviations = np.hypot(model, share * np.abs(means))
    # An undefined deviation is not above 0 either.
    return Measurement(Mixture(means, model, weights), deviations) if (deviations > 0).all() else None
