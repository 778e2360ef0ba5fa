"""Means over replicates and their Student t-intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from destage.student import half_width


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % interval.

    Attributes:
        mean: The mean; None without values.
        half_width: Half the width of the interval; None with fewer than two values.
        n: How many values there are.
    """

    mean: float | None
    half_width: float | None
    n: int

    def is_within(self, relative: float) -> bool:
        """Return whether there are values enough and the interval is narrow enough.

        Args:
            relative: The largest half-width allowed, as a fraction of the mean.
        """
        if self.mean is None or self.half_width is None or self.n < FEWEST:
            return False
        return self.half_width <= relative * abs(self.mean)


FEWEST = 5
"""The fewest replicates whose interval is trusted."""


def t_interval(values: Sequence[float]) -> Interval:
    """Return the mean of some values and its 95 % t-interval.

    Args:
        values: One independent value per replicate.
    """
    n = len(values)
    if n == 0:
        return Interval(None, None, 0)
    mean = math.fsum(values) / n
    if n == 1:
        return Interval(mean, None, 1)
    return Interval(mean, half_width(values), n)


def replicates_wanted(interval: Interval, relative: float, most: int) -> int:
    """Return how many replicates should reach a target, at most twice as many as there are.

    Args:
        interval: What the replicates so far say.
        relative: The half-width aimed at, as a fraction of the mean.
        most: The number not to exceed.
    """
    if interval.is_within(relative):
        return interval.n
    least = max(FEWEST, interval.n + 1)
    if not interval.mean or interval.half_width is None:
        return min(max(least, 2 * interval.n), most)
    # The half-width falls with the root of n.
    needed = math.ceil(interval.n * (interval.half_width / (relative * abs(interval.mean))) ** 2)
    return min(max(least, min(needed, 2 * interval.n)), most)
