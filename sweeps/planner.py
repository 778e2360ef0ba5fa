"""Planning by rounds: which runs come next, a pure function of the study and the rows of earlier rounds.

A round is planned from the runs of earlier rounds alone, whatever else the store may hold, so that a
resumed sweep replays exactly the rounds it has written, and then goes on.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from destage.store.plan import plan_schema
from destage.sweeps.intervals import Interval, replicates_wanted, t_interval
from destage.sweeps.objectives import metric_columns
from destage.sweeps.points import Expansion, Point
from destage.sweeps.seek_search import ProbeVerdict, SearchResult, SearchState, search
from destage.sweeps.study import Study


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One row of a plan.

    Attributes:
        point: The point.
        replicate: Which random streams.
        probe: The sought parameter's value; None where nothing is sought.
        run_id: The run's identity; other rows may share it.
        config: The canonical configuration as JSON.
        events: What it is expected to cost [events]; None before any run of its point has ended.
    """

    point: Point
    replicate: int
    probe: int | None
    run_id: str
    config: str
    events: float | None


@dataclass(frozen=True, slots=True)
class Facts:
    """What planning and answering need to know of a run.

    Attributes:
        status: The run's status.
        values: Result columns by name.
    """

    status: str
    values: Mapping[str, float | None]


@dataclass
class _Progress:
    """What was planned for one point: by replicate, the run of each probe."""

    replicates: int
    runs: dict[int, dict[int | None, str]] = field(default_factory=dict)


