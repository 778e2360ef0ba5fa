"""Predictions of measured systems, and their agreement with the rates.

How well predictions agree with the measured rates: median error and bias.

What the engine predicts for the measured rates, with the parts of the systems alone.

predicted.csv has the predictions of all rates, in their order, one for each alternative of the system; `make
truth` writes it.
"""

import csv
import io
import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from destage.engine import simulate, validate
from destage.measured_systems.bank import Alternative, MeasuredRate, rates, read_rows, systems
from destage.measured_systems.model_error import classify_rate

PREDICTED = "predicted.csv"
MAX_REQUESTS = 300_000
"""Most requests of a run: few means have a noise of 1 %, and no run takes minutes."""
_COLUMNS = ("system", "disks", "pattern", "depth_per_job", "jobs", "alternative", "iops", "response_us")
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a simulation of a measured rate gives.

    Attributes:
        iops: Reads and writes together [1/s].
        response_us: Mean response time [us].
    """

    iops: float
    response_us: float


Predictions = Sequence[Prediction]
"""The predictions of a rate, one for each alternative of its system."""


def predict(rate: MeasuredRate, alternative: Alternative) -> Prediction:
    """Simulate a description of a measured rate."""
    row = simulate({**describe(rate, alternative), "run": {"max_requests": MAX_REQUESTS}})
    return Prediction(_round(row["throughput_iops"]), _round(row["response_mean_us"]))


def describe(rate: MeasuredRate, alternative: Alternative) -> dict[str, Any]:
    """Return the configuration of a description.

    A file that is larger than the share in use is all that is in use, from the start of the array.
    """
    scenario = rate.compose_scenario(systems()[rate.system], alternative)
    if any(issue.code == "scenario.beyond-array" for issue in validate(scenario)):
        del scenario["workload"]["streams"][0]["address"]["placement"]
    return scenario


def combine(predictions: Predictions) -> Prediction:
    """Return the geometric mean: the one prediction where all alternatives are as probable."""
    return Prediction(
        _mean(prediction.iops for prediction in predictions),
        _mean(prediction.response_us for prediction in predictions),
    )


@cache
def stored_predictions() -> tuple[Predictions, ...]:
    """Return the stored predictions, in the order of the rates."""
    rows = read_rows(PREDICTED)
    return tuple(
        tuple(
            Prediction(float(row["iops"]), float(row["response_us"]))
            for row in itertools.islice(rows, len(systems()[rate.system].alternatives))
        )
        for rate in rates()
    )


def format_predictions(predictions: Iterable[Predictions]) -> str:
    """Return the text of predicted.csv."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for rate, every in zip(rates(), predictions, strict=True):
        load = (rate.system, rate.disks or "", rate.pattern, rate.depth_per_job, rate.jobs)
        for alternative, prediction in zip(systems()[rate.system].alternatives, every, strict=True):
            writer.writerow((*load, alternative.name, prediction.iops, prediction.response_us))
    return text.getvalue()


def _mean(values: Iterable[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def _round(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


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
    return _compare([(rate.iops, prediction.iops) for rate, prediction in pairs])


def agree_on_response(pairs: Sequence[Pair]) -> Agreement | None:
    """Compare the mean response times; None if none was measured."""
    measured = [
        (rate.response_us, prediction.response_us)
        for rate, prediction in pairs
        if rate.response_us is not None
    ]
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
