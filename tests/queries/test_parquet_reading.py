"""A session reads Parquet files: every stored run once, typed, whatever the fragments look like."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from destage.errors import QueryError, StoreError
from destage.queries import Session, open_session
from destage.queries.opening import session as opening
from destage.queries.tables import relations
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.merging import compact
from destage.store.fragment_files.stored_rows import read_rows, rows_schema

DISKS = "array.disks"
AXES = {DISKS: pa.int64()}


def plan_run(run_id: str, disks: int = 4, **more: Any) -> dict[str, Any]:
    return {"point_id": f"p{disks}", "replicate": 0, "run_id": run_id, DISKS: disks, **more}


def write_rows(session: Session, *rows: dict[str, Any]) -> str:
    """Add a fragment to a session's sweep; return its name."""
    full = [{name: row.get(name) for name in rows_schema().names} for row in rows]
    return write_fragment(session.sweep.path / "fragments", pa.Table.from_pylist(full, rows_schema())).name


def test_a_run_of_several_fragments_counts_once(make_session: Any) -> None:
    """A result wins over a failure, then the row of the lowest fragment name."""
    planned = [plan_run(name, disks) for disks, name in enumerate("abcd")]
    session = make_session(planned_only=planned, axes=AXES)
    write_rows(session, *({"run_id": name, "status": "failed", "error_kind": "oom"} for name in "ab"))
    for events in range(3):
        others = [{"run_id": f"other-{events}", "status": "ok"}] * (events > 0)
        write_rows(session, {"run_id": "a", "status": "ok", "events": events}, *others)
    write_rows(session, {"run_id": "c", "status": "ok", "events": 9})
    expected = {row["run_id"]: row for row in read_rows(SweepLayout(session.sweep.path)).to_pylist()}
    with open_session(session.sweep.path) as opened:
        rows = opened.sql("SELECT run_id, status, events FROM runs ORDER BY run_id").to_pylist()
    assert [row["run_id"] for row in rows] == ["a", "b", "c"]
    assert rows == [{name: expected[row["run_id"]][name] for name in row} for row in rows]
    assert rows[1]["status"] == "failed"


def test_many_small_fragments_give_the_same_rows(make_session: Any) -> None:
    planned = [plan_run(f"r{at:02}", at) for at in range(40)]
    session = make_session(planned_only=planned, axes=AXES)
    for at in range(40):
        write_rows(session, {"run_id": f"r{at:02}", "status": "ok", "events": at})
        write_rows(session, {"run_id": f"r{at:02}", "status": "failed"}, {"run_id": f"x{at}", "status": "ok"})
    with open_session(session.sweep.path) as opened:
        rows = opened.sql("SELECT run_id, status, events FROM runs").to_pylist()
    assert rows == [{"run_id": f"r{at:02}", "status": "ok", "events": at} for at in range(40)]


def test_a_column_that_fragments_lack_is_null_with_its_type(make_session: Any) -> None:
    session = make_session([plan_run("new", 4, hit_ratio=0.5)], planned_only=[plan_run("old", 6)], axes=AXES)
    table = pa.table({"run_id": ["old"], "status": ["ok"], "error_kind": pa.nulls(1, pa.string())})
    write_fragment(session.sweep.path / "fragments", table)
    with open_session(session.sweep.path) as opened:
        found = opened.sql("SELECT run_id, hit_ratio, timeline_s FROM runs ORDER BY run_id")
    assert found["hit_ratio"].to_pylist() == [0.5, None]
    assert found.schema.field("timeline_s").type == pa.list_(pa.float64())


def test_a_column_that_no_fragment_has_is_null_with_its_type(make_session: Any) -> None:
    session = make_session(planned_only=[plan_run("old")], axes=AXES)
    table = pa.table({"run_id": ["old"], "status": ["ok"], "error_kind": pa.nulls(1, pa.string())})
    write_fragment(session.sweep.path / "fragments", table)
    with open_session(session.sweep.path) as opened:
        runs = opened.sql("FROM runs")
        assert runs.num_rows == 1
        assert runs.schema.field("events").type == pa.int64()
        assert opened.query("design_space").num_rows == 1


