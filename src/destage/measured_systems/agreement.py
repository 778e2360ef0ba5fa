"""How well predictions agree with the measured rates: median error and bias."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from destage.measured_systems.bank import MeasuredRate
from destage.measured_systems.load_class import classify_rate
from destage.measured_systems.prediction import Prediction

Pair = tuple[MeasuredRate, Prediction]
"""A measured rate with its prediction."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How one quantity of a group agrees; errors are predicted / measured - 1.

    Attributes:
        error: Median of the absolute errors.
        bias: Median of the errors.
    """

    count: int
    error: float
    bias: float


def agree_on_rate(pairs: Sequence[Pair]) -> Agreement:
    """Compare the I/Os per second."""
    return _compare([(rate.iops, each.iops) for rate, each in pairs])


def agree_on_response(pairs: Sequence[Pair]) -> Agreement | None:
    """Compare the mean response times; None if none was measured."""
    measured = [(rate.response_us, each.response_us) for rate, each in pairs if rate.response_us is not None]
    return _compare(measured) if measured else None


def group_by_system(pairs: Sequence[Pair]) -> Mapping[str, list[Pair]]:
    """Return the pairs of each system, by its name."""
    return _group(pairs, lambda rate: rate.system)


def group_by_class(pairs: Sequence[Pair]) -> Mapping[str, list[Pair]]:
    """Return the pairs of each class of device and load, by its description."""
    ordered = sorted(pairs, key=lambda pair: classify_rate(pair[0]).order)
    return _group(ordered, lambda rate: str(classify_rate(rate)))


def _group(pairs: Sequence[Pair], name: Callable[[MeasuredRate], str]) -> dict[str, list[Pair]]:
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(name(pair[0]), []).append(pair)
    return groups


def _compare(values: Sequence[tuple[float, float]]) -> Agreement:
    errors = [predicted / measured - 1 for measured, predicted in values]
    return Agreement(len(values), statistics.median(map(abs, errors)), statistics.median(errors))
