"""Statistics of each replicate combined to a mean with a 95 % interval.

Replicates use common random numbers at all points, so that only replicates are independent of each other: the
statistic is computed within each, and a t-interval taken over them. A statistic of a random sample of points
would differ in another sample; that error is common to the replicates and added: the half-width is
sqrt((t_R s / sqrt(R))^2 + (t_G e)^2) for R replicates with the standard deviation s and the sampling error e
from G groups.
"""

from dataclasses import dataclass

import numpy as np

from destage.student import quantile


@dataclass(frozen=True, slots=True)
class Estimate:
    """Statistics with their intervals; NaN where one is unknown."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def combine_replicates(by_replicate: np.ndarray, sampling: tuple[np.ndarray, int] | None) -> Estimate:
    """Return the means of statistics over replicates.

    Args:
        by_replicate: By replicate and statistic.
        sampling: The standard error of each mean by the choice of points, and the number of groups that it is
            from; None if the points are all there are.
    """
    count = len(by_replicate)
    value = by_replicate.mean(axis=0)
    squares = np.zeros_like(value)
    if count > 1:
        squares += (quantile(count) * by_replicate.std(axis=0, ddof=1)) ** 2 / count
    if sampling is not None:
        error, groups = sampling
        squares += (quantile(groups) * error) ** 2
    half = np.sqrt(squares) if count > 1 or sampling is not None else np.full_like(value, np.nan)
    return Estimate(value, value - half, value + half)


def describe_cover(replicates: int, *, is_sampled: bool) -> str | None:
    """Return what intervals cover; None without intervals."""
    parts = ["replicates"] * (replicates > 1) + ["sampling"] * is_sampled
    return " and ".join(parts) or None
