"""Student's t-interval of a mean.

scipy has it, too, but takes longer to load than pyarrow and DuckDB together, which a pod with a fraction of a
processor would pay for with every query. The series is that of M. Abramowitz, I. A. Stegun, Handbook of
Mathematical Functions, 26.7.3 and 26.7.4.
"""

import math
from collections.abc import Sequence
from functools import cache

CONFIDENCE = 0.95
"""The fraction of intervals that contain the true mean."""
_NORMAL = 1.959963984540054
"""The quantile of the normal distribution, the limit of Student's for many values."""


@cache
def quantile(count: int, confidence: float = CONFIDENCE) -> float:
    """Return the half-width of the interval of the mean of `count` values [standard errors].

    Args:
        confidence: The fraction of intervals that contain the true mean.

    Raises:
        ValueError: There are fewer than two values.
    """
    degrees = count - 1
    if degrees < 1:
        raise ValueError(f"{count} values; an interval needs at least 2")
    # The share is concave: Newton's steps from below stay below, until rounding ends them.
    width, step = _NORMAL if confidence >= CONFIDENCE else 0.0, math.inf
    while width + step > width:
        step = (confidence - _share(width, degrees)) / _slope(width, degrees)
        width += max(step, 0.0)
    return width


def half_width(values: Sequence[float], confidence: float = CONFIDENCE) -> float:
    """Return half of the t-interval of the mean of one value per replicate; 0 for one value."""
    count = len(values)
    if count < 2:  # noqa: PLR2004 - one value has no spread
        return 0.0
    mean = math.fsum(values) / count
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return quantile(count, confidence) * math.sqrt(variance / count)


def share_below(values: Sequence[float], bound: float) -> float:
    """Return the probability that the mean of the distribution of independent values is below a bound.

    That is the share of Student's distribution around their mean.

    Args:
        values: At least two values that are not all equal.
    """
    mean = math.fsum(values) / len(values)
    error = half_width(values) / quantile(len(values))
    return cumulative((bound - mean) / error, len(values) - 1)


def cumulative(distance: float, degrees: int) -> float:
    """Return the share of the distribution below a distance from its middle [standard errors]."""
    return (1 + math.copysign(_share(abs(distance), degrees), distance)) / 2


def _share(distance: float, degrees: int) -> float:
    """Return the fraction of the distribution within a distance of its middle: a finite sum [1]."""
    angle = math.atan(distance / math.sqrt(degrees))
    cosine = math.cos(angle)
    is_odd = degrees % 2
    term, terms = cosine if is_odd else 1.0, []
    for factor in range(2 + is_odd, degrees + 1, 2):
        terms.append(term)
        term *= cosine * cosine * (factor - 1) / factor
    total = math.sin(angle) * math.fsum(terms)
    return 2.0 / math.pi * (angle + total) if is_odd else total


def _slope(distance: float, degrees: int) -> float:
    """Return the slope of that fraction: twice the density."""
    half = degrees / 2
    scale = math.exp(math.lgamma(half + 0.5) - math.lgamma(half)) / math.sqrt(math.pi * degrees)
    return 2 * scale * math.pow(1 + distance * distance / degrees, -half - 0.5)
