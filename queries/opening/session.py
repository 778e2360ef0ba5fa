"""An open sweep: views over its Parquet files, with named queries and SQL over them."""

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Self, TypeVar

import pyarrow as pa

from destage.engine import result_columns
from destage.errors import Issue, QueryError, StoreError
from destage.measured.sets import MeasuredSet, as_lines, find_store, read_all, read_table
from destage.queries.named.column_meanings import MEASURED, collect_meanings
from destage.queries.opening.attempts import ATTEMPTS, try_openings
from destage.queries.opening.public_views import PublicViews
from destage.queries.opening.studied_sweep import StudiedSweep
from destage.queries.published.measurement import PUBLISHED_SCHEMA, tabulate_published
from destage.queries.published.verdicts import judge_figures
from destage.queries.tables import views
from destage.queries.tables.facts import SHARED, build_grid
from destage.queries.tables.point_means import PointMeans
from destage.queries.tables.point_table import PointTable, tabulate_axes
from destage.queries.tables.relations import Relations, explain_failure, open_relations, restrict_relations
from destage.queries.tables.stored_analyses import name_table
from destage.queries.tables.views import MEANS, MeanViews
from destage.queries.text.presentation import format_count
from destage.sensitivity.analysis import list_sampled
from destage.sql import Database, FileConnection, QueryLimits, ReadStatement, quote
from destage.store import Location, Sweep, open_sweep
from destage.store.files.digests import find_damage
from destage.store.opened.recorded_progress import describe_unfinished
from destage.store.state.answers import complete_answers

_Result = TypeVar("_Result")
FIGURES = "published_figures"
"""The view of published figures with their classes."""
_UNREADABLE = ("query.failed", "query.unreadable-rows", "query.broken-view")
"""Codes of a statement that met damaged content."""
MOST_KEPT = 100_000
"""Rows of a named query's result up to which it is kept; a report asks for some of them several times."""
MOST_ORDERED = 100_000
"""Stored rows up to which `runs` is in the order of the plan; sorting more takes their whole memory."""


