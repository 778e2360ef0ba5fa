"""The planner: which runs come next, a pure function of the study and the rows of earlier rounds.

A round depends on the runs of earlier rounds alone, whatever else the store holds, so that a resumed sweep
replays exactly the rounds it has written and then continues.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from functools import partial

import pyarrow as pa

from destage.engine import PARTS
from destage.store.plan import CONFIG_COLUMNS, plan_schema
from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.points.canonical_parts import Canonical
from destage.sweeps.points.points import Expansion, Point
from destage.sweeps.points.results import NO_LOAD, Facts, PointResults
from destage.sweeps.rounds.adaptive_points import start_adding
from destage.sweeps.rounds.forecast import NO_MORE, Forecast, PointProgress, add_points, forecast_runs
from destage.sweeps.rounds.least_plan import LeastPlan
from destage.sweeps.seek.intervals import Interval, replicates_needed, t_interval
from destage.sweeps.seek.ladder import make_ladder
from destage.sweeps.seek.probes import Probe, ProbeVerdict
from destage.sweeps.seek.search import PointResult, search
from destage.sweeps.study.study import Study

_MOST_UNIFIED = 1 << 30
"""Texts of parts that are merged to one dictionary [bytes]; Arrow allows twice as many."""


@dataclass(frozen=True, slots=True)
class _PlannedRun:
    """One row of a plan.

    Attributes:
        probe: The sought parameter's value; None if the study seeks nothing.
        run_id: The run's identity; other rows may share it.
        events: Its expected cost [events]; None before any run of its point has ended.
    """

    point: Point
    replicate: int
    probe: int | None
    run_id: str
    config: Canonical
    events: float | None


@dataclass
class _PointPlan:
    """The runs planned for one point.

    Attributes:
        runs: By replicate, the run of each probe.
        result: The result of its seek with these replicates, once it has ended.
    """

    replicates: int
    runs: dict[int, dict[int | None, str]] = attribute(default_factory=dict)
    result: PointResult | None = None


class Planner:
    """Plans a study round by round: call `next_round` until it returns nothing."""

    def __init__(self, study: Study, expansion: Expansion) -> None:
        self._study = study
        self._expansion = expansion
        self._points: Sequence[Point] = expansion.points if study.is_adaptive else ()
        self._plans = {point.id: _PointPlan(study.replicates.least) for point in self._points}
        self._adding = start_adding(study, expansion)
        seek = study.seek
        self._rows: Mapping[str, Facts] = {}
        needed = math.inf if study.calibration is None else study.calibration.ceiling
        self._ladder = make_ladder(seek, needed) if seek and not seek.is_minimum else ()
        self._least = self._make_least_plan() if seek and seek.is_minimum else None
        self._planned: set[str] = set()
        self._rounds = 0
        self.schema = plan_schema(
            list(expansion.fields), seek.path if seek else None, seek.metric if seek else None
        )

    def next_round(self, rows: Mapping[str, Facts]) -> pa.Table | None:
        """Plan the next round.

        Args:
            rows: The facts of every run of earlier rounds, by run id; not used unless the study is adaptive.

        Returns:
            The runs of the round in the order of the points; None when all is answered.
        """
        table: pa.Table | None = None
        if self._study.is_adaptive:
            known = {run: rows[run] for run in self._planned if run in rows}
            runs = self._plan_runs(known)
            while not runs and self._add_points(known):
                runs = self._plan_runs(known)
            if runs:
                self._planned |= {run.run_id for run in runs}
                table = self._make_table(runs)
        elif self._rounds == 0:
            table = self._make_grid_table()
        self._rounds += 1
        return table

    def _add_points(self, rows: Mapping[str, Facts]) -> bool:
        """Add the next points once those so far are answered; False if there are none left."""
        if self._adding is None:
            return False
        has_more = self._adding.add(self._results(rows))
        for point in self._points:
            self._plans.setdefault(point.id, _PointPlan(self._study.replicates.least))
        return has_more

    def _results(self, rows: Mapping[str, Facts]) -> PointResults:
        return PointResults(self._study, rows, lambda point: self.find_result(point, rows), self._list_runs)

    def _list_runs(self, point_id: str) -> list[Mapping[int | None, str]]:
        return list(self._plans[point_id].runs.values())

    def tabulate_analyses(self, rows: Mapping[str, Facts]) -> dict[str, pa.Table]:
        """Return the tables of the study's analyses by name, after the last round."""
        return {} if self._adding is None else self._adding.tabulate(self._results(rows))

    def _make_least_plan(self) -> LeastPlan:
        return LeastPlan(
            self._study,
            self._points,
            lambda point: {
                value for runs in self._plans[point.id].runs.values() for value in runs if value is not None
            },
            lambda point: partial(self._look, point),
        )

    def _plan_least(self, least: LeastPlan, rows: Mapping[str, Facts]) -> list[_PlannedRun]:
        """Return the next runs of the searches for the smallest value."""
        self._rows = rows
        wanted = least.plan()
        return [
            self._plan_run(point, replicate, probe, rows)
            for point in self._points
            for replicate, probe in wanted.get(point.id, ())
        ]

    def _plan_runs(self, rows: Mapping[str, Facts]) -> list[_PlannedRun]:
        if self._least is not None:
            return self._plan_least(self._least, rows)
        self._rows = rows
        planned = []
        for point in self._points:
            plan = self._plans[point.id]
            runs = list(self._wanted(point, plan, rows))
            if not runs and self._extend(point, plan, rows):
                runs = list(self._wanted(point, plan, rows))
            planned += [self._plan_run(point, replicate, probe, rows) for replicate, probe in runs]
        return planned

    def _make_grid_table(self) -> pa.Table:
        """Return the only round of a study that is not adaptive."""
        table = pa.Table.from_batches(self._expansion.tabulate())
        columns = {name: table[name] for name in table.column_names}
        columns["round"] = pa.repeat(pa.scalar(0), table.num_rows)
        columns["estimated_events"] = pa.nulls(table.num_rows, pa.float64())
        table = pa.table({name: columns[name] for name in self.schema.names}, schema=self.schema)
        texts = sum(chunk.dictionary.nbytes for name in CONFIG_COLUMNS for chunk in table[name].chunks)
        # Parquet stores the texts of a column once only if its chunks share a dictionary.
        return table.unify_dictionaries() if texts < _MOST_UNIFIED else table

    def _make_table(self, runs: Sequence[_PlannedRun]) -> pa.Table:
        """Return the runs of a round as a table of the plan."""
        columns: dict[str, object] = {
            "point_id": [run.point.id for run in runs],
            "label": [run.point.label for run in runs],
            "replicate": [run.replicate for run in runs],
            "run_id": [run.run_id for run in runs],
            "round": [self._rounds for _ in runs],
            "estimated_events": [run.events for run in runs],
        }
        for part, column in zip(PARTS, CONFIG_COLUMNS, strict=True):
            found = [run.config.parts.get(part) for run in runs]
            members = [None if one is None else one.member for one in found]
            columns[column] = pa.array(members, pa.string()).dictionary_encode()
        if self._study.seek is not None:
            columns[self._study.seek.path] = [run.probe for run in runs]
        points = {run.point.id: run.point for run in runs}
        axes = {identity: self._expansion.axis_values(point) for identity, point in points.items()}
        for field in self._expansion.fields:
            columns[field.name] = [axes[run.point.id][field.name] for run in runs]
        return pa.table(columns, schema=self.schema)

    def forecast(self) -> Forecast:
        """Return the runs that later rounds will add, from what was planned so far."""
        if not self._study.is_adaptive:
            return NO_MORE
        planned = {point: sum(map(len, plan.runs.values())) for point, plan in self._plans.items()}
        if self._least is not None:
            return self._least.forecast(planned)
        seeks = self._study.seek is not None
        target = self._study.replicates
        most = target.least if target.metric is None else target.most
        known = forecast_runs(
            PointProgress(
                planned=planned[point],
                least=target.least,
                replicates=plan.replicates,
                most=most,
                seeks=seeks,
                has_result=plan.result is not None,
            )
            for point, plan in self._plans.items()
        )
        return known if self._adding is None else add_points(known, self._adding.left, list(planned.values()))

    def find_result(self, point: Point, rows: Mapping[str, Facts]) -> PointResult | None:
        """Return the result of a point's seek; None before it has ended."""
        plan = self._plans[point.id]
        if self._least is not None:
            return self._least.results.get(point.id)
        if plan.result is None:
            outcome = self._search(point, plan, rows)
            return outcome if isinstance(outcome, PointResult) else None
        return plan.result

    def find_run(self, point: Point, replicate: int, probe: int | None) -> str | None:
        """Return the id of a planned run, or None if it was not planned."""
        return self._plans[point.id].runs.get(replicate, {}).get(probe)

    def list_runs(self, point: Point) -> list[str]:
        """Return the ids of all planned runs of a point."""
        return [run for runs in self._plans[point.id].runs.values() for run in runs.values()]

    def measure_interval(self, point: Point, rows: Mapping[str, Facts]) -> Interval:
        """Return the interval over replicates of the metric that the study's replicates target."""
        if self._study.seek is not None:
            result = self.find_result(point, rows)
            return t_interval([]) if result is None else result.interval
        column = metric_columns()[self._study.replicates.metric or ""].name
        facts = [rows[run] for runs in self._plans[point.id].runs.values() for run in runs.values()]
        measured = [one.values.get(column) for one in facts if one.status == "ok"]
        return t_interval([value for value in measured if value is not None])

    def _wanted(
        self, point: Point, plan: _PointPlan, rows: Mapping[str, Facts]
    ) -> Iterator[tuple[int, int | None]]:
        if self._study.seek is None:
            yield from (
                (replicate, None) for replicate in range(plan.replicates) if replicate not in plan.runs
            )
        elif plan.result is None:
            outcome = self._search(point, plan, rows)
            if isinstance(outcome, PointResult):
                plan.result = outcome
            else:
                yield from outcome

    def _extend(self, point: Point, plan: _PointPlan, rows: Mapping[str, Facts]) -> bool:
        """Add replicates to a point if its interval is too wide and more are allowed."""
        target = self._study.replicates
        if target.metric is None or plan.replicates >= target.most:
            return False
        if self._study.seek is not None:
            result = self.find_result(point, rows)
            # Beyond a bound of the search, or without a steady state, replicates do not narrow the interval.
            if result is None or result.censored is not None or not result.interval.n:
                return False
        interval = self.measure_interval(point, rows)
        if interval.is_within(target.relative):
            return False
        wanted = replicates_needed(interval, target.relative, target.most)
        plan.replicates = min(max(wanted, plan.replicates + 1), target.most)
        plan.result = None
        return True

    def _plan_run(
        self, point: Point, replicate: int, probe: int | None, rows: Mapping[str, Facts]
    ) -> _PlannedRun:
        config = point.configure(replicate, probe)
        identity = config.run_id
        events = self._expected_events(point, rows)
        self._plans[point.id].runs.setdefault(replicate, {})[probe] = identity
        return _PlannedRun(point, replicate, probe, identity, config, events)

    def _expected_events(self, point: Point, rows: Mapping[str, Facts]) -> float | None:
        if not rows:
            return None
        known = [
            events
            for runs in self._plans[point.id].runs.values()
            for run in runs.values()
            if run in rows and (events := rows[run].values.get("events")) is not None
        ]
        return sum(known) / len(known) if known else None

    def _search(
        self, point: Point, plan: _PointPlan, rows: Mapping[str, Facts]
    ) -> PointResult | tuple[tuple[int, int], ...]:
        seek = self._study.seek
        if seek is None:
            raise AssertionError("only a study with a seek has searches")

        self._rows = rows
        look = partial(self._look, point)
        return search(self._ladder, seek.start, self._study.replicates.least, plan.replicates, look)

    def _look(self, point: Point, replicate: int, value: int) -> Probe | None:
        """Return what is known of a run of a point."""
        run = self.find_run(point, replicate, value)
        return None if run is None or run not in self._rows else self.judge(self._rows[run], point.label)

    def judge(self, facts: Facts, label: str | None = None) -> Probe:
        """Return the verdict of a run by the objectives of the point with a label, and its margins.

        A run without a steady state (`not_stationary`) or without a value of a bounded column is undecided; a
        run whose load the array cannot carry (`overloaded`) or whose array lost data (`array_failed`) fails.
        """
        if facts.status == "failed":
            return Probe(ProbeVerdict.BROKEN)
        if facts.status in NO_LOAD:
            return Probe(ProbeVerdict.FAIL)
        if facts.status != "ok" or self._study.seek is None:
            return Probe(ProbeVerdict.UNDECIDED)
        objectives = self._study.seek.objectives_of(label)
        values = [facts.values.get(objective.column) for objective in objectives]
        measured = [value for value in values if value is not None]
        if len(measured) < len(values):
            return Probe(ProbeVerdict.UNDECIDED, lacks_value=True)
        pairs = list(zip(objectives, measured, strict=True))
        is_met = all(objective.is_met(value) for objective, value in pairs)
        margins = tuple(objective.margin(value) for objective, value in pairs)
        return Probe(ProbeVerdict.PASS if is_met else ProbeVerdict.FAIL, margins)
