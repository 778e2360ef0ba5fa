"""The views of an open sweep: SQL over the relations of its files and a few tables.

The relations are `plan` and `stored_rows`, the tables `found_answers`, `certificates`, `published` and
`student`. A view has the means of all result columns, or of only those that a statement names.

* `runs` has a row per planned and stored run: the columns of the plan, then the result columns.
* `points` has a row per point (and per probed value, where the study seeks one), `certified` a row per point,
  measured at the largest value below its answer that every replicate has run. For each result column c [its
  unit] both have the mean over replicates `c` and the ends of its 95 % t-interval, `c_low` and `c_high` (null
  with fewer than two replicates). Each replicate is averaged first: replicates use the same random streams at
  every point, so only replicates are independent of each other. `plan_row` is the point's place in the plan.
* `replicates` has a row per point and replicate: the columns of its run; for a seek, those of its run at the
  largest value below the answer, and its own answer. Of a search for the smallest value, whose answer is one
  number for all replicates, replicate 0 has it, so that no interval is computed from repetitions.
* `published_figures` has a row per published figure, with its prediction interval and class.
* `timeline` has a row per transition of each run (battery, mains, disks, rebuilds, the window), in order of
  `step`.

Only runs with status `ok` are averaged; the others are counted (`n_not_stationary`, `n_overloaded`,
`n_array_failed`, `n_failed`, `n_missing`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from destage import engine
from destage.engine import result_columns
from destage.queries.tables.facts import SHARED
from destage.sql import quote
from destage.student import quantile

STATUSES = ("not_stationary", "overloaded", "array_failed", "failed")
FIRST_ROW = "first_row"
"""The column of the first plan row of a point."""
POINT_MEANS = "point_means"
"""The table of the means of one statement; see `MeanViews.find_columns`."""

MACROS = {
    "mean_of(measured)": "list_avg(list_sort(list(measured)))",
    "sum_of(measured)": "list_sum(list_sort(list(measured)))",
    "standard_error(measured)": "list_stddev_samp(list_sort(list(measured))) / sqrt(count(measured))",
    "half_width(measured)": "(SELECT quantiles FROM main.student)[count(measured)] "
    "* list_stddev_samp(list_sort(list(measured))) / sqrt(count(measured))",
    "direction(result)": "if(regexp_matches(result, '_(supported|iops|per_s|ratio)$'), 1, -1)",
}
"""Mean, sum and standard error; the half-width of the t-interval of a mean; 1 for results of which more is
better, and -1 for others.

