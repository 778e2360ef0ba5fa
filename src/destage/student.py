"""Student's t: how far the mean of a few values may be from the truth.

This is all of statistics that a question to a sweep needs. scipy has it, too, and takes longer to load than
pyarrow and DuckDB together, for which a pod with a part of a processor would pay with every question.

[1] M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
"""

import math
from collections.abc import Sequence
from functools import cache

CONFIDENCE = 0.95
"""The share of intervals that hold the truth."""
_NORMAL = 1.959963984540054
"""The quantile of the normal distribution, to which Student's falls with the number of values."""


@cache
def quantile(count: int) -> float:
    """Return the half-width of the 95 % interval of a mean [standard errors].

    Args:
        count: How many values the mean is of; two at least.

    Raises:
        ValueError: One value has no spread.
    """
    degrees = count - 1
    if degrees < 1:
        raise ValueError(f"{count}: at least 2 values have a spread")
    # The share rises ever less steeply: Newton's steps from below stay below, until rounding ends them.
    found, step = _NORMAL, math.inf
    while found + step > found:
        step = (CONFIDENCE - _share(found, degrees)) / _slope(found, degrees)
        found += max(step, 0.0)
    return found


def half_width(values: Sequence[float]) -> float:
    """Return half of the 95 % t-interval of a mean; 0 for one value.

    Args:
        values: One of each replicate.
    """
    count = len(values)
    if count < 2:  # noqa: PLR2004 - one value has no spread
        return 0.0
    mean = math.fsum(values) / count
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return quantile(count) * math.sqrt(variance / count)


def _share(distance: float, degrees: int) -> float:
    """Return the share of the distribution within a distance of its middle: a finite sum [1]."""
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
    """Return how fast that share rises: twice the density."""
    half = degrees / 2
    scale = math.exp(math.lgamma(half + 0.5) - math.lgamma(half)) / math.sqrt(math.pi * degrees)
    return 2 * scale * math.pow(1 + distance * distance / degrees, -half - 0.5)
