"""The runs of a point that its search has looked at, and the replicates that take part."""

from collections.abc import Callable, Sequence

from destage.sweeps.seek.probes import Look, Points, Probe, ProbeVerdict, ReplicateResult, SearchState

LookAll = Callable[[int, int], Probe | None]
"""Returns the run of a replicate at a value, or None before it has been executed."""


class Waiting(Exception):  # noqa: N818 - not an error
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
            Waiting: Runs are missing.
        """
        probes = {value: self.look(replicate, value) for value in values}
        if missing := [(replicate, value) for value, probe in probes.items() if probe is None]:
            raise Waiting(missing)
        points = [
            (value, probe.margins) for value, probe in probes.items() if probe and probe.margins is not None
        ]
        return points if len(points) == len(values) else None

    def measure_all(self, count: int, values: Sequence[int]) -> dict[int, Points] | None:
        """Return the margins of the active replicates at some values; None if a run has none.

        A replicate with a run that broke or reached no steady state is excluded.

        Raises:
            Waiting: Runs are missing.
        """
        wanted = [(replicate, value) for value in values for replicate in self.list_active(count)]
        if missing := [run for run in wanted if self.look(*run) is None]:
            raise Waiting(missing)
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