class Session(StudiedSweep):
    """One sweep, with the rows that are there when it is opened.

    A statement reads the columns that it needs from the sweep's files, or from copies of the objects of a
    bucket, which `close` deletes.

    Attributes:
        left_out: The number of planned points that the session does not have; see `select_points`.
    """

    def __init__(
        self,
        sweep: Sweep,
        limits: QueryLimits | None = None,
        *,
        whole: "Session | None" = None,
        point_ids: Sequence[str] = (),
    ) -> None:
        """Open a sweep, or some points of a session that has it open; `limits` bound each query."""
        super().__init__(sweep)
        self._limits = limits
        self.left_out = 0 if whole is None else whole.point_count - len(point_ids)
        self._results: dict[str, pa.Table] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if whole is None:
            self._folder = tempfile.TemporaryDirectory(prefix="destage-", ignore_cleanup_errors=True)
            try:
                self._read_files(Path(self._folder.name))
            except BaseException:
                self._folder.cleanup()
                raise
        else:
            statement = "SELECT plan.* FROM plan WHERE point_id IN (SELECT unnest($ids)) ORDER BY plan_row"
            plan = whole.sql(statement, {"ids": list(point_ids)})
            self._open(restrict_relations(whole.relations, plan, self.probed), FileConnection())

    def _list_conditional(self) -> list[str]:
        """Return the axes with a list of values that only some points assign, by their condition."""
        conditional = [path for path in self.spec.get("when", {}) if path in self.axes]
        sampled = list_sampled(self.spec) if conditional else ()
        return [path for path in conditional if path not in sampled]

    def _read_files(self, folder: Path) -> None:
        """Create the database of the relations that the sweep has now; `folder` is for copies of files."""
        connection = FileConnection()
        try:
            self._open(open_relations(self.sweep, folder, connection), connection)
        except BaseException:
            connection.close()
            raise

    def _open(self, relations: Relations, connection: FileConnection) -> None:
        """Create the database of some relations.

        Raises:
            StoreError: A file was damaged, or a writer replaced one, since they were listed.
        """
        self.relations = relations
        try:
            self._create_database(relations, connection)
        except QueryError as error:
            explained = explain_failure(error, map(Path, relations.files), self.sweep)
            if explained is error:
                raise
            raise explained from error

    def _create_database(self, relations: Relations, connection: FileConnection) -> None:
        facts = relations.facts
        self._means = MeanViews(self.axes, self.probed, facts.repeats_replicates, facts.rows_per_point)
        # Relations of many columns, and figures that take a statement each, are made when first named.
        self._pending = {FIGURES, MEASURED, *MEANS}
        self._database = Database(
            {
                "axes": tabulate_axes(self.names, self.config),
                "certificates": self.sweep.certificates(),
                **{name_table(name): table for name, table in self.analyses.items()},
                "student": views.build_quantiles(max(facts.replicates, 2)),
                **relations.tables,
            },
            {
                "plan": relations.plan,
                "stored_rows": relations.rows,
                "runs": views.build_runs_view(is_ordered=facts.stored <= MOST_ORDERED),
                **(
                    {} if relations.order is None else {views.OPTIONAL_PLAN: views.build_optional_plan_view()}
                ),
                "configurations": views.build_configurations_view(self.axes, facts.rows_per_point),
                "grid": build_grid(
                    self.axes, shares_runs=facts.shares_runs, conditional=self._list_conditional()
                ),
                "alternatives": views.build_alternatives_view(self.axes),
                "replicates": self.kind.build_replicates(self.metric),
                "timeline": views.build_timeline_view(),
            },
            views.MACROS
            | {"limiting_resource(measured, idle)": result_columns.limiting_sql("measured", "idle")},
            self._limits,
            relations.files,
            paths=[*self.axes, *self.probed],
            copied={"plan", "stored_rows"} if relations.is_small else (),
            opened=connection,
        )
        self._point_means = PointMeans(self._database, facts.rows_per_point or 1, relations.order)
        plan = self._database.query("FROM plan LIMIT 0").schema
        answers = complete_answers(self.sweep.answers(), [plan.field(axis) for axis in self.axes])
        self._database.add_table("found_answers", answers)
        is_compared = self.metric is not None and self.has_published
        published = tabulate_published(self.spec, self.metric, self._list_points()) if is_compared else None
        self._database.add_table("published", published or PUBLISHED_SCHEMA.empty_table())
        answers_view = views.build_answers_view(self.answer, self.axes, has_shared=SHARED in relations.tables)
        self._database.add_view("answers", answers_view)
        self._public: PublicViews | None = None

    @property
    def public(self) -> PublicViews:
        """The relations that statements of users read, prepared for the first one."""
        if self._public is None:
            meanings = collect_meanings(tabulate_axes(self.names, self.config), self.answer, self.seek)
            self._public = PublicViews(self, self._database, meanings, self._means.define, self._add_pending)
        return self._public

    @cached_property
    def points(self) -> PointTable:
        """The planned points."""
        return self._read(self._list_points)

    def _list_points(self) -> PointTable:
        keys = ", ".join(map(quote, ["label", *self.axes]))
        configurations, grid = (
            self._database.query(f"SELECT point_id, {keys} FROM {name} ORDER BY plan_row")  # noqa: S608
            for name in ("configurations", "grid")
        )
        return PointTable(configurations, grid, self.config)

    @cached_property
    def planned_runs(self) -> int:
        """The number of planned runs; points that share one count it once."""
        return self._count("SELECT count(DISTINCT run_id) AS n FROM plan")

    @cached_property
    def missing_runs(self) -> int:
        """The number of planned runs without a row."""
        return self._count(
            "SELECT count(DISTINCT run_id) AS n FROM plan ANTI JOIN stored_rows USING (run_id)"
        )

    def note_missing_runs(self) -> list[str]:
        """Return a sentence that the sweep lacks rows, if it does, to stand beside its results."""
        if not self.missing_runs:
            return []
        are = "is" if self.missing_runs == 1 else "are"
        runs = f"{self.missing_runs:,} of {format_count(self.planned_runs, 'planned run')}"
        return [f"{runs} {are} missing, so that the results are preliminary."]

    @cached_property
    def warnings(self) -> tuple[Issue, ...]:
        """Damage and missing runs, which every display of results has to show."""
        if self.sweep.is_finished and not self.missing_runs:
            return self.sweep.warnings
        unfinished = describe_unfinished(self.sweep.path.name, self.planned_runs, self.missing_runs)
        return (*self.sweep.warnings, unfinished)

    @cached_property
    def point_count(self) -> int:
        """The number of planned points."""
        return self._count("SELECT count(*) AS n FROM configurations")

    def select_points(self, point_ids: Sequence[str]) -> "Session":
        """Open some of the points as a session of its own, to be closed before this one."""
        return Session(self.sweep, self._limits, whole=self, point_ids=point_ids)

    def sql(self, statement: str, parameters: Mapping[str, object] | None = None) -> pa.Table:
        """Run one SELECT or EXPLAIN of Destage itself over the views and `plan`; `run` takes those of users.

        The views are `runs`, `points`, `certified`, `replicates`, `answers`, `configurations`, `timeline` and
        `published_figures`, which has the rows of `judge_figures`.
        """

        def read() -> pa.Table:
            self._add_pending(statement)
            return self._database.query(statement, parameters)

        return self._read(read)

    def _count(self, statement: str) -> int:
        """Return the number `n` that a statement counts."""
        return int(self.sql(statement)["n"][0].as_py())

    def _read(self, read: Callable[[], _Result]) -> _Result:
        """Call a function that reads the sweep's files, again with those that are there if some are lost."""
        for _ in range(ATTEMPTS - 1):
            try:
                return read()
            except QueryError as error:
                if not self._has_lost_files(error):
                    raise
            self._reopen()
        return read()

    def _has_lost_files(self, error: QueryError) -> bool:
        """Return whether a compaction replaced the files since they were listed.

        Raises:
            StoreError: A file was damaged since it was opened.
        """
        files = list(map(Path, self.relations.files))
        if error.code in _UNREADABLE and (damage := find_damage(files)) is not None:
            raise damage from error
        return self._folder is not None and not all(file.exists() for file in files)

    def _reopen(self) -> None:
        assert self._folder is not None  # noqa: S101 - a part of a session has lost no files
        self._database.close()
        folder = Path(self._folder.name)
        try_openings(lambda: self._read_files(folder))

    def sql_of_named_columns(
        self, statement: str, parameters: Mapping[str, object] | None = None
    ) -> pa.Table:
        """Run a SELECT that names each result column of `points` and `certified` that it needs.

        Only these are computed: to bind three hundred others takes longer than the rows of a small sweep.
        """
        if not (self.relations.has_steady_order and self._means.is_computed(statement)):
            return self.sql(self._means.define(statement), parameters)

        def read() -> pa.Table:
            means = self._point_means.tabulate(self._means.find_columns(statement))
            defined = self._means.define(statement, is_computed=True)
            self._add_pending(defined)
            with self._database.lend_table(views.POINT_MEANS, means):
                return self._database.query(defined, parameters)

        return self._read(read)

    def _add_pending(self, statement: str) -> None:
        text = statement.lower()
        # A statement may define `points` itself.
        for name in [name for name in self._pending if _reads(text, name) and f"{name} as (" not in text]:
            if name == MEASURED:
                self._database.add_table(name, read_all(find_store(self.sweep.path)))
            self._pending.discard(name)
            if name == FIGURES:
                self._database.add_table(name, judge_figures(self))
            elif name in MEANS:
                self._database.add_view(name, self._means.build(name))

    def read_measured(self, name: str) -> MeasuredSet:
        """Return a measured set of the store that the sweep is in; errors as in `read_measured_table`."""
        return MeasuredSet(name, as_lines(self.read_measured_table(name)))

    def read_measured_table(self, name: str) -> pa.Table:
        """Return a measured set of the store that the sweep is in, as a table.

        Raises:
            StoreError: There is no such set, or the sweep's directory is in no store.
        """
        store = find_store(self.sweep.path)
        if store is None:
            message = "the sweep is in no store; measured sets are those of its store"
            raise StoreError("store.unknown-measured-set", message, name)
        return read_table(store, name)

    def stream(self, view: str, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a view or of a statement in brackets, in batches, with some of its columns."""
        self._add_pending(view)
        listed = "*" if columns is None else ", ".join(map(quote, columns))
        return self._database.stream(f"SELECT {listed} FROM {view}")  # noqa: S608

    def query(self, name: str, parameters: Mapping[str, str] | None = None) -> pa.Table:
        """Run a named query.

        Parameters are texts by name; each has a default.

        Raises:
            QueryError: The kind of study does not have the query, it needs an axis that the study lacks, or a
                parameter is unknown or has no valid value.
        """
        text = self.write_query(name, parameters)
        if text not in self._results:
            rows = self.sql_of_named_columns(text)
            if rows.num_rows > MOST_KEPT:
                return rows
            self._results[text] = rows
        return self._results[text]

    def split(self, text: str) -> list[ReadStatement]:
        """Return the statements of a user's text.

        Raises:
            QueryError: It has none, or one that does not only read.
        """
        return self._database.split(text, self.names)

    def run(self, statement: ReadStatement, seconds: float | None = None) -> pa.Table:
        """Run a statement of a user, whose columns have the names of tables; see `PublicViews`."""
        return self._read(lambda: self.public.run(statement, seconds))

    def narrow(self, rows: pa.Table) -> tuple[pa.Table, str]:
        """Return rows without the columns that nobody asked for, and a sentence; see `PublicViews.narrow`.

        Only statements of users read wide relations, so that rows stay as they are before the first one.
        """
        return (rows, "") if self._public is None else self._public.narrow(rows)

    def render(self, function: Callable[[], _Result]) -> _Result:
        """Call a function that renders the rows of the last statement, within what is left of its limits."""
        return self._database.render(function)

    @property
    def is_abandoned(self) -> bool:
        """Whether a statement that could not be stopped is still running, so that no other can be run."""
        return self._database.is_abandoned

    def interrupt(self) -> None:
        """End the statement that another thread is running, if there is one."""
        self._database.interrupt()

    def close(self) -> None:
        """Release the files, and delete copies of them."""
        self._database.close()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _reads(text: str, name: str) -> bool:
    """Return whether a text is the name of a relation or reads it: the word may also be a column."""
    return text.strip() == name or re.search(rf"\b(?:from|join)[\s(]+{name}\b", text) is not None


def open_session(path: str | Location, limits: QueryLimits | None = None) -> Session:
    """Open the sweep in a directory; `limits` bound each query.

    A sweep whose files a writer replaces in between is opened again.
    """
    return try_openings(lambda: Session(open_sweep(path), limits))