def test_torn_and_foreign_files_have_no_rows(make_session: Any) -> None:
    session = make_session([plan_run("a")], axes=AXES)
    folder = session.sweep.path / "fragments"
    (folder / "torn.parquet").write_bytes(b"PAR1")
    pq.write_table(pa.table({"run_id": ["b"], "status": ["ok"]}), folder / "foreign.parquet")
    with open_session(session.sweep.path) as opened:
        assert opened.sql("SELECT run_id FROM stored_rows").to_pylist() == [{"run_id": "a"}]


def test_a_damaged_fragment_is_an_error(make_session: Any) -> None:
    session = make_session(planned_only=[plan_run("a")], axes=AXES)
    layout = SweepLayout(session.sweep.path)
    fragment = write_fragment(
        layout.fragments,
        pa.table({"run_id": ["a"], "status": ["ok"], "error_kind": pa.nulls(1, pa.string())}),
    )
    fragment.write_bytes(b"\0" * 1000)
    with pytest.raises(StoreError) as caught:
        open_session(layout.root)
    assert caught.value.code == "store.damaged-fragment"


def test_a_session_survives_a_compaction(make_session: Any) -> None:
    planned = [plan_run(f"r{at}", at) for at in range(4)]
    session = make_session(planned_only=planned, axes=AXES)
    for at in range(4):
        write_rows(session, {"run_id": f"r{at}", "status": "ok", "events": at})
    with open_session(session.sweep.path) as opened:
        assert compact(SweepLayout(session.sweep.path)).after == 1
        assert opened.sql("SELECT sum(events)::BIGINT AS n FROM runs").to_pylist() == [{"n": 6}]


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda session: session.missing_runs, 0),
        (lambda session: session.planned_runs, 4),
        (lambda session: session.point_count, 4),
        (lambda session: len(session.points.find({})), 4),
        (lambda session: session.sql("SELECT count(*) AS n FROM runs")["n"][0].as_py(), 4),
        (lambda session: session.run(session.split("SELECT count(*) AS n FROM runs")[0])[0][0].as_py(), 4),
    ],
)
def test_whatever_a_session_reads_survives_a_compaction(
    make_session: Any, read: Callable[[Session], int], expected: int
) -> None:
    """Also where a second one replaces the files of the first before they are read."""
    planned = [plan_run(f"r{at}", at) for at in range(4)]
    session = make_session(planned_only=planned, axes=AXES)
    for at in range(4):
        write_rows(session, {"run_id": f"r{at}", "status": "ok", "events": at})
    again = iter([True])

    class Replaced(Session):
        def _reopen(self) -> None:
            super()._reopen()
            if next(again, False):
                write_rows(session, {"run_id": "other", "status": "ok"})
                assert compact(SweepLayout(session.sweep.path)).after == 1
                assert not all(Path(file).exists() for file in self.relations.files)

    with Replaced(session.sweep) as opened:
        assert compact(SweepLayout(session.sweep.path)).after == 1
        assert read(opened) == expected


def test_runs_are_those_of_the_plan_in_its_order(make_session: Any) -> None:
    """`runs` has the columns and rows that the store's own join gives, a configuration once."""
    runs = [plan_run(f"r{9 - at}", at, events=at, array_names=["a", "b"]) for at in range(9)]
    session = make_session([*runs, {**runs[0], "point_id": "twin"}], axes=AXES)
    expected = [row for row in session.sweep.runs().to_pylist() if row["point_id"] != "twin"]
    assert session.sql("FROM runs").to_pylist() == expected
    assert session.sql("FROM runs").column_names == session.sweep.runs().column_names


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_parquet('{plan}x')",
        "SELECT * FROM read_parquet('{folder}/*.parquet')",
        "SELECT * FROM read_parquet(['{own}', '{other}'])",
        "SELECT * FROM parquet_metadata('{other}')",
        "SELECT * FROM parquet_schema('{other}')",
        "SELECT * FROM read_blob('{other}')",
        "SELECT * FROM read_text('{folder}/../spec.yaml')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '{other}'",
        "SELECT * FROM glob('{folder}/*')",
        "COPY (SELECT 1) TO '{own}'",
        "COPY (SELECT 1) TO '{other}'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{own}'",
        "ATTACH '{own}'",
        "SET allowed_paths = ['{other}']",
        "CREATE VIEW v AS FROM read_parquet('{other}')",
    ],
)
def test_a_statement_reaches_no_file_but_the_sweeps(make_session: Any, statement: str) -> None:
    session = make_session([plan_run("a", events=7)], axes=AXES)
    folder = session.sweep.path / "fragments"
    own = next(folder.iterdir())
    other = folder.parent / "other.parquet"
    pq.write_table(pa.table({"secret": [1]}), other)
    before = {path: path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()}
    named = statement.format(folder=folder, own=own, other=other, plan=folder.parent / "plan.parquet")
    with pytest.raises(QueryError) as caught:
        session.sql(named)
    assert caught.value.code in {"query.access-denied", "query.statement-not-allowed"}
    assert before == {path: path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()}
    assert session.sql("SELECT events FROM runs").to_pylist() == [{"events": 7}]


