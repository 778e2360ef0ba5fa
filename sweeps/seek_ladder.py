"""The bracket of a seek: the neighbouring rungs of a fixed ladder between which a replicate starts to fail.

The rungs are the same for all points of a sweep. Two rungs are further apart than the noise of a run, so the
verdicts on them change once, from passing to failing, and the bracket does not depend on where the search
starts or in which order it visits them. A start from a neighbour's answer therefore saves runs, and changes
no answer.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from destage.sweeps.seek_probes import Look, Probe, read_probe
from destage.sweeps.study import Seek

RUNGS_PER_DOUBLING = 4
_LONGEST_STEP = 2 * RUNGS_PER_DOUBLING
"""Rungs by which a step may leave the values seen: a factor of four."""
_BLIND_STEP = RUNGS_PER_DOUBLING
"""The step after a run that measured nothing."""


@dataclass(frozen=True, slots=True)
class Hint:
    """Where to start.

    Attributes:
        value: The value at which the objectives are expected to be reached.
        slope: The expected growth of the log of the binding objective per log of the value.
    """

    value: float
    slope: float = 1.0


@dataclass(frozen=True, slots=True)
class Bracket:
    """Neighbouring rungs, by their index.

    Attributes:
        lower: The highest rung that passes; -1 if even the lowest does not.
        upper: The rung above it, which does not pass; the number of rungs if the highest passes.
    """

    lower: int
    upper: int


def make_ladder(seek: Seek) -> tuple[int, ...]:
    """Return the rungs: the bounds of the search, and whole numbers in equal ratios between them."""
    lowest = math.floor(RUNGS_PER_DOUBLING * math.log2(seek.least / seek.start))
    highest = math.ceil(RUNGS_PER_DOUBLING * math.log2(seek.most / seek.start))
    rungs = {round(seek.start * 2 ** (step / RUNGS_PER_DOUBLING)) for step in range(lowest, highest + 1)}
    inner = {rung for rung in rungs if seek.least < rung < seek.most}
    return tuple(sorted({seek.least, *inner, seek.most}))


def find_bracket(ladder: Sequence[int], look: Look, hint: Hint) -> Bracket:
    """Return the bracket of a replicate.

    An undecided run counts as one that does not pass, so that the search continues below it.

    Raises:
        MissingRun: The next rung has not been run.
        BrokenRun: A run failed.
    """
    walk = _Walk(ladder, hint)
    while walk.upper - walk.lower > 1:
        rung = walk.choose()
        walk.see(rung, read_probe(look, ladder[rung]))
    return Bracket(walk.lower, walk.upper)


class _Walk:
    """The rungs seen so far: what lies at or below `lower` passes, what lies at or above `upper` does not."""

    def __init__(self, ladder: Sequence[int], hint: Hint) -> None:
        self._ladder = ladder
        self._hint = hint
        self._margins: dict[int, float] = {}
        self._moves: list[bool] = []
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
            return self._nearest(math.log(self._hint.value))
        has_lower, has_upper = self.lower >= 0, self.upper < len(self._ladder)
        if has_lower and has_upper:
            return self._within()
        end = self.lower if has_lower else self.upper
        crossing = self._extrapolate(end)
        if crossing is None:
            step = _BLIND_STEP
        else:
            # The rung beyond the crossing closes the bracket.
            beyond = bisect_left([math.log(value) for value in self._ladder], crossing)
            step = abs(beyond - end) if has_lower else abs(end - beyond) + 1
            step = min(max(step, 1), _LONGEST_STEP)
        return min(end + step, len(self._ladder) - 1) if has_lower else max(end - step, 0)

    def _within(self) -> int:
        """Return a rung inside the bracket: near the crossing of the line through its ends, or halfway."""
        low, high = self._margins.get(self.lower), self._margins.get(self.upper)
        is_creeping = len(self._moves) > 3 and len(set(self._moves[-3:])) == 1  # noqa: PLR2004 - three alike
        if low is None or high is None or is_creeping:
            return (self.lower + self.upper) // 2
        ends = math.log(self._ladder[self.lower]), math.log(self._ladder[self.upper])
        crossing = ends[0] - low * (ends[1] - ends[0]) / (high - low)
        return min(max(self._nearest(crossing), self.lower + 1), self.upper - 1)

    def _nearest(self, log_value: float) -> int:
        return min(
            range(len(self._ladder)), key=lambda rung: (abs(math.log(self._ladder[rung]) - log_value), rung)
        )

    def _extrapolate(self, end: int) -> float | None:
        """Return the log of the value at which the line through the nearest rungs seen reaches the bound."""
        margin = self._margins.get(end)
        if margin is None:
            return None
        place = math.log(self._ladder[end])
        others = sorted((rung for rung in self._margins if rung != end), key=lambda rung: abs(rung - end))
        slope = self._hint.slope
        if others:
            seen = (margin - self._margins[others[0]]) / (place - math.log(self._ladder[others[0]]))
            # A response grows ever faster towards saturation.
            slope = max(seen, slope)
        return place - margin / slope
