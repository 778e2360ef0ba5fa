"""The pooled fit of a seek: the value at which an objective reaches its bound, from runs near it.

Near the bound, the log of an objective's column is a line in the log of the sought value N:

    m_r(N) = a_r + b (log N - log x),    m = log(column / bound)

The slope b is common to the replicates of a point, and comes from two runs of one replicate on either side.
a_r is the deviation of replicate r. The margins of a replicate, averaged over the values that every replicate
has run, give the value at which it reaches the bound, its crossing: x_r = N exp(-m_r / b), with the geometric
mean N of these values. The answer is the mean of x_r with its t-interval. An error of b moves it in
proportion to the mean distance of these values from it; the interval is widened accordingly.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from destage.student import quantile
from destage.sweeps.seek.intervals import Interval, t_interval
from destage.sweeps.seek.probes import Points

_DOUBT = 0.5
"""How far the slope between the rungs of a bracket may be from the slope at the crossing, as a fraction."""
_FAR = math.log(1000)
"""Distance above the highest run beyond which a crossing is rejected [log of the ratio of values]."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Where the binding objective reaches its bound.

    Attributes:
        crossings: The value at which each replicate does.
        spread: The part of the half-width that is due to the spread of the crossings; 0 with one replicate.
    """

    crossings: Mapping[int, float]
    interval: Interval
    spread: float = 0.0

    @property
    def mean(self) -> float:
        """The mean of the crossings."""
        return math.fsum(self.crossings.values()) / len(self.crossings)


def cross_line(ends: Points) -> float | None:
    """Return where the first objective reaches its bound on the line through two runs.

    Returns:
        None if the objective that the upper run misses measured nothing, or falls.
    """
    (low, below), (high, above) = ends
    length = math.log(high / low)
    logs = []  # logs of the ratio to the lower run's value
    for margin, other in zip(below, above, strict=True):
        if other > 0 and not (math.isfinite(margin) and math.isfinite(other) and other > margin):
            return None
        if math.isfinite(margin) and math.isfinite(other) and other > margin:
            logs.append(-margin * length / (other - margin))
    nearest = min(logs, default=math.inf)
    return low * math.exp(nearest) if nearest <= length + _FAR else None


def fit_crossing(bracket: Points, full: Mapping[int, Points]) -> Fit | None:
    """Return the crossing of the objective that is reached first.

    Args:
        bracket: Two runs of one replicate, which give the slope.
        full: The runs of each replicate at the values that all of them have run.

    Returns:
        None if no line fits: an objective that is missed measured nothing, or hardly grows.
    """
    fits = []
    for objective in range(len(bracket[0][1])):
        near = {replicate: _pick(runs, objective) for replicate, runs in full.items()}
        margins = [margin for points in near.values() for _, margin in points]
        is_measured = all(map(math.isfinite, margins))
        fitted = _fit(_pick(bracket, objective), near) if is_measured else None
        if fitted is not None:
            fits.append(fitted)
        elif max(margins) > 0:
            return None
    return min(fits, key=lambda fitted: fitted.mean, default=None)


def _pick(runs: Points, objective: int) -> list[tuple[float, float]]:
    """Return the log of the value and the margin of one objective in each run."""
    return [(math.log(value), margins[objective]) for value, margins in runs]


def _fit(
    bracket: Sequence[tuple[float, float]], full: Mapping[int, Sequence[tuple[float, float]]]
) -> Fit | None:
    (low, below), (high, above) = bracket
    slope = (above - below) / (high - low)
    if not math.isfinite(slope) or slope <= 0:
        return None
    crossings, offsets = {}, []
    for replicate, points in full.items():
        offset = math.fsum(margin for _, margin in points) / len(points) / slope
        place = math.fsum(place for place, _ in points) / len(points) - offset
        if place > high + _FAR:
            return None
        crossings[replicate] = math.exp(place)
        offsets.append(offset)
    interval = t_interval(list(crossings.values()))
    if interval.mean is None or interval.half_width is None:
        return Fit(crossings, interval)
    noise = math.sqrt(2 * _measure_noise(list(full.values()))) / (high - low) / slope
    doubt = math.hypot(quantile(interval.n) * noise, _DOUBT)
    by_slope = interval.mean * doubt * math.fsum(offsets) / len(offsets)
    widened = Interval(interval.mean, math.hypot(interval.half_width, by_slope), interval.n)
    return Fit(crossings, widened, interval.half_width)


def _measure_noise(groups: Sequence[Sequence[tuple[float, float]]]) -> float:
    """Return the variance of the margin of a run beyond what its replicate and its value explain."""
    values, count = len(groups[0]), len(groups)
    if values < 2 or count < 2:  # noqa: PLR2004 - nothing to compare
        return 0.0
    margins = [[margin for _, margin in points] for points in groups]
    by_value = [math.fsum(column) / count for column in zip(*margins, strict=True)]
    by_replicate = [math.fsum(row) / values for row in margins]
    mean = math.fsum(by_value) / values
    residual = math.fsum(
        (margin - by_replicate[row] - by_value[column] + mean) ** 2
        for row, line in enumerate(margins)
        for column, margin in enumerate(line)
    )
    return residual / ((values - 1) * (count - 1))
