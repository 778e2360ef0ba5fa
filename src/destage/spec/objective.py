"""An objective: a bound on a result column, and whether a value meets it."""

import math
import operator
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_LEAST = sys.float_info.min
NORMAL = "normal"
"""Normal operation: no disk has failed, and the battery works."""
DURING_REBUILD, DEAD_BATTERY = "during_rebuild", "dead_battery"
"""The states of failure in which an array may have objectives of its own."""


@dataclass(frozen=True, slots=True)
class Objective:
    """A bound that a run must meet.

    Attributes:
        text: As it was given, such as `response_p95 <= 30ms`.
        column: The result column that is bounded.
        bound: The bound [the column's unit].
    """

    text: str
    column: str
    comparison: str
    bound: float

    @property
    def is_upper(self) -> bool:
        """Whether smaller values are better."""
        return self.comparison.startswith("<")

    def is_met(self, value: float) -> bool:
        """Whether a value of the column meets the bound."""
        return _COMPARE[self.comparison](value, self.bound)

    def margin(self, value: float) -> float:
        """Return the log of value over bound, its sign such that it is positive exactly when missed.

        It is infinite where there is no log: a bound or a value of zero.
        """
        is_met = self.is_met(value)
        if self.bound > 0 and value > 0:
            ratio = math.log(value / self.bound)
            margin = ratio if self.is_upper else -ratio
            # At the bound, the comparison decides, not the rounding of the log.
            return min(margin, 0.0) if is_met else max(margin, _LEAST)
        return -math.inf if is_met else math.inf

    def violation(self, value: float) -> float:
        """Return how far a value is beyond the bound, as a fraction of the bound; negative when met."""
        excess = value - self.bound if self.is_upper else self.bound - value
        return excess / abs(self.bound) if self.bound else excess
