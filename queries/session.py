"""An open sweep: views over its Parquet files, with named queries and SQL over them."""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from destage.engine import limiting_resource, scenario_schema, traces
from destage.errors import DestageError, QueryError
from destage.queries import views
from destage.queries.named_queries import Kind, find_query
from destage.queries.point_table import PointTable
from destage.queries.published_values import PUBLISHED_SCHEMA, tabulate_published
from destage.queries.relations import Relations, open_relations, restrict_relations
from destage.sql import Database, QueryLimits, quote
from destage.store import Location, Sweep, open_sweep
from destage.store.published_figures import read_figures

FIGURES = "published_figures"
"""The view of published figures with their classes."""
MEANS = ("points", "certified")
"""The views with a mean and an interval for each result column."""
_HEADER = re.compile(r"\A(?:\s|--[^\n]*\n)+")
"""The comments above a statement."""
_OPENINGS = 5
"""Maximum attempts to open a sweep that is being written."""
_REPLACED = (
    "store.changed-while-read",
    "bucket.changed-while-read",
    "query.unreadable-rows",
    "query.access-denied",
    "query.broken-view",
)
"""Codes of an opening that found a file no longer there; DuckDB denies access to one that it cannot find."""
MOST_KEPT = 100_000
"""Rows of a named query's result up to which it is kept; a report asks for some of them several times."""
MOST_ORDERED = 100_000
"""Stored rows up to which `runs` is in the order of the plan; sorting more takes their whole memory."""


