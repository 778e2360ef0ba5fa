"""The search of a seek: a geometric bracket, a bisection, and a check of the values just below the answer.

The answer depends on the verdicts alone: the values visited follow from `start`, `least`, `most` and the
verdicts, never from the order in which runs end or from other points. If passing is monotone, the answer is
the largest passing value. Otherwise it is the lowest crossing that the search meets, and not monotone.

A verdict may be *undecided*: the run reached no steady state, so the value neither passes nor fails. The
search goes on below it, as below a failing value; if the value just above the answer is undecided, the answer
is a lower bound and the state says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from destage.sweeps.study import Seek


class ProbeVerdict(Enum):
    """The verdict of one run on one value."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    UNDECIDED = "undecided"
    BROKEN = "broken"


class SearchState(Enum):
    """How a search ended."""

    CERTIFIED = "certified"
    AT_LEAST = "at_least"
    BELOW = "below"
    UNDECIDED = "undecided"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A search that has ended.

    Attributes:
        value: The largest passing value; `most` for at least, `least - 1` for below; None when a run failed.
        monotone: Whether no value examined passed above one that failed.
    """

    state: SearchState
    value: int | None
    monotone: bool


class _NeedsRuns(Exception):  # noqa: N818 - not an error: the search waits for these values
    def __init__(self, *values: int) -> None:
        super().__init__(values)
        self.values = values


class _RunFailed(Exception):  # noqa: N818 - ends the search
    pass


def search(seek: Seek, look: Callable[[int], ProbeVerdict | None]) -> SearchResult | tuple[int, ...]:
    """Continue a search as far as the known verdicts allow.

    Args:
        look: Returns the verdict on a value, or None before it has been run.

    Returns:
        The result, or the values that must be run before the search can go on.
    """
    walk = _Walk(seek, look)
    try:
        return walk.walk()
    except _NeedsRuns as unknown:
        return unknown.values
    except _RunFailed:
        return SearchResult(SearchState.FAILED, None, walk.is_monotone())


class _Walk:
    def __init__(self, seek: Seek, look: Callable[[int], ProbeVerdict | None]) -> None:
        self._seek = seek
        self._look = look
        self._seen: dict[int, ProbeVerdict] = {}

    def walk(self) -> SearchResult:
        passing, failing = self._bracket()
        if failing > self._seek.most:
            return SearchResult(SearchState.AT_LEAST, self._seek.most, self.is_monotone())
        while passing is not None:
            while failing - passing > 1:
                middle = (passing + failing) // 2
                if self._passes(middle):
                    passing = middle
                else:
                    failing = middle
            lower = self._lower_failing(passing)
            if lower is None:
                state = (
                    SearchState.UNDECIDED
                    if self._seen[failing] is ProbeVerdict.UNDECIDED
                    else SearchState.CERTIFIED
                )
                return SearchResult(state, passing, self.is_monotone())
            passing, failing = self._descend(lower)
        state = SearchState.UNDECIDED if self._seen[failing] is ProbeVerdict.UNDECIDED else SearchState.BELOW
        return SearchResult(state, self._seek.least - 1, self.is_monotone())

    def is_monotone(self) -> bool:
        passed = [value for value, verdict in self._seen.items() if verdict is ProbeVerdict.PASS]
        failed = [value for value, verdict in self._seen.items() if verdict is ProbeVerdict.FAIL]
        return not passed or not failed or max(passed) < min(failed)

    def _passes(self, value: int) -> bool:
        self._require(value)
        return self._seen[value] is ProbeVerdict.PASS

    def _require(self, *values: int) -> None:
        unknown = []
        for value in values:
            verdict = self._look(value)
            if verdict is None:
                unknown.append(value)
            elif verdict is ProbeVerdict.BROKEN:
                raise _RunFailed
            else:
                self._seen[value] = verdict
        if unknown:
            raise _NeedsRuns(*unknown)

    def _bracket(self) -> tuple[int | None, int]:
        """Double from the start while values pass; if the start fails, halve until a value passes.

        Returns:
            A passing value, if there is one, and a failing value above it: past `most` when all pass.
        """
        value = self._seek.start
        if not self._passes(value):
            return self._halve(value)
        while value < self._seek.most:
            following = min(2 * value, self._seek.most)
            if not self._passes(following):
                return value, following
            value = following
        return value, self._seek.most + 1

    def _halve(self, failing: int) -> tuple[int | None, int]:
        """Halve until a value passes; None if even the least fails."""
        while failing > self._seek.least:
            value = max(failing // 2, self._seek.least)
            if self._passes(value):
                return value, failing
            failing = value
        return None, failing

    def _descend(self, failing: int) -> tuple[int | None, int]:
        """Find the next passing value below one that fails just below a passing one.

        Such a failure is mostly noise around the crossing, so the values to be confirmed next are run
        together; if even the lowest of them fails, the steps double until a value passes.
        """
        least = self._seek.least
        if failing == least:
            return None, failing
        lower = self._lower_failing(failing - 1, and_itself=True)
        if lower is None:
            return failing - 1, failing
        if lower > least and self._seen.get(lower - 1) is ProbeVerdict.PASS:
            return lower - 1, lower
        failing, step = lower, 1
        while failing > least:
            value = max(failing - step, least)
            if self._passes(value):
                return value, failing
            failing, step = value, 2 * step
        return None, failing

    def _lower_failing(self, passing: int, *, and_itself: bool = False) -> int | None:
        """Return the lowest value that does not pass among the values to confirm below a value."""
        lowest = max(passing - self._seek.confirm, self._seek.least)
        near = range(lowest, passing + and_itself)
        self._require(*near)
        return next((value for value in near if not self._passes(value)), None)
