"""The search for the smallest value of a point that meets the objectives, and for the cheapest points.

A value, such as a number of disks, is judged by all replicates together. It meets an objective if the
interval of the mean margin, the log of measured value over bound, lies at or below zero, and misses it if the
interval lies above. Otherwise more replicates run, up to the maximum of the study. A value that is still
undecided then is not taken as the answer. Its replicates are judged at several looks. Each look takes an
equal share of the 5 % error probability of a value, so that the total stays at most 5 % (Bonferroni).

The answer is the smallest value that meets the objectives and above which every value tried meets them, too.
The next smaller value misses them, is undecided or is not allowed.

The price of a point rises with the sought number of disks. Until enough points are known that meet the
objectives, those whose next value costs the least are searched, a few at a time, in steps that double the
price. From then on, every other point is tried at the largest number of disks that costs less than the last
of the cheapest points: if that misses the objectives, the point is more expensive, whatever its answer is.
Most values that are tried are far from enough, and their runs take the longest. So one replicate decides a
value alone if it misses an objective by more than `FAR`: more of them would only say so again.
"""

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from destage.student import CONFIDENCE, half_width
from destage.sweeps.seek.intervals import Interval
from destage.sweeps.seek.largest_search import PointResult
from destage.sweeps.seek.probes import (
    LookAll,
    Probe,
    ProbeVerdict,
    ReplicateResult,
    SearchState,
    ValueVerdict,
)

FAR = 3.0
"""How many times a result must be beyond its bound for one run to decide."""
_GROWTH = 1.6
"""How many times more replicates the next look has."""
_DEARER = 2.0
"""The most that the next value costs after one that misses the objectives, as a multiple of its price."""

_FAULTS = (ValueVerdict.BROKEN, ValueVerdict.UNMEASURED)
"""The verdicts after which a point has no answer."""


@dataclass(frozen=True, slots=True)
class LookSchedule:
    """The looks at which the replicates of a value are judged.

    Attributes:
        counts: The number of replicates at each look, ascending.
        has_scout: Whether the first replicate of a value runs before the others, as it may decide alone.
    """

    counts: tuple[int, ...]
    has_scout: bool = False

    @property
    def confidence(self) -> float:
        """The confidence of the verdict of one look; a single replicate has no interval."""
        return 1 - (1 - CONFIDENCE) / max(sum(count > 1 for count in self.counts), 1)

    @property
    def first(self) -> int:
        """The replicates of a value that run at first."""
        return 1 if self.has_scout else self.counts[0]


