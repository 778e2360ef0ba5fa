"""What the engine predicts for the measured rates, with the parts of the systems alone.

predicted.csv has the predictions of all rates, in their order, one for each alternative of the system; `make
truth` writes it.
"""

import csv
import io
import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from destage.engine import simulate
from destage.measured_systems.bank import Alternative, MeasuredRate, rates, read_rows, systems

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
    scenario = rate.compose_scenario(systems()[rate.system], alternative)
    row = simulate({**scenario, "run": {"max_requests": MAX_REQUESTS}})
    return Prediction(_round(row["throughput_iops"]), _round(row["response_mean_us"]))


def combine(predictions: Predictions) -> Prediction:
    """Return the geometric mean: the one prediction where all alternatives are as probable."""
    return Prediction(
        _mean(each.iops for each in predictions),
        _mean(each.response_us for each in predictions),
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
        for alternative, each in zip(systems()[rate.system].alternatives, every, strict=True):
            writer.writerow((*load, alternative.name, each.iops, each.response_us))
    return text.getvalue()


def _mean(values: Iterable[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def _round(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
