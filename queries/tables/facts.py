"""Facts about the plan and the rows of a sweep, which decide which statements answer it, and shared points.

To find the facts takes a scan of the ids of all runs, so that those of a large sweep are recorded in its
folder. The name of the record has a digest of the names of rounds and fragments, and these have digests of
their content, so that a record is never out of date; it is deleted when another is kept.

A plan has the points of a study as written. Points with the same runs and label are one configuration:
without a cache, all write fractions. Parts of other names are not, even of the same hardware. The first of
them in the plan stands for all. An axis has no effect at a point if the point and all that differ from it in
this axis alone are one; it is NULL where it has no effect at any of them, and where its condition (`when`) is
false, as one point stands for all of its values. The views read the plan of `collapse_plan`. What averages
over the grid as written reads `grid`.

Of a large sweep that has ended, the order of the stored rows is recorded as well: the plan row of each. To
find it takes a join of all run ids.
"""

from collections.abc import Collection, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from destage.errors import StoreError
from destage.objects import ObjectPath
from destage.sql import FileConnection, quote, quote_text
from destage.store import Sweep
from destage.store.files.digests import decode_record, digest_of, encode_record, is_count, is_intact
from destage.store.files.durable import write_durably
from destage.store.files.layout import SweepLayout
from destage.store.files.regular_files import MOST_RECORD, read_file

_FEWEST_RECORDED = 200_000
"""Stored rows below which nothing is recorded: to scan them takes less time than to read a record."""
_SUFFIX = ".facts"
_ORDER_SUFFIX = ".order"
_ORDER_TYPE = np.dtype("<u4")
"""A plan row, in the file of the order of stored rows."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a plan and its rows.

    Attributes:
        stored: The number of stored rows, of runs that several fragments hold one.
        replicates: The number of distinct replicates.
        shares_runs: Whether several points of the plan as written share a run.
        repeats_replicates: Whether a point has several runs of one replicate (and probed value).
        rows_per_point: The number of plan rows per point, if it is the same for all points and the rows of
            each point are consecutive; otherwise None.
    """

    stored: int = 0
    replicates: int = 0
    shares_runs: bool = False
    repeats_replicates: bool = False
    rows_per_point: int | None = None


def examine_plan(connection: FileConnection, plan: str, probed: Sequence[str], stored: int) -> Facts:
    """Return the facts about a plan.

    Args:
        plan: The statement of the plan as written.
        stored: The number of stored rows.
    """
    keys = ", ".join(map(quote, ["point_id", "replicate", *probed]))
    # DuckDB keeps the order of the rows of a plan.
    hashes = connection.fetch(
        "SELECT hash(run_id) AS run, hash(point_id) AS point, "  # noqa: S608 - files of the sweep
        f"hash({keys}) AS place FROM ({plan})"
    )
    replicates = connection.fetch(f"SELECT count(DISTINCT replicate) AS n FROM ({plan})")["n"][0].as_py()  # noqa: S608
    runs, places = (np.sort(hashes[name].to_numpy()) for name in ("run", "place"))
    return Facts(
        stored,
        replicates,
        shares_runs=bool((runs[1:] == runs[:-1]).any()),
        repeats_replicates=bool((places[1:] == places[:-1]).any()),
        rows_per_point=_count_rows_per_point(hashes["point"].to_numpy()),
    )


def _count_rows_per_point(digests: "np.ndarray[Any, Any]") -> int | None:
    """Return `Facts.rows_per_point`, from a hash of the point of each row of the plan, in its order.

    Two points with one hash make it None.
    """
    if not digests.size:
        return None
    ends = np.flatnonzero(digests[1:] != digests[:-1]) + 1
    points = len(ends) + 1
    rows = len(digests) // points
    if len(digests) % points or (ends != np.arange(1, points) * rows).any():
        return None
    of_points = np.sort(digests[::rows])
    return None if (of_points[1:] == of_points[:-1]).any() else rows


def join_rows(plan: str, rows: str) -> str:
    """Return the statement of the plan rows of stored rows, in any order: `row`, the number, and `plan_row`.

    Args:
        plan: The statement of the plan.
        rows: The statement of the stored rows.
    """
    return (
        f"SELECT stored.row::INTEGER AS row, plan_row::INTEGER AS plan_row FROM ({plan}) "  # noqa: S608
        f"JOIN (SELECT row_number() OVER () - 1 AS row, run_id FROM ({rows})) AS stored USING (run_id)"
    )


def order_rows(
    connection: FileConnection, plan: str, rows: str, facts: Facts
) -> "np.ndarray[Any, Any] | None":
    """Return the plan row of each stored row; None unless each has exactly one."""
    if facts.shares_runs:
        return None
    joined = connection.fetch(join_rows(plan, rows))
    if joined.num_rows != facts.stored:
        return None  # a stored run is not planned
    order = np.empty(facts.stored, _ORDER_TYPE)
    order[joined["row"].to_numpy()] = joined["plan_row"].to_numpy()
    return order