Numbers are added in the order of their size: `avg` adds them as threads come by them, so that its last digit
changes from call to call.
"""


def build_quantiles(most: int) -> pa.Table:
    """Return one row, `quantiles`: the list of t-quantiles for n = 1 (null) to `most` values."""
    quantiles = [None, *(quantile(n) for n in range(2, most + 1))]
    return pa.table({"quantiles": pa.array([quantiles], pa.list_(pa.float64()))})


def list_measured_columns() -> list[str]:
    """Return the result columns that have a mean."""
    return [
        field.name
        for field in engine.results_schema()
        if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
    ]


def build_runs_view(*, is_ordered: bool) -> str:
    """Return the statement of `runs`: the planned runs that are stored."""
    order = " ORDER BY plan.plan_row" if is_ordered else ""
    return (
        "SELECT plan.* EXCLUDE (plan_row), stored_rows.* EXCLUDE (run_id) "
        f"FROM plan JOIN stored_rows USING (run_id){order}"
    )


OPTIONAL_PLAN = "runs_with_optional_plan"
"""The view of the rows of `runs`, which joins the plan only where a statement reads columns of it."""


def build_optional_plan_view() -> str:
    """Return the statement of `OPTIONAL_PLAN`: `runs`, where every stored run has one place in the plan.

    DuckDB leaves out an outer join of which nothing is read if it has at most one row for each other one.
    Hashes of planned runs differ (`Relations.order`), and are faster to group than the ids.
    """
    planned = 'SELECT hash(run_id) AS digest, any_value(COLUMNS(*)) AS "\\0" FROM plan GROUP BY digest'
    return (
        "SELECT planned.* EXCLUDE (digest, plan_row) REPLACE (stored.run_id AS run_id), "
        "stored.* EXCLUDE (run_id, digest) "
        "FROM (SELECT *, hash(run_id) AS digest FROM stored_rows) AS stored "
        f"LEFT JOIN ({planned}) AS planned ON planned.digest = stored.digest"
    )


def build_configurations_view(axes: Sequence[str], rows_per_point: int | None) -> str:
    """Return the statement of `configurations`: each point's axes, and its place in the plan.

    Args:
        rows_per_point: As in `Facts`.
    """
    names = ["label", *axes]
    if rows_per_point is not None:
        listed = ", ".join(map(quote, ["point_id", "plan_row", *names]))
        return f"SELECT {listed} FROM plan WHERE plan_row % {rows_per_point} = 0"
    carried = ", ".join(f"any_value({quote(name)}) AS {quote(name)}" for name in names)
    return f"SELECT point_id, min(plan_row) AS plan_row, {carried} FROM plan GROUP BY point_id"


def build_alternatives_view(axes: Sequence[str]) -> str:
    """Return the statement of `alternatives`: each point, and its workload.

    Only points under the same workload are alternatives; without an axis of the workload, all points are.
    """
    listed = ", ".join([quote(path) for path in axes if path.startswith("workload.")] or ["0"])
    return f"SELECT point_id, plan_row, row({listed}) AS workload FROM configurations"


def build_points_view(
    axes: Sequence[str],
    probed: Sequence[str],
    columns: Sequence[str],
    *,
    repeats_replicates: bool,
    rows_per_point: int | None,
) -> str:
    """Return the statement of `points` in any order, with the means of result columns.

    Args:
        repeats_replicates: Whether a replicate may have several runs, which are averaged first.
        rows_per_point: As in `Facts`.
    """
    regular = None if probed or repeats_replicates else rows_per_point
    carried = ["label", *axes]
    return _means(
        probed, carried, columns, "plan", repeats_replicates=repeats_replicates, rows_per_point=regular
    )


def build_certified_view(axes: Sequence[str], columns: Sequence[str]) -> str:
    """Return the statement of `certified`: each replicate measured at its run next below the answer.

    Its rows are in any order.
    """
    chosen = (
        "(SELECT plan.* FROM plan JOIN (SELECT point_id, replicate, run_id_pass AS run_id FROM certificates "
        "WHERE run_id_pass IS NOT NULL) USING (point_id, replicate, run_id))"
    )
    return _means([], ["label", *axes], columns, chosen, repeats_replicates=True, rows_per_point=None)


def build_answers_view(answer: str, axes: Sequence[str], *, has_shared: bool) -> str:
    """Return the statement of `answers`: the answers found, and the published figure of the point if any.

    Args:
        answer: The name of the answers; what the store calls `answer_mean` has no suffix.
        has_shared: Whether there is the table of points that are one with another.
    """
    names = {"answer_mean": answer} | {
        f"answer_{part}": f"{answer}_{part}" for part in ("low", "high", "half_width")
    }
    renamed = ", ".join(f"{stored} AS {quote(name)}" for stored, name in names.items())
    # An axis without effect is null in `configurations`.
    axes_of = ", ".join(
        f"if(configurations.point_id IS NULL, found_answers.{quote(path)}, configurations.{quote(path)}) "
        f"AS {quote(path)}"
        for path in axes
    )
    replaced = f" REPLACE ({axes_of})" if axes else ""
    repeated = f"ANTI JOIN (FROM {SHARED} WHERE first_id <> point_id) USING (point_id)" if has_shared else ""
    return f"""
SELECT
  found_answers.*{replaced} RENAME ({renamed}), published.value AS published,
  published.figure AS published_figure, published.source AS published_source, plan_row
FROM found_answers {repeated}
-- A point that no run was planned for has an answer, too: it is more expensive.
LEFT JOIN configurations USING (point_id)
LEFT JOIN published USING (point_id, metric)
ORDER BY plan_row
"""


def build_timeline_view() -> str:
    """Return the statement of `timeline`: each transition of each run, in the order of time."""
    return """
