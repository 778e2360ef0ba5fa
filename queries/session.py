"""An open sweep: its rows as views, with named queries and SQL over them."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import pyarrow as pa

from destage.engine import limiting, scenario_schema, traces
from destage.queries import views
from destage.queries.named_queries import Kind, find_query
from destage.queries.published_values import tabulate_published
from destage.query_limits import QueryLimits
from destage.sql import Database
from destage.store import Location, Sweep, open_sweep
from destage.store.plan import CONFIG_COLUMNS, join_configs

FIGURES = "published_figures"
"""The view of published figures with their classes."""


class Session:
    """One sweep, with the rows that are there when it is opened.

    Attributes:
        spec: The study as it was run.
        axes: The dotted paths of the axes, in the study's order.
        seek: The dotted path of the parameter that the study seeks, if any.
        config: The canonical configuration of the first planned run; empty without a plan.
        points: The planned points: `point_id`, `label` and the axis columns [base units].
    """

    def __init__(self, sweep: Sweep, limits: QueryLimits | None = None) -> None:
        self.sweep = sweep
        self.spec = sweep.spec()
        self.axes = sweep.axes
        self.seek = sweep.seek
        plan = sweep.plan()
        self.config: dict[str, Any] = (
            json.loads(join_configs(plan.slice(0, 1))[0].as_py()) if plan.num_rows else {}
        )
        plan = plan.drop_columns(list(CONFIG_COLUMNS))
        plan = plan.append_column("plan_row", pa.array(range(plan.num_rows), pa.int64()))
        runs = sweep.runs()
        answers = _with_axes(sweep.answers(), plan.schema, self.axes)
        points = (
            plan.select(["point_id", "label", *self.axes])
            .group_by(["point_id", "label", *self.axes])
            .aggregate([])
        )
        # Classified when a statement first names them: that takes a statement for each figure.
        self._has_figures = False
        measured = views.list_measured_columns()
        self.points: list[dict[str, Any]] = points.to_pylist()
        self._database = Database(
            {
                "plan": plan,
                "runs": runs,
                "found_answers": answers,
                "certificates": sweep.certificates(),
                "published": tabulate_published(self.spec, self.metric, self.points, self.config),
                "student": views.build_quantiles(max(len(plan["replicate"].unique()), 2)),
            },
            {
                "configurations": views.build_configurations_view(self.axes),
                "points": views.build_points_view(self.axes, self.seek, measured),
                "certified": views.build_certified_view(self.axes, measured),
                "replicates": views.build_replicates_view(self.seek, self.metric),
                "answers": views.build_answers_view(),
                "timeline": views.build_timeline_view(),
            },
            {"limiting_resource(measured, idle)": limiting.limiting_sql("measured", "idle")},
            limits,
        )

    def sql(self, statement: str, parameters: Mapping[str, object] | None = None) -> pa.Table:
        """Run one SELECT or EXPLAIN over the views and `plan`.

        The views are `runs`, `points`, `certified`, `replicates`, `answers`, `configurations`, `timeline` and
        `published_figures`, which has the rows of `judge_figures`.
        """
        if not self._has_figures and FIGURES in statement:
            from destage.queries.verdicts import judge_figures  # noqa: PLC0415 - imports this module

            self._has_figures = True
            self._database.add_table(FIGURES, judge_figures(self))
        return self._database.query(statement, parameters)

    def query(self, name: str, parameters: Mapping[str, str] | None = None) -> pa.Table:
        """Run a named query; its columns `answer...` get the name of the sought value: `users_supported...`.

        Parameters are texts by name; each has a default.

        Raises:
            QueryError: The kind of study does not have the query, or a parameter is unknown or not a number.
        """
        query = find_query(name, self.kind)
        rows = self.sql(query.sql, query.values(parameters or {}))
        return rows.rename_columns([self._answer_name(name) for name in rows.column_names])

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
        """Release the rows."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_session(path: str | Location, limits: QueryLimits | None = None) -> Session:
    """Open the sweep in a directory; `limits` bound each query."""
    return Session(open_sweep(path), limits)


def _with_axes(answers: pa.Table, plan: pa.Schema, axes: list[str]) -> pa.Table:
    """Return the answers with every axis column; a sweep without answers stores none of them."""
    for axis in axes:
        if axis not in answers.column_names:
            answers = answers.append_column(
                plan.field(axis), pa.nulls(answers.num_rows, plan.field(axis).type)
            )
    return answers
