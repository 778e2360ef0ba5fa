"""The search for the cheapest points: which points are searched further, and up to which value.

The price of a point rises with the sought number of disks. Until enough points are known that meet the
objectives, those whose next value costs the least are searched, a few at a time. From then on, every other
point is tried at the largest number of disks that costs less than the last of the cheapest points: if that
misses the objectives, the point is more expensive, whatever its answer is.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from destage.sweeps.seek.smallest_search import Standing, choose_value

_TOGETHER = 6
"""Points searched at a time before the cheapest ones are known: their runs keep the processors busy."""
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Candidate:
    """A point with its prices.

    Attributes:
        count: The number of its allowed values.
        price: Returns the price at the position of a value [currency].
    """

    count: int
    standing: Standing
    price: Callable[[int], float]

    @property
    def least_price(self) -> float:
        """The price of the next value above those that do not meet the objectives, or infinity."""
        following = self.standing.lower + 1
        return self.price(following) if following < self.count else math.inf

    @property
    def known_price(self) -> float:
        """The price of the smallest value that is known to meet the objectives, or infinity.

        A point whose search a fault has ended gets no answer, so that it is none of the cheapest.
        """
        upper = self.standing.upper
        return self.price(upper) if upper < self.count and self.standing.fault is None else math.inf


@dataclass(frozen=True, slots=True)
class Choice:
    """What comes next.

    Attributes:
        values: By position of a point, the position of the value to try.
        expensive: The positions of the points that cost more than the cheapest ones, whatever their answers.
    """

    values: dict[int, int]
    expensive: frozenset[int]


def choose_points(candidates: Sequence[Candidate], most: int, highest: float = math.inf) -> Choice:
    """Return the values to try next, and the points that need no further search.

    Args:
        candidates: All points; those with runs in flight or with a failed run get no value.
        most: The number of cheapest points to find.
        highest: The highest price of interest [currency].
    """
    ranked = sorted(range(len(candidates)), key=lambda at: (candidates[at].known_price, at))
    cheapest = [at for at in ranked[:most] if candidates[at].known_price <= min(highest, _LARGEST)]
    is_full = len(cheapest) == most
    # Only prices below the limit are of interest.
    limit = candidates[cheapest[-1]].known_price if is_full else math.nextafter(highest, math.inf)
    values: dict[int, int] = {}
    expensive = set()
    for at, one in enumerate(candidates):
        if one.standing.missing or one.standing.is_closed:
            continue
        if at in cheapest:
            value = choose_value(one.standing, one.count, 0)
        elif one.least_price >= limit:
            expensive.add(at)
            continue
        elif is_full:
            value = choose_value(one.standing, one.count, 0, _find_ceiling(one, limit))
        else:
            value = choose_value(one.standing, _find_ceiling(one, limit) + 1, 0)
        if value is not None:
            values[at] = value
    if not is_full:
        first = sorted(values, key=lambda at: (candidates[at].price(values[at]), at))
        values = {at: values[at] for at in first[:_TOGETHER]}
    return Choice(values, frozenset(expensive))


def _find_ceiling(one: Candidate, limit: float) -> int:
    """Return the position of the largest value below a price; the smallest value must be below it."""
    low, high = one.standing.lower + 1, one.count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if one.price(middle) < limit else (low, middle)
    return low
