"""Plans the rounds of a sweep, as a pure function of the study and the rows of earlier rounds.

The study's question plans the runs of its points; a search, a refinement or a calibration adds points.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from destage.errors import Issue
from destage.store.state.plan import CONFIG_COLUMNS, plan_schema
from destage.sweeps.calibration.waves import WavePoints
from destage.sweeps.keys.calibrate_settings import Calibration
from destage.sweeps.keys.refine_key import Refinement
from destage.sweeps.keys.search_key import Search
from destage.sweeps.keys.seek_key import LargestSeek, SmallestSeek
from destage.sweeps.points.point import Expansion, configure
from destage.sweeps.points.point_results import Facts, PointResults
from destage.sweeps.rounds.finished_runs import NEEDED, FinishedRuns
from destage.sweeps.rounds.forecast import Forecast, add_points
from destage.sweeps.rounds.question import FixedRuns, Ledger, PointMeans, Question, Slot
from destage.sweeps.rounds.sought_values import LargestValues, SmallestValues
from destage.sweeps.search.added_points import AddedPoints
from destage.sweeps.search.refinement import RefinedGrid
from destage.sweeps.search.trials import Trials
from destage.sweeps.study.valid_study import Study

WAYS: Mapping[type, Callable[[Study, Any, Expansion], AddedPoints]] = {
    Search: Trials,
    Calibration: WavePoints,
    Refinement: RefinedGrid,
}
"""What adds points, by the type of its settings in a study."""
SOUGHT: Mapping[type, type[Question]] = {LargestSeek: LargestValues, SmallestSeek: SmallestValues}
"""The question of a seek, by its type."""


_MOST_UNIFIED = 1 << 30
"""Texts of parts that are merged to one dictionary [bytes]; Arrow allows twice as many."""


def find_question(study: Study) -> type[Question]:
    """Return the kind of question that a study asks; no other place tells them apart."""
    if study.seek is not None:
        return SOUGHT[type(study.seek)]
    return PointMeans if study.is_adaptive else FixedRuns


def list_needed_columns(study: Study) -> tuple[str, ...]:
    """Return the result columns that planning and answers need beside a run's status."""
    added = () if study.adding is None else study.adding.columns
    return tuple(dict.fromkeys(["events", NEEDED, *find_question(study).list_columns(study), *added]))


class Planner:
    """Plans a study round by round: call `next_round` until it returns nothing, then ask for the answers."""

    def __init__(self, study: Study, expansion: Expansion) -> None:
        self._is_adaptive = study.is_adaptive
        self._sought = study.sought
        self._expansion = expansion
        self._ledger = Ledger()
        if self._is_adaptive:
            self._ledger.open(expansion.points)
        self._question = find_question(study)(study, self._ledger)
        adding = study.adding
        self._adding = None if adding is None else WAYS[type(adding)](study, adding, expansion)
        self._answer = study.answer
        self._rounds = 0
        self.schema = plan_schema(list(expansion.fields), study.sought, study.answer)

    def next_round(self, rows: Mapping[str, Facts]) -> pa.Table | None:
        """Plan the next round.

        Args:
            rows: The facts of every run of earlier rounds, by run id; not used unless the study is adaptive.

        Returns:
            The runs of the round in the order of the points; None when all is answered.
        """
        table: pa.Table | None = None
        if self._is_adaptive:
            self._ledger.read(rows)
            chosen = self._question.choose_runs()
            while not chosen and self._add_points():
                chosen = self._question.choose_runs()
            if chosen:
                table = self._make_table(chosen)
        elif self._rounds == 0:
            table = self._make_grid_table()
        self._rounds += 1
        return table

    def forecast(self) -> Forecast:
        """Return the runs that later rounds will add, from what was planned so far."""
        expected = self._question.forecast()
        if self._adding is None:
            return expected
        return add_points(expected, self._adding.left, list(self._ledger.count_runs().values()))

    def tabulate_answers(self) -> tuple[pa.Table, pa.Table] | None:
        """Return the answers and their certificates, after the last round; None if nothing is sought."""
        return self._question.tabulate(self._expansion)

    def tabulate_analyses(self) -> dict[str, pa.Table]:
        """Return the tables of the study's analyses by name, after the last round."""
        return {} if self._adding is None else self._adding.tabulate(self._results)

    def find_unanswered(self, finished: FinishedRuns) -> list[Issue]:
        """Return a warning for each point without an answer, in the order of the points.

        Args:
            finished: All planned runs, after the last round.
        """
        return list(self._question.find_unanswered(self._expansion, finished))

    @property
    def _results(self) -> PointResults:
        return PointResults(self._answer, self._ledger, self._question.find_result)

    def _add_points(self) -> bool:
        """Add the next points once those so far are answered; False if there are none left."""
        if self._adding is None:
            return False
        has_more = self._adding.add(self._results)
        self._ledger.open(self._expansion.points)
        return has_more

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

    def _make_table(self, chosen: Mapping[str, Sequence[Slot]]) -> pa.Table:
        """Return the runs of a round as a table of the plan, in the order of the points."""
        ledger = self._ledger
        points = [ledger.points[identity] for identity in ledger.points if identity in chosen]
        # What later rounds cost is known from the runs before, so before this round is in the ledger.
        events = {point.id: ledger.expect_events(point) for point in points}
        runs = [(point, *slot) for point in points for slot in chosen[point.id]]
        configured = configure(runs)
        for (point, replicate, probe), run_id in zip(runs, configured["run_id"].to_pylist(), strict=True):
            ledger.enter(point, (replicate, probe), run_id)
        columns: dict[str, object] = {
            "point_id": [point.id for point, _, _ in runs],
            "label": [point.label for point, _, _ in runs],
            "replicate": [replicate for _, replicate, _ in runs],
            "round": [self._rounds for _ in runs],
            "estimated_events": [events[point.id] for point, _, _ in runs],
            **dict(zip(configured.schema.names, configured.columns, strict=True)),
        }
        if self._sought is not None:
            columns[self._sought] = [probe for _, _, probe in runs]
        axes = {point.id: self._expansion.axis_values(point) for point in points}
        for field in self._expansion.fields:
            columns[field.name] = [axes[point.id][field.name] for point, _, _ in runs]
        return pa.table(columns, schema=self.schema)