def schedule_looks(least: int, most: int, *, has_scout: bool = False) -> LookSchedule:
    """Return the looks from the fewest to the most replicates of a value."""
    counts = [least]
    while counts[-1] < most:
        counts.append(min(math.ceil(_GROWTH * counts[-1]), most))
    return LookSchedule(tuple(counts), has_scout)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the runs of a point say so far; values are given by their position among the allowed ones.

    Attributes:
        lower: The largest value that has a verdict and does not meet the objectives; -1 if there is none.
        upper: The smallest value above it that meets them; the number of values if none does.
        missing: The runs that are needed for the verdict of a value: replicate and value of each.
        verdicts: The verdict of each value that has one.
        replicates: The number of replicates that each verdict rests on.
        pending: The smallest value that has runs and no verdict; None if there is none.
    """

    lower: int
    upper: int
    missing: tuple[tuple[int, int], ...]
    verdicts: Mapping[int, ValueVerdict]
    replicates: Mapping[int, int]
    pending: int | None = None

    @property
    def fault(self) -> ValueVerdict | None:
        """The verdict that ends the search of the point without an answer, if a value has one."""
        return next((verdict for verdict in self.verdicts.values() if verdict in _FAULTS), None)

    @property
    def is_monotone(self) -> bool:
        """Whether no value below one that does not meet the objectives meets them."""
        return all(
            position > self.lower
            for position, verdict in self.verdicts.items()
            if verdict is ValueVerdict.MEETS
        )

    @property
    def is_closed(self) -> bool:
        """Whether the smallest value that meets the objectives is known, or that there is none."""
        return self.fault is not None or (not self.missing and self.upper - self.lower == 1)


def examine(values: Sequence[int], probed: Iterable[int], looks: LookSchedule, look: LookAll) -> Evidence:
    """Return what the runs of a point say.

    Args:
        values: The allowed values, ascending.
        probed: The values that have planned runs.
        look: Returns what is known of a run.
    """
    missing: list[tuple[int, int]] = []
    pending: list[int] = []
    verdicts: dict[int, ValueVerdict] = {}
    replicates: dict[int, int] = {}
    for value in sorted(probed):
        judged = _judge(value, looks, look)
        missing += judged.missing
        position = values.index(value)
        if judged.verdict is None:
            pending.append(position)
        else:
            verdicts[position], replicates[position] = judged.verdict, judged.count
    above = [position for position, verdict in verdicts.items() if verdict is ValueVerdict.MEETS]
    lower = max((position for position in verdicts if position not in above), default=-1)
    upper = min((position for position in above if position > lower), default=len(values))
    return Evidence(lower, upper, tuple(missing), verdicts, replicates, min(pending, default=None))


def choose_value(
    evidence: Evidence,
    count: int,
    first: int,
    ceiling: int | None = None,
    rise: Callable[[int], int] = lambda lower: max(2 * lower, lower + 1),
) -> int | None:
    """Return the position of the value to try next; None if the runs so far answer the question.

    Without a ceiling, the values rise from the first one in steps that double, until one meets the
    objectives, and then halve the distance. With one, the first value tried is the ceiling: if it misses the
    objectives, no value up to it meets them.

    Args:
        count: The number of allowed values.
        first: The position of the value to begin with.
        ceiling: The largest position of interest.
        rise: Returns the position after one that misses the objectives.
    """
    if evidence.is_closed or evidence.lower + 1 >= count:
        return None
    if ceiling is not None and evidence.upper > ceiling:
        return ceiling if ceiling > evidence.lower else None
    if evidence.upper < count:
        return (evidence.lower + evidence.upper) // 2
    if evidence.lower < 0:
        return first
    return min(rise(evidence.lower), count - 1)


def conclude(
    values: Sequence[int], evidence: Evidence, replicates: int, *, is_expensive: bool = False
) -> PointResult:
    """Return the result of a point whose search has ended.

    Args:
        replicates: The fewest replicates of a value.
        is_expensive: Whether it ended because other points are cheaper.
    """
    verdict = evidence.verdicts.get(evidence.lower)
    lower = values[evidence.lower] if evidence.lower >= 0 else None
    upper = values[evidence.upper] if evidence.upper < len(values) else None
    value = None
    if evidence.fault is ValueVerdict.BROKEN:
        state = SearchState.FAILED
    elif evidence.fault is not None:
        state = SearchState.UNDECIDED
    elif is_expensive:
        state = SearchState.MORE_EXPENSIVE
    elif upper is not None:
        state, value = SearchState.CERTIFIED, upper
    elif verdict is ValueVerdict.MISSES:
        state, value = SearchState.ABOVE, values[-1]
    else:
        state = SearchState.UNDECIDED
    passing = None if evidence.fault else upper
    shown = evidence.lower if upper is None else evidence.upper
    count = evidence.replicates.get(shown, replicates)
    results = dict.fromkeys(range(count), ReplicateResult(state, value, passing, lower))
    # One number for all replicates has no interval.
    interval = Interval(None, None, 0) if value is None else Interval(float(value), None, count)
    return PointResult(results, interval, evidence.is_monotone, verdict)


@dataclass(frozen=True, slots=True)
class _Judged:
    """The verdict of a value.

    Attributes:
        verdict: None before it is known.
        count: The replicates that it rests on.
        missing: The runs that are needed to know more.
    """

    verdict: ValueVerdict | None
    count: int
    missing: tuple[tuple[int, int], ...] = ()


def _judge(value: int, looks: LookSchedule, look: LookAll) -> _Judged:
    if looks.has_scout:
        scout = look(0, value)
        if scout is None:
            return _Judged(None, 1, ((0, value),))
        if _is_far(scout):
            return _Judged(ValueVerdict.MISSES, 1)
    for count in looks.counts:
        probes = {replicate: look(replicate, value) for replicate in range(count)}
        if missing := tuple((replicate, value) for replicate, probe in probes.items() if probe is None):
            return _Judged(None, count, missing)
        verdict = _weigh([probe for probe in probes.values() if probe is not None], looks.confidence)
        if verdict is not ValueVerdict.UNDECIDED:
            return _Judged(verdict, count)
    return _Judged(ValueVerdict.UNDECIDED, looks.counts[-1])


def _is_far(probe: Probe) -> bool:
    """Return whether a run is overloaded, or misses an objective by more than `FAR`."""
    if probe.margins is None:
        return probe.verdict is ProbeVerdict.FAIL
    return max(probe.margins, default=0.0) > math.log(FAR)


def _weigh(probes: Sequence[Probe], confidence: float) -> ValueVerdict:
    """Return what the replicates of a value say together."""
    if any(probe.verdict is ProbeVerdict.BROKEN for probe in probes):
        return ValueVerdict.BROKEN
    unmeasured = [probe for probe in probes if probe.margins is None]
    if any(probe.verdict is ProbeVerdict.FAIL for probe in unmeasured):
        # The array cannot carry the load of a replicate.
        return ValueVerdict.MISSES
    if unmeasured:
        lacks_value = any(probe.lacks_value for probe in unmeasured)
        return ValueVerdict.UNMEASURED if lacks_value else ValueVerdict.UNSTEADY
    margins = [probe.margins for probe in probes if probe.margins is not None]
    ends = [_find_ends(objective_margins, confidence) for objective_margins in zip(*margins, strict=True)]
    if any(low > 0 for low, _ in ends):
        return ValueVerdict.MISSES
    return ValueVerdict.MEETS if all(high <= 0 for _, high in ends) else ValueVerdict.UNDECIDED


def _find_ends(margins: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the interval of the mean margin of an objective."""
    if math.inf in margins:
        return math.inf, math.inf
    if -math.inf in margins:
        # A value of zero has no log: all are compared as fractions of the bound, from which it is 1 away.
        margins = [math.expm1(margin) for margin in margins]
    mean = math.fsum(margins) / len(margins)
    half = half_width(margins, confidence) if len(margins) > 1 else math.inf
    return mean - half, mean + half