def test_a_closed_session_leaves_no_temporary_file(
    make_session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session(planned_only=[plan_run(f"r{at}", at) for at in range(20)], axes=AXES)
    for at in range(20):
        write_rows(session, {"run_id": f"r{at}", "status": "ok"})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with open_session(session.sweep.path) as opened:
        assert opened.sql("SELECT count(*) AS n FROM runs").to_pylist() == [{"n": 20}]
        assert list(scratch.rglob("*.parquet"))
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("folder", ["fragments", "generations"])
@pytest.mark.parametrize("step", ["copy_objects", "open_relations"])
@pytest.mark.parametrize("kept", [20, 0])
def test_a_file_damaged_while_it_is_opened_is_named(
    make_session: Any, monkeypatch: pytest.MonkeyPatch, folder: str, step: str, kept: int
) -> None:
    """What DuckDB and Arrow say of its content does not name it."""
    session = make_session([plan_run("a", 4, hit_ratio=0.5)], axes=AXES)
    (file,) = (session.sweep.path / folder).glob("*.parquet")
    module = relations if step == "copy_objects" else opening
    inner = getattr(module, step)

    def damage(*arguments: Any) -> Any:
        made = inner(*arguments)
        content = bytearray(file.read_bytes())
        content[kept : len(content) - kept] = bytes(len(content) - 2 * kept)
        file.write_bytes(bytes(content))
        return made

    monkeypatch.setattr(module, step, damage)
    match = rf"^store\.damaged-(file|fragment) at .*{file.name}"
    with pytest.raises(StoreError, match=match), open_session(session.sweep.path) as opened:
        opened.sql("FROM runs")


def test_a_fragment_damaged_after_it_was_opened_is_named(make_session: Any) -> None:
    session = make_session([plan_run("a", 4, hit_ratio=0.5)], axes=AXES)
    (fragment,) = (session.sweep.path / "fragments").iterdir()
    with open_session(session.sweep.path) as opened:
        content = bytearray(fragment.read_bytes())
        content[20:-20] = bytes(len(content) - 40)
        fragment.write_bytes(bytes(content))
        with pytest.raises(StoreError, match=rf"^store\.damaged-file at .*{fragment.name}"):
            opened.sql("FROM stored_rows")


def test_the_rows_of_a_small_sweep_are_read_once(make_session: Any) -> None:
    """Later statements read other columns from memory."""
    session = make_session([plan_run("a", 4, hit_ratio=0.5)], axes=AXES)
    (fragment,) = (session.sweep.path / "fragments").iterdir()
    with open_session(session.sweep.path) as opened:
        assert opened.sql("SELECT run_id FROM stored_rows").num_rows == 1
        fragment.unlink()
        assert opened.sql("SELECT hit_ratio FROM runs").to_pylist() == [{"hit_ratio": 0.5}]


def test_a_damaged_column_hides_no_other(make_session: Any) -> None:
    """The rows are not copied then, so that what can be read is still there."""
    session = make_session([plan_run("a", 4, hit_ratio=0.5)], axes=AXES)
    (fragment,) = (session.sweep.path / "fragments").iterdir()
    group = pq.read_metadata(fragment).row_group(0)
    names = [group.column(at).path_in_schema for at in range(group.num_columns)]
    column = group.column(names.index("hit_ratio"))
    with open_session(session.sweep.path) as opened:
        content = bytearray(fragment.read_bytes())
        start = column.dictionary_page_offset or column.data_page_offset
        content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
        fragment.write_bytes(bytes(content))
        assert opened.sql("SELECT run_id FROM stored_rows").to_pylist() == [{"run_id": "a"}]
        with pytest.raises(StoreError, match=r"^store\.damaged-"):
            opened.sql("SELECT hit_ratio FROM stored_rows")
