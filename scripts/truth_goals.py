"""The sections of docs/truth.md on two goals that are not met, each with its figures."""

import statistics
from collections.abc import Iterator, Sequence

from destage.measured_systems.bank import rates, systems
from destage.measured_systems.estimation import is_covered
from destage.measured_systems.prediction import Pair, agree_on_rate, group_by_system, stored_predictions

SMALL_QUEUES = """
## Solid-state disks in small queues

Random reads by the number outstanding; they depend on neither the state nor the write cache of the drive.
An error of at most {goal:.0%} was asked for. It is **not met**: {few} of {count} systems have it with one
outstanding read, {more} with four. No description of the drives alone can have it: {drives} systems have the
same drive, the 860 Pro, of which one read takes {fastest:.0f} to {slowest:.0f} us, by what is between it and
the program. Neither a data sheet nor the source says what that is, and hosts are not modelled. With four
outstanding, the {slow} systems of the DL380 Gen8 are {low:.1f} to {high:.1f} times slower than simulated, and
two of them are slower than with two. The other hosts have errors of both signs: the catalogue's times of one
read are quoted from memory (860 Pro), assumed (MX200), or those of a predecessor (S4610: 110 us, where both
hosts measure 65 to 73).
"""
LADDER = """
## Arrays of 2 to 40 disks

Writes of 64 KiB, 64 outstanding, of configuration-manager-p822. All its rates have a bias of {every:+.0%},
those of {many} and more disks one of {large:+.0%}. Less than 10 % was asked for, and is **not met**. The
simulated rate of a disk rises with their number, as 100 GB become a shorter stroke of each; the measured one
falls. With the file scattered over the whole array, the rates would be 10 to 15 % lower with 40 disks and
4 % lower with four. Where it lay is unknown; an option that is added after the rates were seen would be
fitted to them.
"""
_QUEUES = (1, 4)
_GOAL = 0.15
_LADDER = "configuration-manager-p822"
_MANY = 16


def format_small_queues(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield the section on reads of SSDs with few outstanding: measured medians and errors."""
    reads = [pair for pair in pairs if pair[0].pattern == "randread" and is_flash(pair)]
    found = {name: list_small_queues(group) for name, group in group_by_system(reads).items()}
    single, four = ([each[at] for each in found.values()] for at in range(len(_QUEUES)))
    pros = [1e6 / each[0][0] for name, each in found.items() if "860pro" in name]
    slow = [1 + each[1][1] for name, each in found.items() if name.startswith("dl380g8")]
    yield SMALL_QUEUES.format(
        goal=_GOAL,
        few=sum(abs(error) <= _GOAL for _, error in single),
        more=sum(abs(error) <= _GOAL for _, error in four) or "none",
        count=len(found),
        drives=len(pros),
        fastest=min(pros),
        slowest=max(pros),
        slow=len(slow),
        low=min(slow),
        high=max(slow),
    )
    yield f"| system |{''.join(f' reads at {count} [1/s] | error |' for count in _QUEUES)}"
    yield f"| --- |{' ---: | ---: |' * len(_QUEUES)}"
    for name, each in found.items():
        yield f"| {name} | {' | '.join(f'{rate:,.0f} | {error:+.0%}' for rate, error in each)} |"
    medians = [statistics.median(abs(error) for _, error in each) for each in (single, four)]
    yield f"| **median error** | {' | '.join(f' | {median:.0%}' for median in medians)} |"


def is_flash(pair: Pair) -> bool:
    """Return whether a rate is one of solid-state disks."""
    return systems()[pair[0].system].medium == "flash"


def list_small_queues(pairs: Sequence[Pair]) -> list[tuple[float, float]]:
    """Return the medians of the measured rates and of the errors, for each small queue."""
    equal = [[pair for pair in pairs if pair[0].outstanding == count] for count in _QUEUES]
    return [(statistics.median(rate.iops for rate, _ in each), agree_on_rate(each).bias) for each in equal]


def format_ladder(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield the section on the arrays of one source, from few disks to many."""
    ladder = [pair for pair in pairs if pair[0].system == _LADDER]
    large = agree_on_rate([pair for pair in ladder if (pair[0].disks or 0) >= _MANY]).bias
    yield LADDER.format(every=agree_on_rate(ladder).bias, many=_MANY, large=large)
    yield "| disks | measured [1/s] | simulated [1/s] | error | inside |\n| ---: | ---: | ---: | ---: | --- |"
    for rate, each in ladder:
        inside = "yes" if is_covered(rate, stored_predictions()[rates().index(rate)]) else "no"
        error = each.iops / rate.iops - 1
        yield f"| {rate.disks} | {rate.iops:,.0f} | {each.iops:,.0f} | {error:+.0%} | {inside} |"