_TOGETHER = 6
"""Points searched at a time before the cheapest ones are known: their runs keep the processors busy."""
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Candidate:
    """A point with its prices.

    Attributes:
        count: The number of its allowed values.
        price: Returns the price at the position of a value [currency].
    """

    count: int
    evidence: Evidence
    price: Callable[[int], float]

    @property
    def least_price(self) -> float:
        """The price of the next value above those that do not meet the objectives, or infinity."""
        following = self.evidence.lower + 1
        return self.price(following) if following < self.count else math.inf

    @property
    def known_price(self) -> float:
        """The price of the smallest value that is known to meet the objectives, or infinity.

        A point whose search a fault has ended gets no answer, so that it is none of the cheapest.
        """
        upper = self.evidence.upper
        return self.price(upper) if upper < self.count and self.evidence.fault is None else math.inf

    @property
    def hoped_price(self) -> float:
        """The price of the smallest value that meets the objectives or may do so by its runs, or infinity."""
        pending = self.evidence.pending
        return min(self.known_price, math.inf if pending is None else self.price(pending))

    def find_dearer(self, lower: int) -> int:
        """Return the position of the largest value that costs at most `_DEARER` times as much as one."""
        return _find_ceiling(self, math.nextafter(_DEARER * self.price(lower), math.inf))


@dataclass(frozen=True, slots=True)
class Choice:
    """What comes next.

    Attributes:
        values: By position of a point, the position of the value to try.
        expensive: The positions of the points that cost more than the cheapest ones, whatever their answers.
    """

    values: dict[int, int]
    expensive: frozenset[int]


def choose_points(candidates: Sequence[Candidate], most: int, highest: float = math.inf) -> Choice:
    """Return the values to try next, and the points that need no further search.

    Args:
        candidates: All points; those with runs in flight or with a failed run get no value.
        most: The number of cheapest points to find.
        highest: The highest price of interest [currency].
    """
    ranked = sorted(range(len(candidates)), key=lambda index: (candidates[index].known_price, index))
    cheapest = [index for index in ranked[:most] if candidates[index].known_price <= min(highest, _LARGEST)]
    is_full = len(cheapest) == most
    # Only prices below the limit are of interest.
    limit = candidates[cheapest[-1]].known_price if is_full else math.nextafter(highest, math.inf)
    values: dict[int, int] = {}
    expensive = set()
    for index, candidate in enumerate(candidates):
        if candidate.evidence.missing or candidate.evidence.is_closed:
            continue
        if index in cheapest:
            value = choose_value(candidate.evidence, candidate.count, 0)
        elif candidate.least_price >= limit:
            expensive.add(index)
            continue
        elif is_full:
            value = choose_value(candidate.evidence, candidate.count, 0, _find_ceiling(candidate, limit))
        else:
            ceiling = _find_ceiling(candidate, limit)
            value = choose_value(candidate.evidence, ceiling + 1, 0, rise=candidate.find_dearer)
        if value is not None:
            values[index] = value
    if not is_full:
        # What costs more than enough values that are not far from the objectives can wait for their verdicts.
        hoped = sorted(candidate.hoped_price for candidate in candidates)
        enough = hoped[most - 1] if most <= len(hoped) else math.inf
        costs = {index: candidates[index].price(value) for index, value in values.items()}
        waiting = any(candidate.evidence.missing for candidate in candidates)
        first = sorted(values, key=lambda index: (costs[index], index))
        values = {index: values[index] for index in first[:_TOGETHER] if not waiting or costs[index] < enough}
    return Choice(values, frozenset(expensive))


def _find_ceiling(candidate: Candidate, limit: float) -> int:
    """Return the position of the largest value below a price; of the next value if that is not below it."""
    low, high = candidate.evidence.lower + 1, candidate.count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if candidate.price(middle) < limit else (low, middle)
    return low