class Planner:
    """Plans a study round by round.

    Usage: `next_round(rows)` until it returns nothing; `rows` must hold the facts of every run of earlier
        rounds.
    """

    def __init__(self, study: Study, expansion: Expansion) -> None:
        self._study = study
        self._expansion = expansion
        self._points = expansion.points
        self._progress = {point.id: _Progress(study.replicates.least) for point in expansion.points}
        self.schema = plan_schema(list(expansion.fields), study.seek.path if study.seek else None)

    def next_round(self, rows: Mapping[str, Facts]) -> list[PlannedRun]:
        """Plan the next round.

        Args:
            rows: The facts of the runs of earlier rounds, by run id.

        Returns:
            The runs of the round, points in their order; nothing when all is answered.
        """
        planned = []
        for point in self._points:
            progress = self._progress[point.id]
            runs = list(self._wanted(point, progress, rows))
            if not runs and self._extend(point, progress, rows):
                runs = list(self._wanted(point, progress, rows))
            planned += [self._plan(point, replicate, probe, rows) for replicate, probe in runs]
        return planned

    def table(self, runs: Sequence[PlannedRun], number: int) -> pa.Table:
        """Return a round as a table of the plan.

        Args:
            runs: The round's runs.
            number: The round.
        """
        columns: dict[str, list[object]] = {
            "point_id": [run.point.id for run in runs],
            "label": [run.point.label for run in runs],
            "replicate": [run.replicate for run in runs],
            "run_id": [run.run_id for run in runs],
            "round": [number for _ in runs],
            "config": [run.config for run in runs],
            "estimated_events": [run.events for run in runs],
        }
        if self._study.seek is not None:
            columns[self._study.seek.path] = [run.probe for run in runs]
        points = {run.point.id: run.point for run in runs}
        axes = {identity: self._expansion.axis_values(point) for identity, point in points.items()}
        for column in self._expansion.fields:
            columns[column.name] = [axes[run.point.id][column.name] for run in runs]
        return pa.table(columns, schema=self.schema)

    def found(self, point: Point, rows: Mapping[str, Facts]) -> dict[int, SearchResult]:
        """Return what the searches of a point have found, by replicate; those still under way are left out.

        Args:
            point: A point of a study that seeks something.
            rows: The facts of all runs.
        """
        results = {}
        for replicate in range(self._progress[point.id].replicates):
            outcome = self._search(point, replicate, rows)
            if isinstance(outcome, SearchResult):
                results[replicate] = outcome
        return results

    def run_of(self, point: Point, replicate: int, probe: int | None) -> str | None:
        """Return the id of a planned run, or None when it was not planned.

        Args:
            point: The point.
            replicate: Which random streams.
            probe: The sought parameter's value.
        """
        return self._progress[point.id].runs.get(replicate, {}).get(probe)

    def interval(self, point: Point, rows: Mapping[str, Facts]) -> Interval:
        """Return the interval, over replicates, of what the study's replicates are to make known.

        Args:
            point: The point.
            rows: The facts of all runs.
        """
        if self._study.seek is not None:
            found = self.found(point, rows).values()
            values = [
                float(one.value)
                for one in found
                if one.state is SearchState.CERTIFIED and one.value is not None
            ]
            return t_interval(values)
        column = metric_columns()[self._study.replicates.metric or ""].name
        facts = [rows[run] for runs in self._progress[point.id].runs.values() for run in runs.values()]
        measured = [one.values.get(column) for one in facts if one.status == "ok"]
        return t_interval([value for value in measured if value is not None])

    def _wanted(
        self, point: Point, progress: _Progress, rows: Mapping[str, Facts]
    ) -> Iterator[tuple[int, int | None]]:
        for replicate in range(progress.replicates):
            if self._study.seek is None:
                if replicate not in progress.runs:
                    yield replicate, None
                continue
            outcome = self._search(point, replicate, rows)
            if not isinstance(outcome, SearchResult):
                for probe in outcome:
                    yield replicate, probe

    def _extend(self, point: Point, progress: _Progress, rows: Mapping[str, Facts]) -> bool:
        """Give a point more replicates if its interval is too wide and more are allowed."""
        target = self._study.replicates
        if target.metric is None or progress.replicates >= target.most:
            return False
        if self._study.seek is not None:
            # Beyond a bound of the search, or without a steady state, more replicates narrow nothing.
            states = {one.state for one in self.found(point, rows).values()}
            if SearchState.CERTIFIED not in states:
                return False
        interval = self.interval(point, rows)
        if interval.is_within(target.relative):
            return False
        wanted = replicates_wanted(interval, target.relative, target.most)
        progress.replicates = min(max(wanted, progress.replicates + 1), target.most)
        return True

    def _plan(self, point: Point, replicate: int, probe: int | None, rows: Mapping[str, Facts]) -> PlannedRun:
        identity, config = point.run(replicate, probe)
        events = self._expected_events(point, rows)
        self._progress[point.id].runs.setdefault(replicate, {})[probe] = identity
        return PlannedRun(point, replicate, probe, identity, config, events)

    def _expected_events(self, point: Point, rows: Mapping[str, Facts]) -> float | None:
        if not rows:
            return None
        known = [
            events
            for runs in self._progress[point.id].runs.values()
            for run in runs.values()
            if run in rows and (events := rows[run].values.get("events")) is not None
        ]
        return sum(known) / len(known) if known else None

    def _search(
        self, point: Point, replicate: int, rows: Mapping[str, Facts]
    ) -> SearchResult | tuple[int, ...]:
        seek = self._study.seek
        if seek is None:
            raise AssertionError("only a study that seeks something is searched")
        runs = self._progress[point.id].runs.get(replicate, {})

        def look(value: int) -> ProbeVerdict | None:
            run = runs.get(value)
            return None if run is None or run not in rows else self.verdict(rows[run])

        return search(seek, look)

    def verdict(self, facts: Facts) -> ProbeVerdict:
        """Return what a run says about its probe.

        A run without a steady state (`not_stationary`) shows nothing and is undecided; one whose load the
        array cannot carry (`overloaded`) fails, and so does one whose array lost data (`array_failed`).

        Args:
            facts: The run.
        """
        if facts.status == "failed":
            return ProbeVerdict.BROKEN
        if facts.status in {"overloaded", "array_failed"}:
            return ProbeVerdict.FAIL
        if facts.status != "ok" or self._study.seek is None:
            return ProbeVerdict.UNDECIDED
        for objective in self._study.seek.objectives:
            value = facts.values.get(objective.column)
            if value is None:
                return ProbeVerdict.UNDECIDED
            if not objective.is_met(value):
                return ProbeVerdict.FAIL
        return ProbeVerdict.PASS
