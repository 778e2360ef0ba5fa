"""Reading gives one row per run, whatever the fragments contain."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_stores import publish

from destage.errors import StoreError
from destage.store import open_sweep
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.stored_rows import (
    find_present_runs,
    read_rows,
    rows_schema,
    select_best_rows,
)
from destage.store.state.plan import plan_schema

MakeRows = Callable[..., pa.Table]


def test_an_empty_sweep_has_typed_empty_tables(layout: SweepLayout) -> None:
    publish(layout)
    assert read_rows(layout).schema.names == rows_schema().names
    sweep = open_sweep(layout.root)
    assert sweep.rows().num_rows == sweep.runs().num_rows == sweep.answers().num_rows == 0
    assert "status" in sweep.runs().schema.names
    assert "answer_mean" in sweep.answers().schema.names
    assert "run_id_pass" in sweep.certificates().schema.names


def test_ok_wins_over_failed_then_the_lowest_key(make_rows: MakeRows, layout: SweepLayout) -> None:
    write_fragment(layout.fragments, make_rows("a", "b", status="failed", error_kind="infrastructure"))
    first = write_fragment(layout.fragments, make_rows("a", events=1))
    second = write_fragment(layout.fragments, make_rows("a", "c", events=2))
    rows = {row["run_id"]: row for row in read_rows(layout).to_pylist()}
    assert sorted(rows) == ["a", "b", "c"]
    assert rows["a"]["status"] == "ok"
    assert rows["a"]["events"] == (1 if first.name < second.name else 2)
    assert rows["b"]["status"] == "failed"


def test_only_failures_of_the_machine_leave_a_run_absent(make_rows: MakeRows, layout: SweepLayout) -> None:
    write_fragment(layout.fragments, make_rows("ok"))
    write_fragment(layout.fragments, make_rows("panic", status="failed", error_kind="panic"))
    write_fragment(layout.fragments, make_rows("not-stationary", status="not_stationary"))
    for kind in ("infrastructure", "oom", "timeout"):
        write_fragment(layout.fragments, make_rows(kind, status="failed", error_kind=kind))
    assert find_present_runs(read_rows(layout)) == {"ok", "panic", "not-stationary"}


def test_readers_skip_torn_files(make_rows: MakeRows, layout: SweepLayout) -> None:
    write_fragment(layout.fragments, make_rows("a"))
    (layout.fragments / "torn.parquet").write_bytes(b"PAR1")
    (layout.fragments / ".half.1.tmp").write_bytes(b"PAR1")
    assert read_rows(layout)["run_id"].to_pylist() == ["a"]


def test_only_the_requested_columns_are_read(make_rows: MakeRows, layout: SweepLayout) -> None:
    write_fragment(layout.fragments, make_rows("a"))
    assert read_rows(layout, ["events"]).schema.names == ["run_id", "status", "error_kind", "events"]


def test_runs_are_the_plan_joined_with_its_rows_many_to_one(make_rows: MakeRows, layout: SweepLayout) -> None:
    schema = plan_schema([pa.field("cache", pa.int64())], "workload.users")
    common = {"label": None, "replicate": 0, "round": 0, "estimated_events": None}
    planned = [
        {"point_id": "p", "run_id": "a", "cache": 0, "workload.users": 5, **common},
        {"point_id": "q", "run_id": "a", "cache": 1, "workload.users": 5, **common},
        {"point_id": "q", "run_id": "absent", "cache": 1, "workload.users": 6, **common},
    ]
    publish(layout, pa.Table.from_pylist(planned, schema=schema))
    write_fragment(layout.fragments, make_rows("a", events=7))
    write_fragment(layout.fragments, make_rows("unplanned"))
    sweep = open_sweep(layout.root)
    runs = sweep.runs()
    assert runs.select(["point_id", "run_id", "cache", "events"]).to_pylist() == [
        {"point_id": "p", "run_id": "a", "cache": 0, "events": 7},
        {"point_id": "q", "run_id": "a", "cache": 1, "events": 7},
    ]
    assert not any(name.startswith("config.") for name in runs.schema.names)
    assert (sweep.axes, sweep.seek) == (["cache"], "workload.users")


def test_a_damaged_fragment_is_an_error(make_rows: MakeRows, layout: SweepLayout) -> None:
    write_fragment(layout.fragments, make_rows("a"))
    path = write_fragment(layout.fragments, make_rows("b"))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(StoreError, match=rf"^store\.damaged-fragment at .*{path.name}"):
        read_rows(layout)
    assert read_rows(layout, past_damage=True)["run_id"].to_pylist() == ["a"]


_TAILS = st.text("0123456789abcdef", min_size=2, max_size=2)
_IDS = st.one_of(
    st.text("0123456789abcdef", min_size=18, max_size=18),
    _TAILS.map("0123456789abcdef".__add__),
    _TAILS.map("0123456789abcdeg".__add__),
    st.sampled_from(["a", "0123456789abcdef00"]),
)
"""Of equal and of other lengths, with equal beginnings, and with characters that are no digits."""


@given(st.lists(_IDS, max_size=8), st.integers(0, 3), st.sampled_from([pa.string(), pa.large_string()]))
def test_every_run_has_its_best_row_in_the_order_of_their_ids(
    ids: list[str], skipped: int, kind: pa.DataType
) -> None:
    """The rows are a part of a table, and each is worse than those of the same run after it."""
    run_ids = ["f" * 18] * skipped + ids
    every = pa.table(
        {
            "run_id": pa.array(run_ids, kind),
            "status": pa.array(["ok"] * len(run_ids), pa.string()),
            "error_kind": pa.nulls(len(run_ids), pa.string()),
            "number": pa.array(range(len(run_ids)), pa.int64()),
        }
    )
    rows = every.slice(skipped)
    places = np.arange(len(ids))[::-1].copy()
    best = {row["run_id"]: row["number"] for row in rows.to_pylist()}
    found = select_best_rows(rows, places)
    assert found["run_id"].to_pylist() == sorted(best)
    assert found["number"].to_pylist() == [best[run] for run in sorted(best)]
