"""The search of a point: a bracket by one replicate, then runs of all replicates around the fitted answer.

1. One replicate walks the rungs of the ladder until two neighbours enclose the answer (`ladder`).
2. All replicates run the value where the line through the two meets the bound.
3. A line is fitted to these runs (`crossing_fit`), and all replicates run a value on the other side of the
   fitted answer, until the nearest values below and above it are N and N + 1, or no further apart than one
   and a half times the width of the interval.

Where no line fits, each replicate bisects for itself (`bisect`). The answer is a function of the runs of this
point alone: neither the order in which runs end nor other points change it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from destage.sweeps.seek.crossing_fit import Fit, cross_line, fit_crossing
from destage.sweeps.seek.intervals import Interval, t_interval
from destage.sweeps.seek.ladder import RUNGS_PER_DOUBLING, Bracket, bisect, find_bracket
from destage.sweeps.seek.probes import (
    BOUNDED,
    BrokenRun,
    LookAll,
    MissingRun,
    MissingRuns,
    PointRuns,
    Points,
    ProbeVerdict,
    ReplicateResult,
    SearchState,
    ValueVerdict,
)

_APART = 0.5
"""How far from the fitted answer a value on its other side is run [half-widths of the interval]."""
_CLOSEST = 3.0
"""How far apart the nearest values around the answer may be [half-widths], unless they are N and N + 1."""
_NEAR_LOWER = 0.25
"""Up to this fraction of its bracket a crossing is near the lower rung."""
_FARTHEST = 2 ** (2 / RUNGS_PER_DOUBLING)
"""How far outside its bracket a fitted answer may be: two rungs."""
_CLOSE = 1 + 1e-9
_NOISE = 3.0
"""The distance from the answer beyond which a verdict is not due to noise [standard deviations]."""
_CENSORED = (
    SearchState.AT_LEAST,
    SearchState.BELOW,
    SearchState.ABOVE,
    SearchState.MORE_EXPENSIVE,
)
_HAS_RUNS = (SearchState.CERTIFIED, SearchState.ABOVE, SearchState.MORE_EXPENSIVE)
"""The states whose runs next to the answer, or to what is known of it, are the point's."""


@dataclass(frozen=True, slots=True)
class PointResult:
    """The search of a point that has ended.

    Attributes:
        interval: The mean over the replicates that have a value or a bound of it, with its 95 % interval.
        monotone: Whether no run met the objectives well above the answer, or missed them well below it.
        failing_verdict: Of a search for the smallest value: the verdict on `failing`, if there is one.
    """

    replicates: Mapping[int, ReplicateResult]
    interval: Interval
    monotone: bool
    failing_verdict: ValueVerdict | None = None

    @property
    def passing(self) -> int | None:
        """The largest value up to which every replicate has a run below its answer."""
        return min(
            (result.passing for result in self._certified() if result.passing is not None), default=None
        )

    @property
    def failing(self) -> int | None:
        """The smallest value from which on every replicate has a run above its answer."""
        return max(
            (result.failing for result in self._certified() if result.failing is not None), default=None
        )

    @property
    def censored(self) -> SearchState | None:
        """The bound of the search that a replicate reached, if one did."""
        states = {result.state for result in self.replicates.values()}
        return next((state for state in _CENSORED if state in states), None)

    def _certified(self) -> Iterator[ReplicateResult]:
        has_verdict = self.failing_verdict is not None
        return (result for result in self.replicates.values() if has_verdict or result.state in _HAS_RUNS)


def search(
    ladder: Sequence[int], start: int, base: int, replicates: int, look: LookAll
) -> PointResult | tuple[tuple[int, int], ...]:
    """Continue the search of a point as far as the known runs allow.

    Args:
        ladder: The rungs of the seek.
        start: The first value tried.
        base: The replicates of every point: they choose the values, and further replicates run the same.
        look: Returns what is known of a run.

    Returns:
        The result, or the runs to execute before the search can go on: replicate and value of each.
    """
    try:
        return _Search(ladder, start, base, replicates, look).run()
    except MissingRuns as missing:
        return missing.runs


@dataclass(frozen=True, slots=True)
class _Line:
    """The line of one replicate around its bracket.

    Attributes:
        start: The value at which it meets the bound.
        ends: The two runs that give the slope.
    """

    start: int
    ends: Points
    rungs: tuple[int, int]


