"""A load whose inputs are ranges: the loads that are sized, and the sample of loads that gives the odds.

Each range is a uniform prior, independent of the others. A load has an amount (users, or reads and writes per
second) and a share of reads. What an array carries is measured at the least, the middle and the largest
share; between them, it is taken as linear in the share.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from destage.errors import ConfigError, Issue
from destage.sweeps.sizing.request import USERS, InputRange, SizingRequest, depends_on_users

READ_SHARE, RATE, READ_RATE, WRITE_RATE = "read_share", "iops", "read_iops", "write_iops"


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """A load.

    Attributes:
        amount: Users, or reads and writes per second.
        share: The share of reads; 0 if that has no range.
    """

    amount: float
    share: float


@dataclass(frozen=True, slots=True)
class UncertainLoad:
    """A load whose inputs are ranges.

    Attributes:
        inputs: Either the users with or without a share of reads, a rate with a share of reads, or the rates
            of reads and writes.
        make_request: Returns what is to be sized at values of the inputs, by their names.
    """

    inputs: Sequence[InputRange]
    make_request: Callable[[Mapping[str, float]], SizingRequest]

    @property
    def is_rate(self) -> bool:
        """Whether the amount is a rate."""
        return any(known.name in {RATE, READ_RATE} for known in self.inputs)

    @property
    def unit(self) -> str:
        """What the amount counts."""
        return "IO/s" if self.is_rate else USERS

    @property
    def corners(self) -> list[dict[str, float]]:
        """The values that are sized: all combinations of ends, the least first, and the middle."""
        ends = [(known.low, known.high) for known in self.inputs]
        middle = tuple(known.middle for known in self.inputs)
        names = [known.name for known in self.inputs]
        values = dict.fromkeys([*product(*ends), middle])
        return [dict(zip(names, each, strict=True)) for each in values]

    @property
    def strata(self) -> list[LoadPoint]:
        """The loads at the middles of equally probable strata of the ranges, which give the odds."""
        return [
            measure_load(values) for values in self._combine([each.list_strata() for each in self.inputs])
        ]

    @property
    def shares(self) -> list[float]:
        """The shares of reads at which arrays are measured, ascending: the ends and the middle."""
        corners = [measure_load(values).share for values in self.corners]
        least, most = min(corners), max(corners)
        return [least] if least == most else [least, (least + most) / 2, most]

    def make_largest(self, share: float) -> tuple[SizingRequest, float]:
        """Return the request of the largest amount with a share of reads, and the amount."""
        largest = {known.name: known.high for known in self.inputs}
        amount = measure_load(largest).amount
        if READ_RATE in largest:
            largest = {READ_RATE: share * amount, WRITE_RATE: (1 - share) * amount}
        elif READ_SHARE in largest:
            largest[READ_SHARE] = share
        return self.make_request(largest), amount

    def _combine(self, values: Sequence[Sequence[float]]) -> Iterator[dict[str, float]]:
        names = [known.name for known in self.inputs]
        return (dict(zip(names, each, strict=True)) for each in product(*values))


def describe_load(
    inputs: Sequence[InputRange], make_request: Callable[[Mapping[str, float]], SizingRequest]
) -> UncertainLoad:
    """Return the load of some inputs: without its users or one of its rates, those of a request are known.

    Raises:
        ConfigError: The load does not depend on the number of users, so that there is no most of it.
    """
    given = {known.name for known in inputs}
    if RATE in given:
        return UncertainLoad(inputs, make_request)
    if given & {READ_RATE, WRITE_RATE}:
        others = [InputRange(name, 0.0, 0.0) for name in (READ_RATE, WRITE_RATE) if name not in given]
        return UncertainLoad([*inputs, *others], make_request)
    workload = make_request({known.name: known.low for known in inputs}).workload
    if not depends_on_users(workload):
        message = "no stream of the workload is per user: ranges need a load that grows with its users"
        raise ConfigError([Issue("study.no-effect", "workload.users", message)])
    if USERS in given:
        return UncertainLoad(inputs, make_request)
    return UncertainLoad([InputRange(USERS, workload["users"], workload["users"]), *inputs], make_request)


def measure_load(values: Mapping[str, float]) -> LoadPoint:
    """Return the amount and the share of reads of values of the inputs."""
    if READ_RATE not in values:
        return LoadPoint(values[RATE if RATE in values else USERS], values.get(READ_SHARE, 0.0))
    amount = values[READ_RATE] + values[WRITE_RATE]
    return LoadPoint(amount, values[READ_RATE] / amount if amount else 0.0)


def interpolate(shares: Sequence[float], amounts: Sequence[float], share: float) -> float:
    """Return what an array carries at a share of reads, linear between the nearest measured ones.

    Args:
        shares: Where it was measured, ascending.
        amounts: What it carries there.
    """
    if len(shares) == 1:
        return amounts[0]
    index = min(max(bisect_right(shares, share), 1), len(shares) - 1)
    before, after = shares[index - 1], shares[index]
    weight = min(max((share - before) / (after - before), 0.0), 1.0)
    return amounts[index - 1] * (1 - weight) + amounts[index] * weight
