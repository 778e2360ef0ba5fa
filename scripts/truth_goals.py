"""The sections of docs/truth.md on goals, each with its figures and whether it is met."""

import statistics
from collections.abc import Iterator, Sequence
from itertools import compress

from destage.measured_systems.bank import rates, systems
from destage.measured_systems.estimation import is_covered
from destage.measured_systems.prediction import (
    Pair,
    agree_on_rate,
    combine,
    group_by_system,
    stored_predictions,
)

SMALL_QUEUES = """
## Solid-state disks in small queues

Random reads by the number outstanding; they depend on neither the state nor the write cache of the drive.
An error of at most {goal:.0%} was asked for. It is **{verdict}**: {few} of {count} systems have it with one
outstanding read, {more} with four. No description of the drives alone can have it: {drives} systems have the
same drive, the 860 Pro, of which one read takes {fastest:.0f} to {slowest:.0f} us, by what is between it and
the program. Neither a data sheet nor the source says what that is, and hosts are not modelled. With four
outstanding, the {slow} systems of the DL380 Gen8 are {low:.1f} to {high:.1f} times slower than simulated, and
two of them are slower than with two. The other hosts have errors of both signs: the catalogue's times of one
read are quoted from memory (860 Pro), assumed (MX200), or those of a predecessor (S4610: 110 us, where both
hosts measure 65 to 73).
"""
GAINS = """
## What SATA disks gain from a queue

Random reads with several outstanding, over those with one: measured / simulated. An error of at most
{goal:.0%} was asked for. It is **{verdict}**: {few} of {count} systems have it at every depth. The share of
the queue among which these disks choose is fitted on one of them, {fitted}; the others are
predicted. The WD740GD loses what others gain, which no queue explains. In the array of eight disks, whose
share in use is open, a queue gains more than is simulated from 16 outstanding on, two for each disk.
"""
LADDER = """
## Arrays of 2 to 40 disks

Writes of 64 KiB, 64 outstanding, of configuration-manager-p822. All its rates together have a bias of
{every:+.0%}, those of {many} or more disks one of {large:+.0%}. For these, a bias of less than {goal:.0%} was
asked for; this is **{verdict}**. The source does not say where the file of 100 GB lies, so that it is open,
as for every system that was measured through a file
([decision 46](decisions/0046-where-a-file-lies-is-open.md), made
after these rates had been seen). With {many} and more disks, the bias is {new:+.0%} on a new file system, and
{whole:+.0%} if all of the array is in use. From {fewest} to {most} disks, the simulated rate of a disk
changes by {simulated:+.0%}, as 100 GB become a shorter stroke of each, and the measured one by
{measured:+.0%}.
"""
_QUEUES = (1, 4)
_DEPTHS = (4, 8, 16, 32)
_FITTED = "microserver-g10-ahci-f1"
_GOAL = 0.15
_LADDER = "configuration-manager-p822"
_LADDER_GOAL = 0.10
_MANY = 16


def format_small_queues(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield the section on reads of SSDs with few outstanding: measured medians and errors."""
    reads = [pair for pair in pairs if pair[0].pattern == "randread" and is_flash(pair)]
    found = {name: list_small_queues(group) for name, group in group_by_system(reads).items()}
    single, four = ([each[at] for each in found.values()] for at in range(len(_QUEUES)))
    pros = [1e6 / each[0][0] for name, each in found.items() if "860pro" in name]
    slow = [1 + each[1][1] for name, each in found.items() if name.startswith("dl380g8")]
    few, more = (sum(abs(error) <= _GOAL for _, error in each) for each in (single, four))
    yield SMALL_QUEUES.format(
        goal=_GOAL,
        verdict=judge(few == more == len(found)),
        few=few,
        more=more or "none",
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


def format_gains(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield the section on what disks gain from a queue: ratios of rates, measured and simulated."""
    reads = [pair for pair in pairs if pair[0].pattern == "randread" and not is_flash(pair)]
    found = {name: list_gains(group) for name, group in group_by_system(reads).items()}
    found = {name: gains for name, gains in found.items() if gains}
    kept = [all(abs(gain / real - 1) <= _GOAL for real, gain in gains) for gains in found.values()]
    yield GAINS.format(goal=_GOAL, verdict=judge(all(kept)), few=sum(kept), count=len(kept), fitted=_FITTED)
    yield f"| system |{''.join(f' {depth} outstanding | error |' for depth in _DEPTHS)}"
    yield f"| --- |{' ---: | ---: |' * len(_DEPTHS)}"
    for name, gains in found.items():
        cells = (f"{real:.2f} / {gain:.2f} | {gain / real - 1:+.0%}" for real, gain in gains)
        yield f"| {name} | {' | '.join(cells)} |"


def list_gains(pairs: Sequence[Pair]) -> list[tuple[float, float]]:
    """Return the gain from a queue, measured and simulated, by depth; nothing if one is lacking."""
    rates_at = {depth: list_rates(pairs, depth) for depth in (1, *_DEPTHS)}
    if not all(rates_at.values()):
        return []
    (first, simulated), *others = (
        tuple(map(statistics.median, zip(*each, strict=True))) for each in rates_at.values()
    )
    return [(real / first, other / simulated) for real, other in others]


def list_rates(pairs: Sequence[Pair], outstanding: int) -> list[tuple[float, float]]:
    """Return the rates with this many outstanding, measured and simulated."""
    return [(rate.iops, found.iops) for rate, found in pairs if rate.outstanding == outstanding]


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
    new, whole = (assume_option(ladder, option) for option in ("new", "whole"))
    large, large_new, large_whole = (
        agree_on_rate([pair for pair in each if count_disks(pair) >= _MANY]).bias
        for each in (ladder, new, whole)
    )
    first, last = ladder[0], ladder[-1]
    more = count_disks(last) / count_disks(first)
    yield LADDER.format(
        every=agree_on_rate(ladder).bias,
        many=_MANY,
        large=large,
        goal=_LADDER_GOAL,
        verdict=judge(abs(large) < _LADDER_GOAL),
        new=large_new,
        whole=large_whole,
        fewest=count_disks(first),
        most=count_disks(last),
        simulated=last[1].iops / first[1].iops / more - 1,
        measured=last[0].iops / first[0].iops / more - 1,
    )
    yield "| disks | measured [1/s] | simulated [1/s] | error | inside | new file system | all in use |"
    yield "| ---: | ---: | ---: | ---: | --- | ---: | ---: |"
    for pairs_of_rate in zip(ladder, new, whole, strict=True):
        rate, each = pairs_of_rate[0]
        inside = "yes" if is_covered(rate, stored_predictions()[rates().index(rate)]) else "no"
        error, *known = (f"{prediction.iops / rate.iops - 1:+.0%}" for _, prediction in pairs_of_rate)
        cells = (f"{rate.disks}", f"{rate.iops:,.0f}", f"{each.iops:,.0f}", error, inside, *known)
        yield f"| {' | '.join(cells)} |"


def assume_option(pairs: Sequence[Pair], option: str) -> list[Pair]:
    """Return the pairs of a system as predicted if an open setting had this option."""
    assumed = [option in each.name.split() for each in systems()[pairs[0][0].system].alternatives]
    stored = ((rate, stored_predictions()[rates().index(rate)]) for rate, _ in pairs)
    return [(rate, combine(list(compress(every, assumed)))) for rate, every in stored]


def count_disks(pair: Pair) -> int:
    """Return the number of disks of a rate."""
    return pair[0].disks or 1


def judge(is_met: bool) -> str:
    """Return in words whether a goal is met."""
    return "met" if is_met else "not met"