class _Search:
    def __init__(self, ladder: Sequence[int], start: int, base: int, replicates: int, look: LookAll) -> None:
        self._ladder = ladder
        self._base = base
        self._replicates = replicates
        self._start = start
        self._runs = PointRuns(look)

    def run(self) -> PointResult:
        scouted = self._find_bracket()
        if scouted is None:
            return self._conclude({})
        scout, bracket = scouted
        line = self._draw_line(scout, bracket)
        if line is not None:
            values = [line.start]
            fit = self._fit(line, values, self._base)
            if fit is not None and self._replicates > self._base:
                fit = self._fit(line, values, self._replicates)
            if fit is not None:
                return self._conclude_fit(fit, values)
        return self._conclude(self._bisect(bracket))

    def _find_bracket(self) -> tuple[int, Bracket] | None:
        """Return the first replicate that finds a bracket, and the bracket; None if none does."""
        for scout in range(self._base):
            look = self._runs.look_of(scout)
            try:
                bracket = find_bracket(self._ladder, look, self._start)
            except MissingRun as missing:
                raise MissingRuns([(scout, missing.value)]) from None
            except BrokenRun:
                self._runs.excluded[scout] = ReplicateResult(SearchState.FAILED, None)
                continue
            below = self._ladder[bracket.lower] if bracket.lower >= 0 else None
            above = self._ladder[bracket.upper] if bracket.upper < len(self._ladder) else None
            probe = None if above is None else look(above)
            if probe is None or probe.verdict is not ProbeVerdict.UNDECIDED:
                return scout, bracket
            value = self._ladder[0] - 1 if below is None else below
            self._runs.excluded[scout] = ReplicateResult(SearchState.UNDECIDED, value, below, above)
        return None

    def _bisect(self, bracket: Bracket) -> dict[int, ReplicateResult]:
        """Return the result of each replicate by its own verdicts."""
        results: dict[int, ReplicateResult] = {}
        missing: list[tuple[int, int]] = []
        for replicate in self._runs.list_active(self._replicates):
            try:
                results[replicate] = bisect(self._ladder, self._runs.look_of(replicate), bracket)
            except MissingRun as error:
                missing.append((replicate, error.value))
        if missing:
            raise MissingRuns(missing)
        return results

    def _draw_line(self, scout: int, bracket: Bracket) -> _Line | None:
        """Return the line of the replicate that found the bracket; None if it has none."""
        ladder, lower, upper = self._ladder, bracket.lower, bracket.upper
        if lower < 0 or upper == len(ladder):
            return None
        rungs = ladder[lower], ladder[upper]
        ends = self._runs.measure(scout, rungs)
        crossing = None if ends is None else cross_line(ends)
        if ends is None or crossing is None:
            return None
        start = min(math.floor(crossing * _CLOSE), rungs[1] - 1)
        # The slope grows with the load. Near the lower rung the line through both is too steep, which would
        # make the interval too narrow; near the upper one it is too flat, which is safe.
        place = math.log(crossing / rungs[0]) / math.log(rungs[1] / rungs[0])
        outer = (ladder[lower - 1], rungs[1]) if place < _NEAR_LOWER and lower > 0 else rungs
        wide = self._runs.measure(scout, outer)
        if wide is None or cross_line(wide) is None:
            wide = ends
        return _Line(start, wide, rungs)

    def _fit(self, line: _Line, values: list[int], count: int) -> Fit | None:
        """Return the fit over some replicates; None if no line fits.

        Args:
            values: The values that all replicates run, to which further ones are added.
        """
        while True:
            full = self._runs.measure_all(count, values)
            fit = fit_crossing(line.ends, full) if full else None
            if fit is None or not self._is_near(fit.mean, line.rungs):
                return None
            following = _choose(values, fit, self._ladder)
            if following is None:
                return fit
            values.append(following)

    def _is_near(self, value: float, rungs: tuple[int, int]) -> bool:
        """Whether a fitted answer is inside the bounds of the search and near its bracket."""
        is_inside = self._ladder[0] <= value * _CLOSE and value < self._ladder[-1]
        return is_inside and rungs[0] / _FARTHEST < value < rungs[1] * _FARTHEST

    def _conclude_fit(self, fit: Fit, values: Sequence[int]) -> PointResult:
        passing = max(value for value in values if value <= fit.mean * _CLOSE)
        failing = min(value for value in values if value > fit.mean * _CLOSE)
        results = {
            replicate: ReplicateResult(SearchState.CERTIFIED, crossing, passing, failing)
            for replicate, crossing in fit.crossings.items()
        }
        count = len(results)
        variance = math.fsum((value - fit.mean) ** 2 for value in fit.crossings.values()) / max(count - 1, 1)
        # A single run scatters more than a crossing, which averages the runs of a replicate.
        around = max(_NOISE * math.sqrt(variance * len(values)), 1.0)
        concluded = self._conclude(results, dict.fromkeys(results, (fit.mean - around, fit.mean + around)))
        return replace(concluded, interval=fit.interval)

    def _conclude(
        self,
        results: Mapping[int, ReplicateResult],
        ranges: Mapping[int, tuple[float, float]] | None = None,
    ) -> PointResult:
        """Return the result of the point.

        Args:
            ranges: Values of each replicate whose verdicts may be due to noise (default: none).
        """
        every = dict(sorted({**results, **self._runs.excluded}.items()))
        values = [
            float(result.value)
            for result in every.values()
            if result.state in BOUNDED and result.value is not None
        ]
        if ranges is None:
            ranges = {
                replicate: (result.value, result.value)
                for replicate, result in every.items()
                if result.value is not None
            }
        is_monotone = all(
            probe.verdict is not (ProbeVerdict.FAIL if value <= ranges[replicate][0] else ProbeVerdict.PASS)
            for (replicate, value), probe in self._runs.seen.items()
            if replicate in ranges and not ranges[replicate][0] < value <= ranges[replicate][1]
        )
        return PointResult(every, t_interval(values), is_monotone)


def _choose(values: Sequence[int], fit: Fit, ladder: Sequence[int]) -> int | None:
    """Return the value that all replicates run next; None if those run enclose the answer closely."""
    answer = fit.mean * _CLOSE
    below = [value for value in values if value <= answer]
    above = [value for value in values if value > answer]
    away = _APART * fit.spread
    if not above:
        return min(math.floor(answer + away) + 1, ladder[-1])
    if not below:
        return max(min(math.floor(answer - away), min(above) - 1), ladder[0])
    if min(above) - max(below) <= max(1.0, _CLOSEST * fit.spread):
        return None
    return max(math.floor(answer), max(below) + 1)
