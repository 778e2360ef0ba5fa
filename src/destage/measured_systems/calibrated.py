"""How far calibrated predictions are from what was measured.

`make calibrated-systems` calibrates each system of the bank on a few of its results, predicts its other
loads, and stores both in calibrated.csv. The error of a prediction has two parts: the spread of the
configurations that explain the results, and the discrepancy of a model that none of them makes right. The
discrepancy of a class of loads is the smallest one with which the 90 % intervals hold 90 % of the loads of
the bank, each system counting the same. A system that is not among them is likely to deviate more than they
do: the discrepancy is increased by the factor with which it holds 90 % of the loads of systems left out, as
jackknife+ does [1]. A system with a missed result does not count: what its result needs is added to its own
predictions.

1. Barber, Candes, Ramdas, Tibshirani: Predictive inference with the jackknife+. Ann. Statist. 49(1), 2021.
"""

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from operator import itemgetter
from statistics import NormalDist

from destage.measured_systems.bank import READ_FRACTION, Medium, Pattern, read_rows, systems
from destage.measured_systems.model_error import CONFIDENCE

CALIBRATED = "calibrated.csv"
_QUANTILE = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_FEWEST = 2
"""The fewest systems that a class needs."""
_DIGITS = 5


@dataclass(frozen=True, slots=True)
class CalibratedLoad:
    """A load of a calibrated system; response times are means [us].

    Attributes:
        outstanding: Outstanding I/Os of all jobs.
        is_given: Whether the system was calibrated on its result.
        rate: What was measured [1/s].
        response: What was measured.
        median: The prediction; None, as what follows, where no configuration explains the results that were
            given.
        low: The lower end of its 90 % interval.
        high: The upper end.
        spread: The standard deviation over the configurations, as a share of the prediction.
        is_missed: Whether it was given, and no configuration explains it together with the others.
    """

    system: str
    pattern: Pattern
    outstanding: int
    is_given: bool
    rate: float
    response: float
    median: float | None
    low: float | None
    high: float | None
    spread: float | None
    is_missed: bool = False

    @property
    def is_predicted(self) -> bool:
        """Whether it was predicted without its result."""
        return not self.is_given and self.median is not None

    @property
    def rate_error(self) -> float:
        """Predicted / measured - 1 of the rate, which the number outstanding and the response give."""
        return self.outstanding * 1e6 / (self.median or math.inf) / self.rate - 1

    @property
    def response_error(self) -> float:
        """Predicted / measured - 1 of the response."""
        return (self.median or 0.0) / self.response - 1

    @property
    def is_inside(self) -> bool:
        """Whether the measured response is inside the interval."""
        return (self.low or 0.0) <= self.response <= (self.high or 0.0)

    @property
    def needed_discrepancy(self) -> float:
        """The discrepancy with which the measured response is at an end of the 90 % interval."""
        deviation = abs(self.response_error) / (1 + self.response_error) / _QUANTILE
        return math.sqrt(max(0.0, deviation**2 - (self.spread or 0.0) ** 2))


def find_discrepancy(medium: Medium, read_fraction: float, without: str | None = None) -> float:
    """Return the discrepancy of calibrated predictions, as a share of the prediction.

    Args:
        read_fraction: Of the load: reads, writes, or mixed as any other share.
        without: A system that is left out, to predict it.
    """
    left_out = frozenset[str]() if without is None else frozenset({without})
    return find_factor(left_out) * _find_own(medium, read_fraction, left_out)


def find_factor(without: frozenset[str] = frozenset()) -> float:
    """Return by how much discrepancies are increased for systems that are not among those of the bank.

    That is the ratio of what a load needs to the discrepancy of the other systems which 90 % of the loads do
    not exceed, each system counting the same; at least 1. Loads of which the others need none have no ratio.

    Args:
        without: Systems that are left out.
    """
    ratios = []
    known = _list_known(without)
    if len({load.system for load in known}) > _FEWEST:
        for load in known:
            medium, reads = systems()[load.system].medium, READ_FRACTION[load.pattern]
            if others := _find_own(medium, reads, without | {load.system}):
                ratios.append((load.system, load.needed_discrepancy / others))
    return max(1.0, _find_quantile(ratios))


def _find_own(medium: Medium, read_fraction: float, without: frozenset[str]) -> float:
    """Return the smallest discrepancy that is enough for 90 % of the loads of the bank."""
    known = _list_known(without)
    same = [load for load in known if systems()[load.system].medium == medium]
    alike = [load for load in same if READ_FRACTION[load.pattern] == read_fraction]
    chosen = next(
        (loads for loads in (alike, same) if len({load.system for load in loads}) >= _FEWEST), known
    )
    return _find_quantile([(load.system, load.needed_discrepancy) for load in chosen])


def _list_known(without: frozenset[str]) -> list[CalibratedLoad]:
    partly = {load.system for load in read_loads() if load.is_missed}
    return [load for load in read_loads() if load.is_predicted and load.system not in partly | without]


def _find_quantile(values: Sequence[tuple[str, float]]) -> float:
    """Return the value that 90 % of the values do not exceed, each system counting the same; 0 of none.

    Args:
        values: Pairs of a system and a value.
    """
    counts = Counter(system for system, _ in values)
    reached = 0.0
    for system, value in sorted(values, key=itemgetter(1)):
        reached += 1 / counts[system] / len(counts)
        if reached >= CONFIDENCE:
            return value
    return 0.0


def format_loads(loads: Iterable[CalibratedLoad]) -> str:
    """Return the text of calibrated.csv."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in fields(CalibratedLoad))
    for load in loads:
        writer.writerow(
            f"{value:.{_DIGITS}g}" if isinstance(value, float) else value for value in astuple(load)
        )
    return text.getvalue()


@cache
def read_loads() -> tuple[CalibratedLoad, ...]:
    """Return the stored loads."""
    return tuple(
        CalibratedLoad(
            row["system"],
            next(pattern for pattern in READ_FRACTION if pattern == row["pattern"]),
            int(row["outstanding"]),
            row["is_given"] == "True",
            float(row["rate"]),
            float(row["response"]),
            _read_number(row["median"]),
            _read_number(row["low"]),
            _read_number(row["high"]),
            _read_number(row["spread"]),
            row["is_missed"] == "True",
        )
        for row in read_rows(CALIBRATED)
    )


def _read_number(text: str) -> float | None:
    return float(text) if text else None
