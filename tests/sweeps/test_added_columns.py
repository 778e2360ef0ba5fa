"""A result column that is added later: rows stored before lack it, and stay valid."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from destage import queries, sweeps
from destage.store import open_sweep
from destage.store.files.layout import SweepLayout, list_sizes
from destage.store.files.parquet import read_parquet
from destage.store.fragment_files.adoption import adopt_fragments
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.merging import compact
from destage.store.fragment_files.stored_rows import rows_schema
from destage.sweeps import Study

MakeStudy = Callable[..., Study]
USERS = "workload.users"
ADDED = {"count": "write_stalls", "fraction": "disk_busy_max_fraction", "list": "array_requests"}
"""Columns of several types that take the part of the added one."""


def _remove_column(layout: SweepLayout, name: str) -> None:
    """Write a sweep's fragments as a release without a column wrote them."""
    for path, _ in list(list_sizes(layout.fragments)):
        rows = read_parquet(path)
        path.unlink()
        write_fragment(layout.fragments, rows.drop_columns([name]))


@pytest.mark.parametrize("name", ADDED.values(), ids=ADDED)
def test_rows_without_an_added_column_stay_valid(make_study: MakeStudy, tmp_path: Path, name: str) -> None:
    first = sweeps.run(make_study(axes={USERS: [2, 3]}), tmp_path, executor="inline")
    layout = SweepLayout(first.path)
    complete = open_sweep(first.path).rows()
    _remove_column(layout, name)
    assert adopt_fragments(layout).warnings == []
    resumed = sweeps.resume(first.path, executor="inline")
    assert (resumed.runs, resumed.executed, resumed.reused) == (4, 0, 4)
    rows = open_sweep(first.path).rows()
    assert rows.schema.names == rows_schema().names
    assert rows[name].null_count == 4
    assert rows.drop_columns([name]).equals(complete.drop_columns([name]))
    assert sweeps.verify(first.path, sample=1.0).problems == ()

    more = sweeps.run(make_study(axes={USERS: [2, 3, 4]}), tmp_path, executor="inline")
    assert (more.runs, more.executed) == (6, 2)
    for _ in range(2):
        assert open_sweep(first.path).rows()[name].null_count == 4
        assert sweeps.verify(first.path, sample=1.0).problems == ()
        with queries.open_session(first.path) as session:
            assert session.sql("SELECT count(*) AS n FROM runs")["n"].to_pylist() == [6]
            assert session.query("design_space").num_rows == 3
        assert compact(layout).warnings == ()


def test_a_stored_null_is_compared_where_the_column_is_there(make_study: MakeStudy, tmp_path: Path) -> None:
    outcome = sweeps.run(make_study(), tmp_path, executor="inline")
    layout = SweepLayout(outcome.path)
    for path, _ in list(list_sizes(layout.fragments)):
        table = read_parquet(path)
        path.unlink()
        at = table.schema.get_field_index("write_stalls")
        bare = table.set_column(at, "write_stalls", pa.nulls(table.num_rows, pa.int64()))
        write_fragment(layout.fragments, bare)
    assert [issue.code for issue in sweeps.verify(outcome.path, sample=1.0).problems] == [
        "sweep.row-differs"
    ] * 2