def read_order(file: Path | None, planned: int) -> "np.ndarray[Any, Any] | None":
    """Return the plan row of each stored row from a file of them; None if it is lost or not valid.

    Args:
        planned: The number of plan rows.
    """
    with suppress(OSError):
        if file is not None and is_intact(file):
            order = np.fromfile(file, _ORDER_TYPE)
            return order if order.max(initial=0) < planned else None
    return None


class FactsRecord:
    """The record of the facts about some rounds and fragments in the folder of a sweep; a bucket has none.

    That of a sweep that has ended has another name than before, so that its rows are ordered once.
    """

    def __init__(self, sweep: Sweep, names: Iterable[str]) -> None:
        folder = SweepLayout(sweep.path).copies
        self._folder = None if isinstance(folder, ObjectPath) else folder.absolute()
        self.is_final = sweep.is_finished
        state = ["finished"] if self.is_final else []
        self._key = digest_of("\n".join([*sorted(names), *state]).encode())
        self._name = self._key + _SUFFIX

    def find(self) -> Facts | None:
        """Return the recorded facts, if there is an intact record."""
        if self._folder is None:
            return None
        place = self._folder / self._name
        try:
            facts = Facts(**decode_record(read_file(place, MOST_RECORD), place))
        except (OSError, StoreError, TypeError):
            return None
        return facts if _is_valid(facts) else None

    def keep(self, facts: Facts) -> bool:
        """Record the facts about a large sweep, and delete other records, where the folder can be written.

        Returns whether they are recorded.
        """
        if self._folder is None or facts.stored < _FEWEST_RECORDED:
            return False
        with suppress(OSError, StoreError):
            self._folder.mkdir(exist_ok=True)
            for spent in (*self._folder.glob(f"*{_SUFFIX}"), *self._folder.glob(f"*{_ORDER_SUFFIX}")):
                spent.unlink(missing_ok=True)
            write_durably(self._folder / self._name, encode_record(asdict(facts)))
            return True
        return False

    def find_order(self, stored: int) -> Path | None:
        """Return the file of `order_rows` of this many stored rows, if there is an intact one."""
        if self._folder is not None:
            for path in self._folder.glob(f"{self._key}-*{_ORDER_SUFFIX}"):
                with suppress(OSError):
                    if path.stat().st_size == stored * _ORDER_TYPE.itemsize and is_intact(path):
                        return path
        return None

    def keep_order(self, order: "np.ndarray[Any, Any]") -> None:
        """Record the plan rows of `order_rows`, where the folder can be written."""
        assert self._folder is not None  # noqa: S101 - the facts are recorded in it
        content = order.tobytes()
        with suppress(OSError, StoreError):
            write_durably(self._folder / f"{self._key}-{digest_of(content)}{_ORDER_SUFFIX}", content)


def _is_valid(facts: Facts) -> bool:
    rows = facts.rows_per_point
    return (
        is_count(facts.stored)
        and is_count(facts.replicates)
        and type(facts.shares_runs) is bool
        and type(facts.repeats_replicates) is bool
        and (rows is None or (is_count(rows) and rows > 0))
    )


SHARED = "shared_points"
"""The table of points that are one with another: `point_id`, `first_id` of the first, and `unbound` axes."""


def find_shared_points(
    connection: FileConnection, plan: str, axes: Sequence[str], distinct: Sequence[str] = ()
) -> pa.Table:
    """Return the table `SHARED`, with the axes as written.

    Args:
        plan: The statement of the plan as written.
        distinct: The axes of `list_distinct`: points that differ in one are not one configuration.
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
        if path not in distinct
    )
    same = ", ".join(["run", "label", *map(quote, distinct)])
    return connection.fetch(
        f"WITH written AS (SELECT point_id, min(plan_row) AS plan_row, min(run_id) AS run{carried} "  # noqa: S608
        f"FROM ({plan}) GROUP BY point_id), marked AS (SELECT *{is_unbound} FROM written) "
        f"SELECT point_id, first(point_id) OVER (PARTITION BY {same} ORDER BY plan_row) AS first_id, "
        f"list_filter([{unbound}]::VARCHAR[], lambda path: path IS NOT NULL) AS unbound, plan_row, "
        f"{', '.join(map(quote, names))} FROM marked "
        f"WINDOW same AS (PARTITION BY {same}) QUALIFY count(*) OVER same > 1 ORDER BY plan_row"
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


def collapse_table(plan: pa.Table, axes: Sequence[str], distinct: Sequence[str] = ()) -> pa.Table:
    """Return the rows of a plan that is not stored yet, as `collapse_plan` does.

    Args:
        distinct: As in `find_shared_points`.
    """
    numbered = plan.append_column("plan_row", pa.array(range(plan.num_rows), pa.int64()))
    with closing(FileConnection()) as connection:
        connection.add_table("given", numbered)
        written = "SELECT * FROM given"
        connection.add_table(SHARED, find_shared_points(connection, written, axes, distinct))
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
