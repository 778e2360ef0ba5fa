"""The values that a search for the largest one tries: rungs of a ladder around its bracket, then halves.

The bracket of a seek are the neighbouring rungs between which a replicate starts to fail. The rungs are the
same for all points of a sweep. Two rungs are further apart than the noise of a run, so the verdicts on them
usually change once, from passing to failing, and the bracket does not depend on the order in which the search
visits them.

The search by verdicts alone, a bisection of the bracket, is used where no line can be fitted: at the bounds
of the search, and where runs above the answer measure nothing, such as an overloaded array.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from destage.sweeps.keys.seek_key import Seek
from destage.sweeps.seek.probes import (
    BrokenRun,
    Look,
    Probe,
    ProbeVerdict,
    ReplicateResult,
    SearchState,
    read_probe,
)

RUNGS_PER_DOUBLING = 4
_LONGEST_STEP = 2 * RUNGS_PER_DOUBLING
"""Rungs by which a step may leave the values seen: a factor of four."""
_BLIND_STEP = RUNGS_PER_DOUBLING
"""The step after a run that measured nothing."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """Neighbouring rungs, by their index.

    Attributes:
        lower: The highest rung that passes; -1 if even the lowest does not.
        upper: The rung above it, which does not pass; the number of rungs if the highest passes.
    """

    lower: int
    upper: int


def make_ladder(seek: Seek, needed: float = math.inf) -> tuple[int, ...]:
    """Return the rungs: the bounds of the search, and whole numbers in equal ratios between them.

    Args:
        needed: An answer from which on all are the same: the rungs end with the first that is not below it.
    """
    lowest = math.floor(RUNGS_PER_DOUBLING * math.log2(seek.least / seek.start))
    highest = math.ceil(RUNGS_PER_DOUBLING * math.log2(seek.most / seek.start))
    rungs = {round(seek.start * 2 ** (step / RUNGS_PER_DOUBLING)) for step in range(lowest, highest + 1)}
    inner = {rung for rung in rungs if seek.least < rung < seek.most}
    ladder = tuple(sorted({seek.least, *inner, seek.most}))
    return ladder[: bisect_left(ladder, max(needed, seek.start)) + 1]


def find_bracket(ladder: Sequence[int], look: Look, start: int) -> Bracket:
    """Return the bracket of a replicate, walking from a value.

    An undecided run counts as one that does not pass, so that the search continues below it.

    Raises:
        MissingRun: The next rung has not been run.
        BrokenRun: A run failed.
    """
    walk = _Walk(ladder, start)
    while walk.upper - walk.lower > 1:
        rung = walk.choose()
        walk.see(rung, read_probe(look, ladder[rung]))
    return Bracket(walk.lower, walk.upper)


class _Walk:
    """The rungs seen so far: what lies at or below `lower` passes, what lies at or above `upper` does not."""

    def __init__(self, ladder: Sequence[int], start: int) -> None:
        self._ladder = ladder
        self._start = start
        self._margins: dict[int, float] = {}
        self._moves: list[bool] = []
        self._places = _list_places(tuple(ladder))
        self._width = 2 * len(ladder)
        self.lower = -1
        self.upper = len(ladder)

    def see(self, rung: int, probe: Probe) -> None:
        """Narrow the bracket by a run."""
        if probe.margins:
            margin = max(probe.margins)
            if math.isfinite(margin):
                self._margins[rung] = margin
        if probe.passes:
            self.lower = rung
        else:
            self.upper = rung
        self._moves.append(probe.passes)

    def choose(self) -> int:
        """Return the rung to run next."""
        if not self._moves:
            return self._nearest(math.log(self._start))
        if self.lower < 0 or self.upper == len(self._ladder):
            return self._outside()
        return self._within()

    def _outside(self) -> int:
        """Return the rung beyond the crossing that the rungs seen, all on one side of it, suggest."""
        is_up = self.lower >= 0
        end = self.lower if is_up else self.upper
        crossing = self._extrapolate(end)
        step = _BLIND_STEP
        if crossing is not None:
            beyond = bisect_left(self._places, crossing)
            step = beyond - end if is_up else end - beyond + 1
        # Where the line is wrong, the steps grow until they pass the crossing.
        step = min(max(step, 1 << (len(self._moves) - 1)), _LONGEST_STEP)
        return min(end + step, len(self._ladder) - 1) if is_up else max(end - step, 0)

    def _within(self) -> int:
        """Return a rung inside the bracket: near the crossing of the line through its ends, or halfway."""
        width = self.upper - self.lower
        is_halved = width <= self._width // 2
        self._width = width
        low, high = self._margins.get(self.lower), self._margins.get(self.upper)
        if low is None or high is None or not is_halved:
            return (self.lower + self.upper) // 2
        ends = self._places[self.lower], self._places[self.upper]
        crossing = ends[0] - low * (ends[1] - ends[0]) / (high - low)
        return min(max(self._nearest(crossing), self.lower + 1), self.upper - 1)

    def _nearest(self, place: float) -> int:
        """Return the rung nearest to a place; of two, the lower one."""
        above = min(bisect_left(self._places, place), len(self._places) - 1)
        below = max(above - 1, 0)
        return below if place - self._places[below] <= self._places[above] - place else above

    def _extrapolate(self, end: int) -> float | None:
        """Return the log of the value at which the line through the nearest rungs seen reaches the bound."""
        margin = self._margins.get(end)
        if margin is None:
            return None
        others = [rung for rung in self._margins if rung != end]
        slope = 1.0
        if others:
            other = min(others, key=lambda rung: abs(rung - end))
            seen = (margin - self._margins[other]) / (self._places[end] - self._places[other])
            # A response grows ever faster towards saturation.
            slope = max(seen, slope)
        return self._places[end] - margin / slope


@cache
def _list_places(ladder: tuple[int, ...]) -> tuple[float, ...]:
    """Return the logarithms of the rungs, which all points of a sweep share."""
    return tuple(math.log(value) for value in ladder)


def bisect(ladder: Sequence[int], look: Look, bracket: Bracket) -> ReplicateResult:
    """Return the largest passing value of a replicate.

    Args:
        ladder: The rungs; the first and the last are the bounds of the search.
        bracket: Where another replicate starts to fail.

    Raises:
        MissingRun: The next value has not been run.
    """
    try:
        return _bisect(ladder, look, bracket)
    except BrokenRun:
        return ReplicateResult(SearchState.FAILED, None)


def _bisect(ladder: Sequence[int], look: Look, bracket: Bracket) -> ReplicateResult:
    lower, upper = bracket.lower, bracket.upper
    while lower >= 0 and not read_probe(look, ladder[lower]).passes:
        lower, upper = lower - 1, lower
    while upper < len(ladder) and read_probe(look, ladder[upper]).passes:
        lower, upper = upper, upper + 1
    if upper == len(ladder):
        return ReplicateResult(SearchState.AT_LEAST, ladder[-1], passing=ladder[-1])
    failing = ladder[upper]
    if lower < 0:
        return ReplicateResult(_end(look, failing, SearchState.BELOW), failing - 1, failing=failing)
    passing = ladder[lower]
    while failing - passing > 1:
        middle = (passing + failing) // 2
        if read_probe(look, middle).passes:
            passing = middle
        else:
            failing = middle
    return ReplicateResult(_end(look, failing, SearchState.CERTIFIED), passing, passing, failing)


def _end(look: Look, failing: int, state: SearchState) -> SearchState:
    """Return the state of a search that ends below a value that does not pass."""
    is_undecided = read_probe(look, failing).verdict is ProbeVerdict.UNDECIDED
    return SearchState.UNDECIDED if is_undecided else state
