"""The runs of a seek, as its search sees them: a verdict, and how far each objective is from its bound.

A probe is a tried value with its runs; the replicates that take part are those of its point.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum


class ProbeVerdict(Enum):
    """The verdict of one run on one value."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    UNDECIDED = "undecided"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Probe:
    """One run at one value of the sought parameter.

    Attributes:
        margins: For each objective the log of measured value over bound, positive if it is missed; infinite
            where it has no log. None if the run measured nothing.
        lacks_value: Whether the run ended normally without a value of a bounded column.
    """

    verdict: ProbeVerdict
    margins: tuple[float, ...] | None = None
    lacks_value: bool = False

    @property
    def passes(self) -> bool:
        """Whether the run meets every objective."""
        return self.verdict is ProbeVerdict.PASS


class ValueVerdict(Enum):
    """What all replicates together say about a value of a search for the smallest one.

    `UNDECIDED`: the last look showed neither that it meets the objectives nor that it misses one;
    `UNSTEADY`: a run reached no steady state; `UNMEASURED`: a run has no value of a bounded column.
    """

    MEETS = "meets"
    MISSES = "misses"
    UNDECIDED = "undecided"
    UNSTEADY = "not_stationary"
    UNMEASURED = "not_measured"
    BROKEN = "failed"


class SearchState(Enum):
    """How the search of a replicate ended.

    `ABOVE`: not even the largest value meets the objectives of a search for the smallest one;
    `MORE_EXPENSIVE`: the search ended because others are cheaper, whatever the answer is.
    """

    CERTIFIED = "certified"
    AT_LEAST = "at_least"
    BELOW = "below"
    ABOVE = "above"
    MORE_EXPENSIVE = "more_expensive"
    UNDECIDED = "undecided"
    FAILED = "failed"


BOUNDED = (SearchState.CERTIFIED, SearchState.AT_LEAST, SearchState.BELOW, SearchState.ABOVE)
"""The states with an answer, or a bound of it."""


@dataclass(frozen=True, slots=True)
class ReplicateResult:
    """What one replicate says about the answer of its point.

    Attributes:
        value: The value up to which (of a search for the smallest: from which on) it meets the objectives;
            `most` for at least and for above, `least - 1` for below; None when a run failed.
        passing: The nearest value to the answer at which it has a run that meets the objectives, if any.
        failing: The nearest value to the answer that is not known to meet them and has a run, if any.
    """

    state: SearchState
    value: float | None
    passing: int | None = None
    failing: int | None = None


Points = Sequence[tuple[int, tuple[float, ...]]]
"""Runs of one replicate: value, and the margin of each objective."""
Look = Callable[[int], Probe | None]
"""Returns the run of a replicate at a value, or None before it has been executed."""


class MissingRun(Exception):  # noqa: N818 - not an error: the search waits for a value
    """The search cannot go on before this value has been run."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class BrokenRun(Exception):  # noqa: N818 - ends the search of the replicate
    """A run failed."""


def read_probe(look: Look, value: int) -> Probe:
    """Return the run at a value.

    Raises:
        MissingRun: It has not been executed.
        BrokenRun: It failed.
    """
    probe = look(value)
    if probe is None:
        raise MissingRun(value)
    if probe.verdict is ProbeVerdict.BROKEN:
        raise BrokenRun
    return probe


LookAll = Callable[[int, int], Probe | None]
"""Returns the run of a replicate at a value, or None before it has been executed."""


class MissingRuns(Exception):  # noqa: N818 - not an error
    """The search cannot go on before these runs have been executed: replicate and value of each."""

    def __init__(self, runs: Sequence[tuple[int, int]]) -> None:
        super().__init__(runs)
        self.runs = tuple(runs)


class PointRuns:
    """The runs of a point.

    Attributes:
        seen: The runs looked at, by replicate and value.
        excluded: The results of the replicates that no longer take part.
    """

    def __init__(self, look: LookAll) -> None:
        self._known = look
        self.seen: dict[tuple[int, int], Probe] = {}
        self.excluded: dict[int, ReplicateResult] = {}

    def look(self, replicate: int, value: int) -> Probe | None:
        """Return a run, or None before it has been executed."""
        probe = self._known(replicate, value)
        if probe is not None:
            self.seen[replicate, value] = probe
        return probe

    def look_of(self, replicate: int) -> Look:
        """Return the runs of one replicate."""
        return lambda value: self.look(replicate, value)

    def list_active(self, count: int) -> list[int]:
        """Return the replicates that take part, of the first `count`."""
        return [replicate for replicate in range(count) if replicate not in self.excluded]

    def measure(self, replicate: int, values: Sequence[int]) -> Points | None:
        """Return the margins of a replicate at some values; None if a run measured nothing.

        Raises:
            MissingRuns: Runs are missing.
        """
        probes = {value: self.look(replicate, value) for value in values}
        if missing := [(replicate, value) for value, probe in probes.items() if probe is None]:
            raise MissingRuns(missing)
        points = [
            (value, probe.margins) for value, probe in probes.items() if probe and probe.margins is not None
        ]
        return points if len(points) == len(values) else None

    def measure_all(self, count: int, values: Sequence[int]) -> dict[int, Points] | None:
        """Return the margins of the active replicates at some values; None if a run has none.

        A replicate with a run that broke or reached no steady state is excluded.

        Raises:
            MissingRuns: Runs are missing.
        """
        wanted = [(replicate, value) for value in values for replicate in self.list_active(count)]
        if missing := [run for run in wanted if self.look(*run) is None]:
            raise MissingRuns(missing)
        full: dict[int, Points] = {}
        for replicate in self.list_active(count):
            verdicts = {value: self.seen[replicate, value].verdict for value in values}
            if ProbeVerdict.BROKEN in verdicts.values():
                self.excluded[replicate] = ReplicateResult(SearchState.FAILED, None)
            elif ProbeVerdict.UNDECIDED in verdicts.values():
                undecided = min(value for value in values if verdicts[value] is ProbeVerdict.UNDECIDED)
                passed = [value for value in values if verdicts[value] is ProbeVerdict.PASS]
                below = max((value for value in passed if value < undecided), default=None)
                self.excluded[replicate] = ReplicateResult(SearchState.UNDECIDED, below, below)
            else:
                points = self.measure(replicate, values)
                if points is None:
                    return None
                full[replicate] = points
        return full
