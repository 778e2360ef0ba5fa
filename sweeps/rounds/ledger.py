"""The runs that a sweep has planned, and what is known of those that have ended."""

from collections.abc import Iterable, Iterator, Mapping

from destage.sweeps.points.point import Point
from destage.sweeps.points.point_results import Facts

Slot = tuple[int, int | None]
"""A run of a point: its replicate, and the sought parameter's value; None if the study seeks nothing."""


class Ledger:
    """The planned runs by point and slot, and the facts of those that have ended.

    Attributes:
        points: The points with planned runs or without, in their order.
        facts: By run id.
    """

    def __init__(self) -> None:
        self.points: dict[str, Point] = {}
        self.facts: Mapping[str, Facts] = {}
        self._runs: dict[str, dict[Slot, str]] = {}

    def open(self, points: Iterable[Point]) -> None:
        """Add the points that are new."""
        for point in points:
            if point.id not in self.points:
                self.points[point.id] = point
                self._runs[point.id] = {}

    def enter(self, point: Point, slot: Slot, run: str) -> None:
        """Add a planned run."""
        self._runs[point.id][slot] = run

    def read(self, rows: Mapping[str, Facts]) -> None:
        """Keep the facts of the planned runs that have ended."""
        planned = (run for runs in self._runs.values() for run in runs.values())
        self.facts = {run: rows[run] for run in planned if run in rows}

    def find(self, point: Point, slot: Slot) -> str | None:
        """Return the id of a planned run; None if it was not planned."""
        return self._runs[point.id].get(slot)

    def look(self, point: Point, slot: Slot) -> Facts | None:
        """Return what is known of a run; None before it has ended."""
        run = self.find(point, slot)
        return None if run is None else self.facts.get(run)

    def list_slots(self, point: Point) -> Iterable[Slot]:
        """Return the planned runs of a point."""
        return self._runs[point.id].keys()

    def list_replicates(self, point: Point) -> list[dict[int | None, str]]:
        """Return the runs of a point: of each replicate, the run of each value of the sought parameter."""
        replicates: dict[int, dict[int | None, str]] = {}
        for (replicate, probe), run in self._runs[point.id].items():
            replicates.setdefault(replicate, {})[probe] = run
        return list(replicates.values())

    def list_facts(self, point: Point) -> list[Facts]:
        """Return what is known of the runs of a point, all of which have ended."""
        return [self.facts[run] for run in self._runs[point.id].values()]

    def count_runs(self) -> dict[str, int]:
        """Return the number of planned runs of each point, by its id."""
        return {identity: len(runs) for identity, runs in self._runs.items()}

    def expect_events(self, point: Point) -> float | None:
        """Return the mean number of events of the runs of a point; None before any has ended."""
        known = list(self._list_events(point))
        return sum(known) / len(known) if known else None

    def _list_events(self, point: Point) -> Iterator[float]:
        for run in self._runs[point.id].values():
            facts = self.facts.get(run)
            if facts is not None and (events := facts.values.get("events")) is not None:
                yield events
