"""Estimates the model's error from the bank, and which alternative describes each system.

The speed of a system is its measured rate over the simulated one, with the same I/Os outstanding. Its
logarithm is taken as normal: a mean of the class of load, a deviation of each system from that, and a
deviation of each rate. Both variances are those of all classes of the medium with the same operations, as a
class has few systems.

What is open about a system (the state of its SSD, its write caches) is one of its alternatives. Before the
rates are seen, all are equally probable; afterwards, an alternative is the more probable the less its speeds
deviate from those of the other systems. Weights, means and variances are found by expectation maximisation
[1]; a system counts by its alternatives with their weights. So the error is that of a system whose settings
are known.

A system that is not in the bank has Student's distribution. To predict a system of the bank as if it were not
there, it is left out, and what is open about it stays open: the distribution is a mixture over its
alternatives. Such distributions of few and unlike systems are wider than the speeds of systems left out.
Hence an interval takes the central part of the distribution that holds 90 % of those, as jackknife+ does [2].

1. Dempster, Laird, Rubin: Maximum likelihood from incomplete data via the EM algorithm. J. R. Statist. Soc.
  B 39(1), 1977.
2. Barber, Candes, Ramdas, Tibshirani: Predictive inference with the jackknife+. Ann. Statist. 49(1), 2021.
"""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from destage.measured_systems.bank import MeasuredRate, rates, systems
from destage.measured_systems.model_error import CONFIDENCE, LoadClass, ModelError, classify_rate
from destage.measured_systems.prediction import Predictions, stored_predictions
from destage.student import cumulative, quantile

_FEWEST = 2
"""The fewest systems of a class: one has no spread."""
_Weights = Mapping[str, Sequence[float]]
"""The probability of each alternative of each system."""
_Speeds = Mapping[str, Sequence["_Group"]]
"""The speeds of each system in a class, for each of its alternatives."""
_MOST_STEPS = 500
_CONVERGED = 1e-9


@dataclass(frozen=True, slots=True)
class _Group:
    """The logarithms of the speeds of an alternative of a system in a class.

    Attributes:
        squares: The sum of the squared deviations from the mean.
    """

    count: int
    mean: float
    squares: float


def list_errors() -> Iterator[ModelError]:
    """Yield the error of each class that has enough systems, the narrowest first."""
    narrow = sorted({classify_rate(rate) for rate in rates()}, key=lambda load: load.order)
    wider = (list(load.widen())[depth] for depth in range(len(list(narrow[0].widen()))) for load in narrow)
    for load in dict.fromkeys(wider):
        if len(_collect(load, None)) >= _FEWEST:
            yield _estimate(load, None)


def estimate(load: LoadClass, without: str | None = None) -> ModelError | None:
    """Return the model error in a class of load; None if there are too few measured systems.

    Args:
        without: A system that is left out, to predict it.
    """
    compared = _find(load, without)
    return None if compared is None else _estimate(compared, without)


@cache
def weigh(without: str | None = None) -> _Weights:
    """Return the probability of each alternative of each system, given the rates."""
    weights: _Weights = {
        name: [1 / len(system.alternatives)] * len(system.alternatives) for name, system in systems().items()
    }
    classes = sorted({classify_rate(rate) for rate in rates()}, key=lambda load: load.order)
    for _ in range(_MOST_STEPS):
        before = weights
        weights = _weigh_anew(classes, weights, without)
        change = max(
            abs(now - then)
            for name, current in weights.items()
            for now, then in zip(current, before[name], strict=True)
        )
        if change < _CONVERGED:
            break
    return weights


def is_covered(rate: MeasuredRate, predictions: Predictions) -> bool:
    """Return whether a rate is in the interval of its system, which is predicted without itself."""
    return _find_part(rate, predictions) <= find_level(rate.system)


@cache
def find_level(without: str | None = None) -> float:
    """Return the central part of distributions that holds `CONFIDENCE` of the rates of systems left out.

    Args:
        without: A system whose rates do not count, to predict it.
    """
    parts = sorted(part for rate, part in zip(rates(), _list_parts(), strict=True) if rate.system != without)
    return parts[math.ceil(CONFIDENCE * len(parts)) - 1]


@cache
def _list_parts() -> Sequence[float]:
    return [_find_part(*pair) for pair in zip(rates(), stored_predictions(), strict=True)]


def _find_part(rate: MeasuredRate, predictions: Predictions) -> float:
    """Return the central part that a rate bounds, of the distribution of its system without itself."""
    compared = _find(classify_rate(rate), rate.system)
    if compared is None:
        return 1.0
    middle, spread, degrees = _describe(compared, rate.system)
    share = statistics.fmean(
        cumulative((math.log(rate.iops / prediction.iops) - middle) / spread, degrees)
        for prediction in predictions
    )
    return 2 * abs(share - 0.5)


def _find(load: LoadClass, without: str | None) -> LoadClass | None:
    """Return the narrowest class around a load that has enough systems."""
    return next((wider for wider in load.widen() if len(_collect(wider, without)) >= _FEWEST), None)


