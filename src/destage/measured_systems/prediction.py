"""What the engine predicts for the measured rates, with the parts of the systems alone.

predicted.csv has the predictions of all rates, in their order; `make truth` writes it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from destage.engine import simulate
from destage.measured_systems.bank import MeasuredRate, rates, read_rows, systems

PREDICTED = "predicted.csv"
MAX_REQUESTS = 1_000_000
"""Most requests of a run: a few of them would take half a minute each for a narrower interval."""
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a simulation of a measured rate gives.

    Attributes:
        iops: Reads and writes together [1/s].
        response_us: Mean response time [us].
        half_width: Half of the 95 % interval that the run states for both, as a fraction of them. The rate
            has that of the response, as the outstanding I/Os are fixed.
    """

    iops: float
    response_us: float
    half_width: float


def predict(rate: MeasuredRate) -> Prediction:
    """Simulate the configuration of a measured rate."""
    scenario = rate.compose_scenario(systems()[rate.system])
    row = simulate({**scenario, "run": {"max_requests": MAX_REQUESTS}})
    return Prediction(
        _round(row["throughput_iops"]),
        _round(row["response_mean_us"]),
        _round((row["response_mean_half_width_us"] or 0.0) / row["response_mean_us"]),
    )


@cache
def stored_predictions() -> tuple[Prediction, ...]:
    """Return the stored predictions, in the order of the rates."""
    return tuple(
        Prediction(float(row["iops"]), float(row["response_us"]), float(row["half_width"]))
        for row in read_rows(PREDICTED)
    )


def format_predictions(predictions: Iterable[Prediction]) -> str:
    """Return the text of predicted.csv."""
    lines = ["system,disks,pattern,depth_per_job,jobs,iops,response_us,half_width"]
    lines += [
        f"{rate.system},{rate.disks or ''},{rate.pattern},{rate.depth_per_job},{rate.jobs},"
        f"{each.iops},{each.response_us},{each.half_width}"
        for rate, each in zip(rates(), predictions, strict=True)
    ]
    return "\n".join([*lines, ""])


def _round(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
