"""Points that are one configuration: the plan with each configuration once, and axes without effect NULL.

A plan has the points of a study as written. Points with the same runs and label are one: without a cache, all
write fractions. The first of them in the plan stands for all. An axis has no effect at a point if the point
and all that differ from it in this axis alone are one; it is NULL where it has no effect at any of them, and
where its condition (`when`) is false, as one point stands for all of its values.

The views read the plan of `collapse_plan`. What averages over the grid as written reads `grid`.
"""

from collections.abc import Collection, Sequence
from contextlib import closing

import pyarrow as pa

from destage.sql import quote, quote_text
from destage.sql.file_connection import FileConnection

SHARED = "shared_points"
"""The table of points that are one with another: `point_id`, `first_id` of the first, and `unbound` axes."""


def find_shared_points(connection: FileConnection, plan: str, axes: Sequence[str]) -> pa.Table:
    """Return the table `SHARED`, with the axes as written.

    Args:
        plan: The statement of the plan as written.
    """
    names = ["label", *axes]
    carried = "".join(f", any_value({quote(name)}) AS {quote(name)}" for name in names)
    others = {path: ", ".join(quote(name) for name in names if name != path) for path in axes}
    # Equal configurations have equal runs, others none in common: one run tells.
    is_unbound = "".join(
        f", min(run) OVER {window} = max(run) OVER {window} "
        f"AND min({quote(path)}) OVER {window} <> max({quote(path)}) OVER {window} AS unbound_{number}"
        for number, (path, by) in enumerate(others.items())
        for window in [f"(PARTITION BY {by})"]
    )
    unbound = ", ".join(
        f"if(coalesce(bool_and(unbound_{number}) OVER same, false), {quote_text(path)}, NULL)"
        for number, path in enumerate(axes)
    )
    return connection.fetch(
        f"WITH written AS (SELECT point_id, min(plan_row) AS plan_row, min(run_id) AS run{carried} "  # noqa: S608
        f"FROM ({plan}) GROUP BY point_id), marked AS (SELECT *{is_unbound} FROM written) "
        "SELECT point_id, first(point_id) OVER (PARTITION BY run, label ORDER BY plan_row) AS first_id, "
        f"list_filter([{unbound}]::VARCHAR[], lambda path: path IS NOT NULL) AS unbound, plan_row, "
        f"{', '.join(map(quote, names))} FROM marked "
        "WINDOW same AS (PARTITION BY run, label) QUALIFY count(*) OVER same > 1 ORDER BY plan_row"
    )


def collapse_plan(plan: str, axes: Sequence[str]) -> str:
    """Return the statement of the plan with each configuration once, and axes without effect NULL."""
    replaced = ", ".join(
        f"CASE WHEN list_contains({SHARED}.unbound, {quote_text(path)}) THEN NULL "
        f"ELSE written.{quote(path)} END AS {quote(path)}"
        for path in axes
    )
    columns = f"written.* REPLACE ({replaced})" if axes else "written.*"
    return (
        f"SELECT {columns} FROM ({plan}) AS written LEFT JOIN {SHARED} USING (point_id) "  # noqa: S608
        f"WHERE {SHARED}.first_id IS NULL OR {SHARED}.first_id = written.point_id"
    )


def collapse_table(plan: pa.Table, axes: Sequence[str]) -> pa.Table:
    """Return the rows of a plan that is not stored yet, as `collapse_plan` does."""
    numbered = plan.append_column("plan_row", pa.array(range(plan.num_rows), pa.int64()))
    with closing(FileConnection()) as connection:
        connection.add_table("given", numbered)
        written = "SELECT * FROM given"
        connection.add_table(SHARED, find_shared_points(connection, written, axes))
        collapsed = connection.fetch(f"{collapse_plan(written, axes)} ORDER BY plan_row")
    return collapsed.select(plan.column_names)


def build_grid(axes: Sequence[str], *, shares_runs: bool, conditional: Collection[str]) -> str:
    """Return the statement of `grid`: the points as written, with the id of the configuration of each.

    Args:
        conditional: Axes with a list of values that only some points assign: a point that does not has a
            row for each value.
    """
    listed = ", ".join(map(quote, ["label", *axes]))
    grid = f"SELECT point_id AS written_id, point_id, plan_row, {listed} FROM configurations"  # noqa: S608
    if shares_runs:
        grid = (
            f"{grid} ANTI JOIN {SHARED} USING (point_id) "  # noqa: S608
            f"UNION ALL SELECT point_id AS written_id, first_id AS point_id, plan_row, {listed} "
            f"FROM {SHARED} WHERE first_id IN (SELECT point_id FROM configurations)"
        )
    for path in conditional:
        name = quote(path)
        values = f"SELECT DISTINCT {name} AS value FROM written WHERE {name} IS NOT NULL"  # noqa: S608
        grid = (
            f"WITH written AS ({grid}) SELECT written.* REPLACE (coalesce({name}, value) AS {name}) "  # noqa: S608
            f"FROM written LEFT JOIN ({values}) ON {name} IS NULL"
        )
    return grid