WITH once AS (
  SELECT run_id, min(plan_row) AS plan_row, any_value(timeline_s) AS timeline_s,
    any_value(timeline_event) AS timeline_event, any_value(timeline_subject) AS timeline_subject,
    any_value(timeline_value) AS timeline_value
  FROM runs JOIN configurations USING (point_id)
  WHERE len(timeline_s) > 0
  GROUP BY run_id
), transitions AS (
  SELECT run_id, plan_row, unnest(range(1, len(timeline_s) + 1)) AS step,
    unnest(timeline_s) AS at_s, unnest(timeline_event) AS event, unnest(timeline_subject) AS subject,
    unnest(timeline_value) AS value
  FROM once
)
SELECT run_id, step, at_s, event, subject, value
FROM transitions
ORDER BY plan_row, run_id, step
"""


def _bound(name: str, low: str, high: str) -> tuple[str, str]:
    """Return the ends of an interval, or null: no result is below 0, and no share above 1."""
    is_share = result_columns.is_share(name)
    return f"if({low} < 0, 0, {low})", f"if({high} > 1, 1, {high})" if is_share else high


def _means(
    probed: Sequence[str],
    carried: Sequence[str],
    columns: Sequence[str],
    planned: str,
    *,
    repeats_replicates: bool,
    rows_per_point: int | None,
) -> str:
    """Return the statement of means over the replicates of planned runs, in one pass over plan and rows.

    Args:
        probed: The column of the probed value, if there is a row for each.
        carried: The columns of `configurations` besides the point.
        rows_per_point: As in `Facts`, to group by a number: a large plan takes half the time.
    """
    if rows_per_point is None:
        keys, place = ["point_id", *probed], "configurations.point_id = across_replicates.point_id"
        key = ""
    else:
        keys, place = [FIRST_ROW], f"configurations.plan_row = across_replicates.{FIRST_ROW}"
        key = f", plan_row - plan_row % {rows_per_point} AS {FIRST_ROW}"
    by = ", ".join(map(quote, keys))
    across = "".join(
        f",\n    list_avg({measured}) AS {quote(name)}, "
        f"list_stddev_samp({measured}) / sqrt(count({quote(name)})) AS {quote(name + '_error')}, "
        f"count({quote(name)}) AS {quote(name + '_count')}"
        for name in columns
        # Values are added in the order of their size (`MACROS`). A list of as many smallest values as a group
        # can have has all of them, and takes a third of the time of sorting.
        for measured in [
            f"list_sort(list({quote(name)}))"
            if rows_per_point is None
            else f"min({quote(name)}, {rows_per_point})"
        ]
    )
    intervals = "".join(
        f"{quote(name)}, {low} AS {quote(name + '_low')}, {high} AS {quote(name + '_high')},\n    "
        for name in columns
        for spread in [f"quantiles[{quote(name + '_count')}] * {quote(name + '_error')}"]
        for low, high in [_bound(name, f"{quote(name)} - {spread}", f"{quote(name)} + {spread}")]
    )
    counts = ", ".join(f"sum(n_{status})::BIGINT AS n_{status}" for status in STATUSES)
    places = [*(f"across_replicates.{quote(name)}" for name in probed)]
    places += [f"configurations.{quote(name)}" for name in carried]
    return f"""
WITH planned AS (
  SELECT planned.*, stored_rows.* EXCLUDE (run_id), stored_rows.run_id AS stored_run_id{key}
  FROM {planned} AS planned
  LEFT JOIN stored_rows ON planned.run_id = stored_rows.run_id
), by_replicate AS (
  {_measure_replicates(keys, columns, is_averaged=repeats_replicates)}
), across_replicates AS (
  SELECT {by}, count(*) FILTER (n_ok > 0) AS n, {counts}, sum(n_missing)::BIGINT AS n_missing{across}
  FROM by_replicate
  GROUP BY {by}
)
SELECT {", ".join(["configurations.point_id", *places])},
    n, {", ".join(f"n_{status}" for status in STATUSES)}, n_missing,
    {intervals}configurations.plan_row
