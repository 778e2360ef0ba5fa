"""Paired comparison of two points whose replicates use common random streams.

Common random numbers cancel variation that affects both points alike: the variance of the difference is
Var(A) + Var(B) - 2 Cov(A, B). The variance reduction, (Var(A) + Var(B)) / Var(B - A), is the factor by which
independent streams would need more replicates for an interval of the same width (A. M. Law, Simulation
Modeling and Analysis, 11.2; the interval is the paired t-interval of 10.2.1).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from destage.spec.axis_names import is_minimum
from destage.student import half_width

NEGLIGIBLE = 1e-4
"""The share of a value below which a difference is of no use to anybody; tables round to four digits."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One result of two points.

    Attributes:
        column: The result column.
        count: The number of replicates with a value at both points.
        mean_a: The mean of A over these replicates.
        mean_b: The same of B.
        difference: The mean of B - A.
        low: The lower end of its 95 % t-interval; None for a single replicate.
        ratio: The mean of B over that of A; None if that of A is 0.
        variance_reduction: The variance of the difference of independent replicates over that of the pairs;
            None where the pairs do not vary, or there is one.
    """

    column: str
    count: int
    mean_a: float
    mean_b: float
    difference: float
    low: float | None
    high: float | None
    ratio: float | None
    variance_reduction: float | None

    @property
    def is_shown(self) -> bool:
        """Whether the interval shows a difference: it does not contain 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    @property
    def is_negligible(self) -> bool:
        """Whether the whole interval, or the difference of a single replicate, is below `NEGLIGIBLE`."""
        ends = (self.difference, self.low or 0.0, self.high or 0.0)
        return max(map(abs, ends)) <= NEGLIGIBLE * max(abs(self.mean_a), abs(self.mean_b))

    @property
    def verdict(self) -> str:
        """What the interval says about B."""
        if self.low is None:
            return "one value each" if is_minimum(self.column) else "one replicate"
        if self.low == self.high == 0:
            return "equal"
        if self.is_negligible:
            return f"equal within {100 * NEGLIGIBLE:g} %"
        if not self.is_shown:
            return "no difference shown"
        return "B is higher" if self.difference > 0 else "B is lower"


def compare_values(
    column: str, values_a: Mapping[int, float], values_b: Mapping[int, float]
) -> Difference | None:
    """Return the difference of two points, given the value of each replicate.

    Replicates that only one of them has are left out; None if they have none in common.
    """
    common = sorted(values_a.keys() & values_b.keys())
    if not common:
        return None
    a, b = [values_a[each] for each in common], [values_b[each] for each in common]
    differences = [after - before for before, after in zip(a, b, strict=True)]
    mean_a, mean_b, mean = _mean(a), _mean(b), _mean(differences)
    has_interval = len(common) > 1
    spread = half_width(differences)
    return Difference(
        column=column,
        count=len(common),
        mean_a=mean_a,
        mean_b=mean_b,
        difference=mean,
        low=mean - spread if has_interval else None,
        high=mean + spread if has_interval else None,
        ratio=mean_b / mean_a if mean_a else None,
        variance_reduction=_reduce(a, b, differences) if has_interval else None,
    )


def _reduce(a: Sequence[float], b: Sequence[float], differences: Sequence[float]) -> float | None:
    paired = _sum_squares(differences)
    # Below this, the sum of squares is rounding.
    least = 1e-24 * max(*map(abs, a), *map(abs, b)) ** 2
    return (_sum_squares(a) + _sum_squares(b)) / paired if paired > least else None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _sum_squares(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values)