class Session:
    """One sweep, with the rows that are there when it is opened.

    A statement reads the columns that it needs from the sweep's files, or from copies of the objects of a
    bucket, which `close` deletes.

    Attributes:
        spec: The study as it was run.
        axes: The dotted paths of the axes, in the study's order.
        seek: The dotted path of the parameter that the study seeks, if any.
        config: The canonical configuration of the first planned run; empty without a plan.
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
        self._limits = limits
        self.sweep = sweep
        self.spec = sweep.spec()
        self.axes = sweep.axes
        self.seek = sweep.seek
        self.config: dict[str, Any] = sweep.configuration()
        self.left_out = 0 if whole is None else whole.point_count - len(point_ids)
        self._results: dict[tuple[object, ...], pa.Table] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if whole is None:
            self._folder = tempfile.TemporaryDirectory(prefix="destage-", ignore_cleanup_errors=True)
            try:
                self._open(open_relations(sweep, Path(self._folder.name)))
            except BaseException:
                self._folder.cleanup()
                raise
        else:
            statement = "SELECT plan.* FROM plan WHERE point_id IN (SELECT unnest($ids)) ORDER BY plan_row"
            plan = whole.sql(statement, {"ids": list(point_ids)})
            self._open(restrict_relations(whole.relations, plan, self.seek))

    def _open(self, relations: Relations) -> None:
        """Create the database of some relations."""
        self.relations = relations
        # Relations of many columns, and figures that take a statement each, are made when first named.
        self._pending = {FIGURES, *MEANS}
        self._database = Database(
            {
                "certificates": self.sweep.certificates(),
                "student": views.build_quantiles(max(relations.replicates, 2)),
                **relations.tables,
            },
            {
                "plan": relations.plan,
                "stored_rows": relations.rows,
                "runs": views.build_runs_view(is_ordered=relations.stored <= MOST_ORDERED),
                "configurations": views.build_configurations_view(
                    self.axes, shares_runs=relations.shares_runs, rows_per_point=relations.rows_per_point
                ),
                "replicates": views.build_replicates_view(self.seek, self.metric),
                "timeline": views.build_timeline_view(),
            },
            {"limiting_resource(measured, idle)": limiting_resource.limiting_sql("measured", "idle")},
            self._limits,
            relations.files,
        )
        self._database.add_table("found_answers", self._read_answers())
        has_published = self.metric is not None and any(read_figures(self.spec))
        published = tabulate_published(self.spec, self.metric, self.points) if has_published else None
        self._database.add_table("published", published or PUBLISHED_SCHEMA.empty_table())
        self._database.add_view("answers", views.build_answers_view())

    def _read_answers(self) -> pa.Table:
        """Return the answers with every axis column; a sweep without answers stores none of them."""
        answers = self.sweep.answers()
        plan = self._database.query("FROM plan LIMIT 0").schema
        for axis in self.axes:
            if axis not in answers.column_names:
                answers = answers.append_column(
                    plan.field(axis), pa.nulls(answers.num_rows, plan.field(axis).type)
                )
        return answers

    @cached_property
    def points(self) -> PointTable:
        """The planned points."""
        keys = ", ".join(map(quote, ["label", *self.axes]))
        table = self._database.query(f"SELECT point_id, {keys} FROM configurations ORDER BY plan_row")  # noqa: S608
        return PointTable(table, self.config)

    @cached_property
    def planned_runs(self) -> int:
        """The number of planned runs; points that share one count it once."""
        count: int = self._database.query("SELECT count(DISTINCT run_id) AS n FROM plan")["n"][0].as_py()
        return count

    @cached_property
    def missing_runs(self) -> int:
        """The number of planned runs without a row."""
        statement = "SELECT count(DISTINCT run_id) AS n FROM plan ANTI JOIN stored_rows USING (run_id)"
        count: int = self._database.query(statement)["n"][0].as_py()
        return count

    @cached_property
    def point_count(self) -> int:
        """The number of planned points."""
        count: int = self._database.query("SELECT count(*) AS n FROM configurations")["n"][0].as_py()
        return count

    def select_points(self, point_ids: Sequence[str]) -> "Session":
        """Open some of the points as a session of its own, to be closed before this one."""
        return Session(self.sweep, self._limits, whole=self, point_ids=point_ids)

    def sql(self, statement: str, parameters: Mapping[str, object] | None = None) -> pa.Table:
        """Run one SELECT or EXPLAIN over the views and `plan`.

        The views are `runs`, `points`, `certified`, `replicates`, `answers`, `configurations`, `timeline` and
        `published_figures`, which has the rows of `judge_figures`.
        """
        self._add_pending(statement)
        try:
            return self._database.query(statement, parameters)
        except QueryError:
            if self._folder is None or all(Path(file).exists() for file in self.relations.files):
                raise
        # A compaction replaced the files since they were listed.
        self._database.close()
        self._open(open_relations(self.sweep, Path(self._folder.name)))
        self._add_pending(statement)
        return self._database.query(statement, parameters)

    def sql_of_named_columns(
        self, statement: str, parameters: Mapping[str, object] | None = None
    ) -> pa.Table:
        """Run a SELECT that names each result column of `points` and `certified` that it needs.

        Only these are computed: to bind three hundred others takes longer than the rows of a small sweep.
        """
        statement = _HEADER.sub("", statement, count=1)
        text = statement.lower()
        columns = [name for name in views.list_measured_columns() if name in text]
        if "limiting_resource" in text:
            columns = list(dict.fromkeys([*columns, *limiting_resource.columns_needed()]))
        means = ", ".join(f"{name} AS ({self._means(name, columns)})" for name in MEANS if name in text)
        if means:
            is_with = text.startswith("with")
            statement = f"WITH {means}, {statement[4:]}" if is_with else f"WITH {means} {statement}"
        return self.sql(statement, parameters)

    def _means(self, name: str, columns: Sequence[str]) -> str:
        """Return the statement of `points` or `certified`, in any order."""
        if name == "certified":
            return views.build_certified_view(self.axes, columns)
        return views.build_points_view(
            self.axes,
            self.seek,
            columns,
            repeats_replicates=self.relations.repeats_replicates,
            rows_per_point=self.relations.rows_per_point,
        )

    def _order(self, name: str) -> str:
        probed = [] if self.seek is None or name != "points" else [quote(self.seek)]
        return ", ".join(["plan_row", *probed])

    def _add_pending(self, statement: str) -> None:
        text = statement.lower()
        # A statement may define `points` itself.
        for name in [name for name in self._pending if name in text and f"{name} as (" not in text]:
            self._pending.discard(name)
            if name == FIGURES:
                from destage.queries.verdicts import judge_figures  # noqa: PLC0415 - imports this module

                self._database.add_table(name, judge_figures(self))
            else:
                means = self._means(name, views.list_measured_columns())
                self._database.add_view(name, f"{means} ORDER BY {self._order(name)}")

    def stream(self, view: str, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a view or of a statement in brackets, in batches, with some of its columns."""
        self._add_pending(view)
        listed = "*" if columns is None else ", ".join(map(quote, columns))
        return self._database.stream(f"SELECT {listed} FROM {view}")  # noqa: S608

    def query(self, name: str, parameters: Mapping[str, str] | None = None) -> pa.Table:
        """Run a named query; its columns `answer...` get the name of the sought value: `users_supported...`.

        Parameters are texts by name; each has a default.

        Raises:
            QueryError: The kind of study does not have the query, or a parameter is unknown or not a number.
        """
        values = find_query(name, self.kind).values(parameters or {})
        key = (name, *values.items())
        if key not in self._results:
            rows = self.sql_of_named_columns(find_query(name, self.kind).sql, values)
            rows = rows.rename_columns([self._answer_name(name) for name in rows.column_names])
            if rows.num_rows > MOST_KEPT:
                return rows
            self._results[key] = rows
        return self._results[key]

    @property
    def kind(self) -> Kind:
        """Whether the study seeks a value, replays a trace, or runs at a fixed load."""
        if self.seek is not None:
            return "seek"
        return "replay" if traces.find_replays(self.config) else "fixed"

    @property
    def metric(self) -> str | None:
        """The name of the answers: `users_supported` where `workload.users` is sought."""
        return None if self.seek is None else f"{self.seek.rpartition('.')[2]}_supported"

    def _answer_name(self, column: str) -> str:
        is_answer = self.metric is not None and (column == "answer" or column.startswith("answer_"))
        return f"{self.metric}{column.removeprefix('answer')}" if is_answer else column

    @cached_property
    def units(self) -> dict[str, str]:
        """The base unit of each axis that has one, by dotted path."""
        found = {path: scenario_schema.find_unit(path, self.config) for path in self.axes}
        return {path: unit for path, unit in found.items() if unit is not None}

    def close(self) -> None:
        """Release the files, and delete copies of them."""
        self._database.close()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_session(path: str | Location, limits: QueryLimits | None = None) -> Session:
    """Open the sweep in a directory; `limits` bound each query.

    A sweep whose files a writer replaces in between is opened again.
    """
    for _ in range(_OPENINGS - 1):
        try:
            return Session(open_sweep(path), limits)
        except DestageError as error:
            if error.code not in _REPLACED:
                raise
    return Session(open_sweep(path), limits)