FROM across_replicates JOIN configurations ON {place}
CROSS JOIN student
"""


def _measure_replicates(keys: Sequence[str], columns: Sequence[str], *, is_averaged: bool) -> str:
    """Return the statement of each replicate's measurements: those of its run, or means over several."""
    count, missing = "coalesce({}, false)::INTEGER", "(stored_run_id IS NULL)::INTEGER"
    value, grouped, by = "{}::DOUBLE", "", ", ".join(map(quote, keys))
    if is_averaged:
        by += ", replicate"
        count, missing = "count(*) FILTER ({})", "count(*) - count(stored_run_id)"
        value, grouped = "mean_of({})", f"\n  GROUP BY {by}"
    counted = {status: count.format(f"status = '{status}'") for status in ("ok", *STATUSES)}
    counts = ", ".join(f"{counter} AS n_{status}" for status, counter in counted.items())
    measured = {quote(name): f"if(status = 'ok', {quote(name)}, NULL)" for name in columns}
    values = "".join(f",\n    {value.format(result)} AS {name}" for name, result in measured.items())
    return f"SELECT {by}, {counts}, {missing} AS n_missing{values}\n  FROM planned{grouped}"


MEANS = ("points", "certified")
"""The names of the views."""
_HEADER = re.compile(r"\A(?:\s|--[^\n]*\n)+")
"""The comments above a statement."""


@dataclass(frozen=True, slots=True)
class MeanViews:
    """The views `points` and `certified` of one sweep.

    Attributes:
        probed: The dotted path of the sought parameter; empty if nothing is sought.
        repeats_replicates: Whether a point has several runs of one replicate (and probed value).
        rows_per_point: The number of plan rows per point, if it is the same for all points.
    """

    axes: Sequence[str]
    probed: Sequence[str]
    repeats_replicates: bool
    rows_per_point: int | None

    def define(self, statement: str, *, is_computed: bool = False) -> str:
        """Return a SELECT with those of the views that it names, of the result columns that it names.

        To bind all result columns takes longer than to read the rows of a small sweep.

        Args:
            is_computed: Whether there is the table `POINT_MEANS` of the columns of `find_columns`.
        """
        statement = _HEADER.sub("", statement, count=1)
        text = statement.lower()
        columns = list(self.find_columns(text))
        views = {name: self._build(name, columns) for name in MEANS if name in text}
        if is_computed and "points" in views:
            carried = ["point_id", "plan_row", "label", *self.axes]
            listed = ", ".join(f"configurations.{quote(name)}" for name in carried)
            views["points"] = (
                f"SELECT {listed}, {POINT_MEANS}.* EXCLUDE ({FIRST_ROW}) FROM {POINT_MEANS} "
                f"JOIN configurations ON configurations.plan_row = {POINT_MEANS}.{FIRST_ROW}"
            )
        means = ", ".join(f"{name} AS ({view})" for name, view in views.items())
        return f"WITH {means} FROM (\n{statement}\n)" if means else statement

    def find_columns(self, statement: str) -> dict[str, bool]:
        """Return the result columns that a SELECT names, and whether it names an end of the interval."""
        text = statement.lower()
        columns = [name for name in list_measured_columns() if name in text]
        if "limiting_resource" in text:
            columns = list(dict.fromkeys([*columns, *result_columns.columns_needed()]))
        return {name: f"{name}_low" in text or f"{name}_high" in text for name in columns}

    def is_computed(self, statement: str) -> bool:
        """Return whether `PointMeans` has the means of `points` that a SELECT names."""
        is_regular = self.rows_per_point is not None and not self.probed and not self.repeats_replicates
        return is_regular and "points" in statement.lower()

    def build(self, name: str) -> str:
        """Return the statement of a view with all result columns, in the order of the plan."""
        probed = map(quote, self.probed) if name == "points" else ()
        statement = self._build(name, list_measured_columns())
        return f"{statement} ORDER BY {', '.join(['plan_row', *probed])}"

    def _build(self, name: str, columns: Sequence[str]) -> str:
        """Return the statement of a view with some result columns, in any order."""
        if name == "certified":
            return build_certified_view(self.axes, columns)
        return build_points_view(
            self.axes,
            self.probed,
            columns,
            repeats_replicates=self.repeats_replicates,
            rows_per_point=self.rows_per_point,
        )
