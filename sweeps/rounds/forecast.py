"""How many runs later rounds will add to a sweep, from the runs that its points have taken so far."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_SCOUTS, _VALUES = 4.0, 2.0
"""Runs of a search: those of one replicate that find the bracket, and the values that all replicates run.

Seven finished sweeps took 4.5 + 1.9 R runs per point for R replicates, from 0.7 to 1.4 times that per sweep.
"""
_TRIED, _SEARCHED, _SPREAD_LEAST = 1.4, 2.0, 3.0
"""Of a search for the smallest value: the values tried for each halving of their number, the points that are
searched to the end for each of the cheapest ones, and the uncertainty factor.

Four sweeps took 0.24 to 1.1 times the runs that follow, the fewest where the smallest number of disks is
enough. Searches with random prices and answers took 0.9 to 1.3 times as many on average, 0.3 to 2.5 in most.
"""
_SPREAD_PRIOR, _SPREAD_SEEN = 1.4, 1.2
"""The factor by which later rounds may differ from the constants above, and from finished points."""
_ENOUGH = 5
"""Minimum finished points for using their mean instead of the constants."""


@dataclass(frozen=True, slots=True)
class PointProgress:
    """What a point has taken so far.

    Attributes:
        planned: Runs planned for it.
        least: Replicates of every point.
        most: Replicates that it may have.
        seeks: Whether it searches for a value.
        has_result: Whether its search has ended, or it has none.
    """

    planned: int
    least: int
    replicates: int
    most: int
    seeks: bool
    has_result: bool


@dataclass(frozen=True, slots=True)
class LeastProgress:
    """What the search of a point for the smallest value has taken so far.

    Attributes:
        planned: Runs planned for it.
        values: The number of allowed values.
        has_result: Whether its search has ended.
    """

    planned: int
    values: int
    has_result: bool


@dataclass(frozen=True, slots=True)
class Forecast:
    """The runs that later rounds will add.

    Attributes:
        runs: The expected number.
        factor: Up to how many times more or less they may be.
    """

    runs: float
    factor: float

    @property
    def low(self) -> float:
        """A number that is rarely too high."""
        return self.runs / self.factor

    @property
    def high(self) -> float:
        """A number that is rarely exceeded."""
        return self.runs * self.factor


NO_MORE = Forecast(0.0, 1.0)


def forecast_runs(points: Iterable[PointProgress]) -> Forecast:
    """Return the runs that later rounds will add to these points."""
    listed = list(points)
    ended = [point for point in listed if point.seeks and point.has_result]
    has_seen = len(ended) >= _ENOUGH
    seen = sum(point.planned for point in ended) / len(ended) if has_seen else 0.0
    runs = 0.0
    for point in listed:
        if point.seeks and not point.has_result:
            expected = seen if has_seen else _SCOUTS + _VALUES * point.replicates
            runs += max(expected - point.planned, float(point.replicates))
        if point.replicates < point.most and not (point.seeks and point.has_result):
            # Assumed: half of the points need no further replicates, the others half of those allowed.
            runs += (point.most - point.replicates) / 2 * (_VALUES if point.seeks else 1.0) / 2
    return Forecast(runs, _SPREAD_SEEN if has_seen else _SPREAD_PRIOR) if runs else NO_MORE


def add_points(forecast: Forecast, points: tuple[int, int], planned: Sequence[int]) -> Forecast:
    """Return a forecast with points that are still to come, each with as many runs as those so far.

    Args:
        points: The points that are expected, and at most.
    """
    expected, most = points
    if not expected or not planned:
        return forecast
    mean = sum(planned) / len(planned)
    runs = forecast.runs + expected * mean
    return Forecast(runs, max(forecast.factor, _SPREAD_PRIOR, (forecast.runs + most * mean) / runs))


def forecast_least(searches: Sequence[LeastProgress], least: int, cheapest: int | None) -> Forecast:
    """Return the runs that later rounds will add to searches for the smallest value.

    Args:
        least: The fewest replicates of a value.
        cheapest: The number of cheapest points to find; None to search all points.
    """
    expected = [_TRIED * math.log2(max(search.values, 2)) * least for search in searches]
    left = [
        (search.planned, runs)
        for search, runs in zip(searches, expected, strict=True)
        if not search.has_result
    ]
    if cheapest is None:
        runs = sum(max(needed - planned, 0.0) for planned, needed in left)
    else:
        searched = min(_SEARCHED * cheapest / len(searches), 1.0)
        runs = (
            max(searched * sum(expected) - sum(search.planned for search in searches), 0.0) if left else 0.0
        )
    return Forecast(runs, _SPREAD_LEAST) if runs else NO_MORE


def combine_factors(*factors: float) -> float:
    """Return the uncertainty factor of a product of independent quantities with these uncertainty factors."""
    return math.exp(math.hypot(*[math.log(factor) for factor in factors]))
