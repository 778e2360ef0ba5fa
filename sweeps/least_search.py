"""The search for the smallest value of a point that meets the objectives, such as a number of disks.

A value is judged by all replicates together. It meets an objective if the interval of the mean margin, the
log of measured value over bound, lies at or below zero, and misses it if the interval lies above. Otherwise
more replicates run, up to the maximum of the study. A value that is still undecided then counts as missing
the objective. Its replicates are judged at several looks. Each look takes an equal share of the 5 % error
probability of a value, so that the total stays at most 5 % (Bonferroni).

The answer is the smallest value that meets the objectives and above which none that was tried misses them.
It is certified by the next smaller value, which misses them, or by being the smallest allowed one.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from destage.student import CONFIDENCE, half_width
from destage.sweeps.intervals import t_interval
from destage.sweeps.seek_probes import Probe, ProbeVerdict, ReplicateResult, SearchState
from destage.sweeps.seek_runs import LookAll
from destage.sweeps.seek_search import PointResult

_GROWTH = 1.6
"""How many times more replicates the next look has."""


@dataclass(frozen=True, slots=True)
class Looks:
    """The looks at which the replicates of a value are judged.

    Attributes:
        counts: The number of replicates at each look, ascending.
    """

    counts: tuple[int, ...]

    @property
    def confidence(self) -> float:
        """The confidence of the verdict of one look."""
        return 1 - (1 - CONFIDENCE) / len(self.counts)


def make_looks(least: int, most: int) -> Looks:
    """Return the looks from the fewest to the most replicates of a value."""
    counts = [least]
    while counts[-1] < most:
        counts.append(min(math.ceil(_GROWTH * counts[-1]), most))
    return Looks(tuple(counts))


@dataclass(frozen=True, slots=True)
class Standing:
    """What the runs of a point say so far; values are given by their position among the allowed ones.

    Attributes:
        lower: The largest value that misses the objectives; -1 if none does.
        upper: The smallest value above it that meets them; the number of values if none does.
        missing: The runs that are needed for the verdict of a value: replicate and value of each.
        replicates: The number of replicates of each value that has a verdict.
        broken: The replicates with a run that failed.
        is_monotone: Whether no value below one that misses the objectives meets them.
    """

    lower: int
    upper: int
    missing: tuple[tuple[int, int], ...]
    replicates: Mapping[int, int]
    broken: frozenset[int]
    is_monotone: bool

    @property
    def is_closed(self) -> bool:
        """Whether the smallest value that meets the objectives is known, or that there is none."""
        return not self.missing and (self.upper - self.lower == 1 or bool(self.broken))


def examine(values: Sequence[int], probed: Iterable[int], looks: Looks, look: LookAll) -> Standing:
    """Return what the runs of a point say.

    Args:
        values: The allowed values, ascending.
        probed: The values that have planned runs.
        look: Returns what is known of a run.
    """
    missing: list[tuple[int, int]] = []
    broken: set[int] = set()
    meets: dict[int, bool] = {}
    replicates: dict[int, int] = {}
    for value in sorted(probed):
        found = _judge(value, looks, look)
        missing += found.missing
        broken |= found.broken
        if found.meets is not None:
            meets[value] = found.meets
            replicates[value] = found.count
    lower = max((values.index(value) for value, is_met in meets.items() if not is_met), default=-1)
    above = [values.index(value) for value, is_met in meets.items() if is_met]
    return Standing(
        lower=lower,
        upper=min((index for index in above if index > lower), default=len(values)),
        missing=tuple(missing),
        replicates=replicates,
        broken=frozenset(broken),
        is_monotone=all(index > lower for index in above),
    )


def choose_value(standing: Standing, count: int, first: int, ceiling: int | None = None) -> int | None:
    """Return the position of the value to try next; None if the runs so far answer the question.

    Without a ceiling, the values rise from the first one in steps that double, until one meets the
    objectives, and then halve the distance. With one, the first value tried is the ceiling: if it misses the
    objectives, no value up to it meets them.

    Args:
        count: The number of allowed values.
        first: The position of the value to begin with.
        ceiling: The largest position of interest.
    """
    if standing.is_closed or standing.lower + 1 >= count:
        return None
    if ceiling is not None and standing.upper > ceiling:
        return ceiling if ceiling > standing.lower else None
    if standing.upper < count:
        return (standing.lower + standing.upper) // 2
    if standing.lower < 0:
        return first
    return min(max(2 * standing.lower, standing.lower + 1), count - 1)


def conclude(
    values: Sequence[int], standing: Standing, replicates: int, *, is_expensive: bool = False
) -> PointResult:
    """Return the result of a point whose search has ended.

    Args:
        replicates: The fewest replicates of a value.
        is_expensive: Whether it ended because other points are cheaper.
    """
    lower = values[standing.lower] if standing.lower >= 0 else None
    upper = values[standing.upper] if standing.upper < len(values) else None
    if standing.broken:
        one = ReplicateResult(SearchState.FAILED, None, upper, lower)
    elif is_expensive:
        one = ReplicateResult(SearchState.MORE_EXPENSIVE, None, upper, lower)
    elif upper is None:
        one = ReplicateResult(SearchState.ABOVE, values[-1], None, lower)
    else:
        one = ReplicateResult(SearchState.CERTIFIED, upper, upper, lower)
    shown = lower if upper is None else upper
    count = max(standing.replicates.get(shown, 0) if shown is not None else 0, replicates)
    results = dict.fromkeys(range(count), one)
    known = [] if one.value is None else [float(one.value)] * count
    return PointResult(results, t_interval(known), standing.is_monotone)


@dataclass(frozen=True, slots=True)
class _Judged:
    """The verdict of a value.

    Attributes:
        meets: Whether it meets every objective; None before that is known.
        count: The replicates that it rests on.
        missing: The runs that are needed to know more.
    """

    meets: bool | None
    count: int
    missing: tuple[tuple[int, int], ...] = ()
    broken: frozenset[int] = frozenset()


def _judge(value: int, looks: Looks, look: LookAll) -> _Judged:
    for count in looks.counts:
        found = {replicate: look(replicate, value) for replicate in range(count)}
        if missing := tuple((replicate, value) for replicate, probe in found.items() if probe is None):
            return _Judged(None, count, missing)
        probes = [probe for probe in found.values() if probe is not None]
        broken = frozenset(
            replicate for replicate, probe in found.items() if probe and probe.verdict is ProbeVerdict.BROKEN
        )
        if broken:
            return _Judged(None, count, broken=broken)
        verdict = _weigh(probes, looks.confidence)
        if verdict is not None:
            return _Judged(verdict, count)
    return _Judged(False, looks.counts[-1])


def _weigh(probes: Sequence[Probe], confidence: float) -> bool | None:
    """Return whether the replicates of a value meet every objective; None if they do not say."""
    margins = [probe.margins for probe in probes if probe.margins is not None]
    if len(margins) < len(probes):
        # The array cannot carry the load of a replicate, or does not reach a steady state.
        return False
    ends = [_find_ends(one, confidence) for one in zip(*margins, strict=True)]
    if any(low > 0 for low, _ in ends):
        return False
    return True if all(high <= 0 for _, high in ends) else None


def _find_ends(margins: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the interval of the mean margin of an objective."""
    if math.inf in margins:
        return math.inf, math.inf
    finite = [margin for margin in margins if math.isfinite(margin)]
    if not finite:
        return -math.inf, -math.inf
    mean, half = math.fsum(finite) / len(finite), half_width(finite, confidence)
    return mean - half, mean + half
