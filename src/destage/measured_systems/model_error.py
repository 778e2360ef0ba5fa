"""The error of the model: how far measured systems were from what is simulated for them, by class of load.

The speed of a system is its measured rate over the simulated one, with the same I/Os outstanding. Its
logarithm is taken as normal: a mean of the class, a deviation of each system from that, and a deviation of
each rate. Both variances are those of all classes of the medium with the same operations, as a class has
few systems. The interval is that of a rate of a system that is not in the bank, with Student's quantile: it
holds what is unknown about a system that is described by data sheets alone.
"""

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from destage.measured_systems.bank import MeasuredRate, rates
from destage.measured_systems.load_class import LoadClass, classify_rate
from destage.measured_systems.prediction import Prediction, stored_predictions
from destage.student import quantile

CONFIDENCE = 0.9
"""The share of rates of other systems that an interval has."""
_FEWEST = 2
"""The fewest systems of a class: one has no spread."""
_Speeds = Mapping[str, Sequence[float]]
"""The logarithms of the speeds of each system."""


@dataclass(frozen=True, slots=True)
class ModelError:
    """The speeds of systems of a class, as multiples of the simulated speed.

    Attributes:
        load: The class, or the narrowest one around it that has enough systems.
        systems: The systems measured in it.
        low: The lower end of the interval.
        middle: Its middle: below 1, systems are slower than simulated.
        high: The upper end.
    """

    load: LoadClass
    systems: int
    low: float
    middle: float
    high: float


def estimate(load: LoadClass, without: str | None = None) -> ModelError | None:
    """Return the model error in a class of load; None if there are too few measured systems.

    Args:
        without: A system that is left out, to predict it.
    """
    for wider in load.widen():
        speeds = _collect(wider, without)
        if len(speeds) >= _FEWEST:
            return _estimate(wider, speeds, without)
    return None


def find_coverage(pairs: Iterable[tuple[MeasuredRate, Prediction]]) -> float:
    """Return the share of measured rates inside their intervals, each system predicted without itself."""
    inside = []
    for rate, predicted in pairs:
        error = estimate(classify_rate(rate), rate.system)
        speed = rate.iops / predicted.iops
        inside.append(error is not None and error.low <= speed <= error.high)
    return statistics.fmean(inside)


def _estimate(load: LoadClass, speeds: _Speeds, without: str | None) -> ModelError:
    middle = statistics.fmean(map(statistics.fmean, speeds.values()))
    between, within, degrees = _pool(load, without)
    spread = math.sqrt(between * (1 + 1 / len(speeds)) + within)
    half = quantile(degrees + 1, CONFIDENCE) * spread
    return ModelError(
        load=load,
        systems=len(speeds),
        low=math.exp(middle - half),
        middle=math.exp(middle),
        high=math.exp(middle + half),
    )


@cache
def _pool(load: LoadClass, without: str | None) -> tuple[float, float, int]:
    """Return the variances between systems and within them over the classes as wide as `load`.

    The third value is the degrees of freedom of the first: a system deviates alike in all of its classes, so
    that it counts once.
    """
    groups = [_collect(each, without) for each in _list_classes(load)]
    means = [[statistics.fmean(values) for values in speeds.values()] for speeds in groups]
    degrees = sum(len(each) - 1 for each in means)
    between = math.fsum(_square(each) for each in means) / degrees
    every = [values for speeds in groups for values in speeds.values()]
    within = math.fsum(map(_square, every)) / max(1, sum(len(values) - 1 for values in every))
    return between, within, len({name for speeds in groups for name in speeds}) - 1


def _square(values: Sequence[float]) -> float:
    """Return the sum of the squared deviations from the mean."""
    mean = statistics.fmean(values)
    return math.fsum((value - mean) ** 2 for value in values)


def _list_classes(load: LoadClass) -> Iterator[LoadClass]:
    """Yield the classes as wide as `load` of its medium and operations, each once."""
    depth = next(at for at, wider in enumerate(_WIDEST.widen()) if _width(wider) == _width(load))
    found = {list(classify_rate(rate).widen())[depth] for rate in rates()}
    yield from (each for each in found if (each.medium, each.operations) == (load.medium, load.operations))


_WIDEST = LoadClass("spinning", cached=True, operations="reads", band=0)


def _width(load: LoadClass) -> tuple[bool, bool, bool]:
    return load.cached is None, load.band is None, load.operations is None


@cache
def _collect(load: LoadClass, without: str | None) -> _Speeds:
    found: dict[str, list[float]] = {}
    for rate, predicted in zip(rates(), stored_predictions(), strict=True):
        if rate.system != without and load.contains(classify_rate(rate)):
            found.setdefault(rate.system, []).append(math.log(rate.iops / predicted.iops))
    return found
