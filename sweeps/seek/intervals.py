"""Means over replicates and their Student t-intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from destage.student import half_width

FEWEST = 5
"""Minimum replicates for an interval to be trusted."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % interval.

    Attributes:
        mean: The mean; None without values.
        half_width: Half the width of the interval; None with fewer than two values.
        n: The number of values.
    """

    mean: float | None
    half_width: float | None
    n: int

    def is_within(self, relative: float) -> bool:
        """Whether the half-width is at most a fraction of the mean, over enough values."""
        if self.mean is None or self.half_width is None or self.n < FEWEST:
            return False
        return self.half_width <= relative * abs(self.mean)


def t_interval(values: Sequence[float]) -> Interval:
    """Return the mean and its 95 % t-interval of one independent value per replicate."""
    n = len(values)
    if n == 0:
        return Interval(None, None, 0)
    mean = math.fsum(values) / n
    return Interval(mean, half_width(values) if n > 1 else None, n)


def replicates_needed(interval: Interval, relative: float, most: int) -> int:
    """Return how many replicates should reach a target, at most twice as many as there are.

    Args:
        relative: The target half-width, as a fraction of the mean.
    """
    if interval.is_within(relative):
        return interval.n
    least = max(FEWEST, interval.n + 1)
    if not interval.mean or interval.half_width is None:
        return min(max(least, 2 * interval.n), most)
    # The half-width falls with the root of n.
    needed = math.ceil(interval.n * (interval.half_width / (relative * abs(interval.mean))) ** 2)
    return min(max(least, min(needed, 2 * interval.n)), most)