def _estimate(load: LoadClass, without: str | None) -> ModelError:
    middle, spread, degrees = _describe(load, without)
    half = quantile(degrees + 1, find_level(without)) * spread
    return ModelError(
        load=load,
        systems=len(_collect(load, without)),
        low=math.exp(middle - half),
        middle=math.exp(middle),
        high=math.exp(middle + half),
    )


@cache
def _describe(load: LoadClass, without: str | None) -> tuple[float, float, int]:
    """Return mean and standard deviation of the speed of another system, and the degrees of freedom."""
    speeds, weights = _collect(load, without), weigh(without)
    between, within, degrees = _pool(load, weights, without)
    spread = math.sqrt(between * (1 + 1 / len(speeds)) + within)
    return _find_middle(speeds, weights), spread, degrees


def _weigh_anew(classes: Sequence[LoadClass], weights: _Weights, without: str | None) -> _Weights:
    """Return the weights that follow from the means and variances that follow from `weights`.

    A system deviates alike in the classes of the same operations, so that their mean counts. A class with
    too few systems is compared with a wider one.
    """
    doubts: dict[str, list[float]] = {
        name: [0.0] * len(probabilities) for name, probabilities in weights.items()
    }
    for medium, operations in dict.fromkeys((load.medium, load.operations) for load in classes):
        alike = [load for load in classes if (load.medium, load.operations) == (medium, operations)]
        deviations: dict[str, list[list[float]]] = {}
        for load in alike:
            compared = _find(load, without)
            if compared is None:
                continue
            between, within, _ = _pool(compared, weights, without)
            middle = _find_middle(_collect(compared, without), weights)
            for name, every in _collect(load, without).items():
                deviations.setdefault(name, []).append([speed.mean - middle for speed in every])
        for name, of_classes in deviations.items():
            variance = between + within / len(of_classes)
            for alternative, own_deviations in enumerate(zip(*of_classes, strict=True)):
                doubts[name][alternative] += statistics.fmean(own_deviations) ** 2 / variance / 2
    return {name: _normalise(system_doubts) for name, system_doubts in doubts.items()}


def _normalise(doubts: Sequence[float]) -> Sequence[float]:
    """Return probabilities from their negative logarithms."""
    likely = [math.exp(min(doubts) - doubt) for doubt in doubts]
    return [likelihood / math.fsum(likely) for likelihood in likely]


def _find_middle(speeds: _Speeds, weights: _Weights) -> float:
    return statistics.fmean(
        math.fsum(weight * speed.mean for weight, speed in zip(weights[name], every, strict=True))
        for name, every in speeds.items()
    )


def _pool(load: LoadClass, weights: _Weights, without: str | None) -> tuple[float, float, int]:
    """Return the variances between systems and within them over the classes as wide as `load`.

    The third value is the degrees of freedom of the first: a system deviates alike in all of its classes, so
    that it counts once.
    """
    between, within, freedom, values = [], [], 0, 0
    names: set[str] = set()
    for load_class in _list_classes(load):
        speeds = _collect(load_class, without)
        middle = _find_middle(speeds, weights) if speeds else 0.0
        names.update(speeds)
        freedom += max(0, len(speeds) - 1)
        for name, every in speeds.items():
            values += every[0].count - 1
            for weight, speed in zip(weights[name], every, strict=True):
                between.append(weight * (speed.mean - middle) ** 2)
                within.append(weight * speed.squares)
    return math.fsum(between) / freedom, math.fsum(within) / max(1, values), len(names) - 1


@cache
def _list_classes(load: LoadClass) -> tuple[LoadClass, ...]:
    """Return the classes as wide as `load` of its medium and operations, each once."""
    depth = next(index for index, wider in enumerate(_WIDEST.widen()) if _width(wider) == _width(load))
    classes = {list(classify_rate(rate).widen())[depth] for rate in rates()}
    alike = [
        load_class
        for load_class in classes
        if (load_class.medium, load_class.operations) == (load.medium, load.operations)
    ]
    return tuple(sorted(alike, key=lambda load_class: load_class.order))


_WIDEST = LoadClass("spinning", cached=True, operations="reads", band=0)


def _width(load: LoadClass) -> tuple[bool, bool, bool]:
    return load.cached is None, load.band is None, load.operations is None


@cache
def _collect(load: LoadClass, without: str | None) -> _Speeds:
    return {name: every for name, every in _summarise(load).items() if name != without}


@cache
def _summarise(load: LoadClass) -> _Speeds:
    by_system: dict[str, list[list[float]]] = {}
    for rate, predictions in zip(rates(), stored_predictions(), strict=True):
        if load.contains(classify_rate(rate)):
            speeds = by_system.setdefault(rate.system, [[] for _ in predictions])
            for logarithms, predicted in zip(speeds, predictions, strict=True):
                logarithms.append(math.log(rate.iops / predicted.iops))
    return {
        name: [_summarise_values(logarithms) for logarithms in every] for name, every in by_system.items()
    }


def _summarise_values(values: Sequence[float]) -> _Group:
    mean = statistics.fmean(values)
    return _Group(len(values), mean, math.fsum((value - mean) ** 2 for value in values))
