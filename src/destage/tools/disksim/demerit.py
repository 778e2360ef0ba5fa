"""Distances between modelled and measured service times.

The demerit figure is the root mean square horizontal distance between the two cumulative distributions
(Ruemmler, Wilkes: An introduction to disk drive modeling, IEEE Computer 27(3), 1994):

    D = sqrt( integral over q from 0 to 1 of (F^-1(q) - G^-1(q))^2 dq )      [ms]

where F^-1 and G^-1 are the quantile functions of the two samples. Both are steps, so the integral is a finite
sum, computed exactly. A low figure over all requests needs no disk model: resampling earlier service times
gives one. So it is also computed by class, and compared with the distance between the two halves of the
measurement and with such resampling (the *toy*).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from destage.tools.disksim.measured_trace import MeasuredTrace

Times = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

ALL, WRITES, SEQUENTIAL = "all requests", "writes", "sequential reads"
_QUARTILES = 4
_CLASS_LIMIT_MS = 0.30
_DRAWS = 20
_RESAMPLES = 200
_INTERVAL = (2.5, 97.5)


@dataclass(frozen=True)
class ClassScore:
    """The score of one class of requests on the second half of a trace.

    Attributes:
        requests: Its requests in the second half.
        measured_ms: Their mean measured service time [ms].
        modelled_ms: Their mean modelled service time [ms].
        demerit_ms: Distance of the model from the measurement [ms].
        interval_ms: Bootstrap interval of it (95 %, percentiles) [ms].
        train_ms: The same distance on the first half [ms].
        limit_ms: Maximum of `demerit_ms` [ms].
        halves_ms: Distance of the first half of the measurement from the second [ms].
        toy_ms: Mean distance of draws from the first half's service times of this class [ms].
        correlation: Of measured and modelled service times, by request; None if one is constant.
    """

    name: str
    requests: int
    measured_ms: float
    modelled_ms: float
    demerit_ms: float
    interval_ms: tuple[float, float]
    train_ms: float
    limit_ms: float
    halves_ms: float
    toy_ms: float
    correlation: float | None

    @property
    def is_met(self) -> bool:
        """Whether the distance is within its limit."""
        return self.demerit_ms <= self.limit_ms


def demerit(one: Times, other: Times) -> float:
    """Return the root mean square horizontal distance of two distributions, in the unit of the times."""
    one, other = np.sort(one), np.sort(other)
    # All steps of the two quantile functions.
    steps = np.union1d(np.arange(1, len(one)) * len(other), np.arange(1, len(other)) * len(one))
    total = len(one) * len(other)
    edges = np.concatenate([[0], steps, [total]])
    widths = np.diff(edges)
    distance = one[edges[:-1] // len(other)] - other[edges[:-1] // len(one)]
    return float(np.sqrt(np.sum(widths * distance**2) / total))


def classify_requests(trace: MeasuredTrace) -> dict[str, Mask]:
    """Return the requests of each class: all, writes, sequential reads, other reads by quartile of distance.

    A sequential read begins where the previous request ended; the distance of other reads is from there (for
    the first request from sector 0). The quartiles are those of the whole trace.
    """
    first = trace.lba.astype(np.int64)
    before = np.concatenate([[-1], (first + trace.sectors.astype(np.int64))[:-1]])
    is_sequential = ~trace.is_write & (first == before)
    is_other = ~trace.is_write & ~is_sequential
    found = {
        ALL: np.ones(len(trace), dtype=np.bool_),
        WRITES: trace.is_write,
        SEQUENTIAL: is_sequential,
    }
    if is_other.any():
        distance = np.abs(first - before)
        edges = np.quantile(distance[is_other], np.arange(1, _QUARTILES) / _QUARTILES)
        quartile = np.digitize(distance, edges)
        for index in range(_QUARTILES):
            found[f"other reads, quartile {index + 1}"] = is_other & (quartile == index)
    return found


def score_classes(
    trace: MeasuredTrace, modelled: npt.NDArray[np.float64], overall_limit_ms: float
) -> list[ClassScore]:
    """Score each class that has requests in both halves of the trace.

    Args:
        modelled: Service times of the model [ms]: one row for each replay, one column for each request.
    """
    is_first = np.arange(len(trace)) < len(trace) // 2
    found = []
    for index, (name, mask) in enumerate(classify_requests(trace).items()):
        train, test = mask & is_first, mask & ~is_first
        if not train.any() or not test.any():
            continue
        draws = np.random.default_rng((len(trace), index))
        halves = demerit(trace.service_ms[train], trace.service_ms[test])
        measured, model = trace.service_ms[test], modelled[:, test]
        means = model.mean(axis=0)
        is_varying = measured.std() > 0 and means.std() > 0
        found.append(
            ClassScore(
                name,
                len(measured),
                float(measured.mean()),
                float(model.mean()),
                demerit(measured, model.ravel()),
                _interval(measured, model, draws),
                demerit(trace.service_ms[train], modelled[:, train].ravel()),
                overall_limit_ms if name == ALL else max(_CLASS_LIMIT_MS, 2 * halves),
                halves,
                _toy(trace.service_ms[train], measured, draws),
                float(np.corrcoef(measured, means)[0, 1]) if is_varying else None,
            )
        )
    return found


def compute_loss(trace: MeasuredTrace, modelled: npt.NDArray[np.float64]) -> float:
    """Return the loss of a fit [ms^2]: the squared demerit over all requests plus the mean of the classes'.

    Args:
        modelled: Service times of the model [ms], one row for each replay.
    """
    squares = {
        name: demerit(trace.service_ms[mask], modelled[:, mask].ravel()) ** 2
        for name, mask in classify_requests(trace).items()
        if mask.any()
    }
    overall = squares.pop(ALL)
    return overall + sum(squares.values()) / max(1, len(squares))


def _interval(
    measured: Times, model: npt.NDArray[np.float64], draws: np.random.Generator
) -> tuple[float, float]:
    def resampled() -> Iterator[float]:
        for _ in range(_RESAMPLES):
            chosen = draws.integers(0, len(measured), len(measured))
            yield demerit(measured[chosen], model[:, chosen].ravel())

    low, high = np.percentile(list(resampled()), _INTERVAL)
    return float(low), float(high)


def _toy(seen: Times, measured: Times, draws: np.random.Generator) -> float:
    return float(np.mean([demerit(draws.choice(seen, len(measured)), measured) for _ in range(_DRAWS)]))
