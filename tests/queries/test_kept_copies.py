"""Many small fragments are copied into one file, which the folder of the sweep keeps for the next reader."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from destage.errors import StoreError
from destage.queries import Session, open_session
from destage.queries.tables import relations
from destage.sql import file_connection
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.merging import compact
from destage.store.fragment_files.stored_rows import rows_schema
from destage.store.state.removal import remove_sweep

DISKS = "array.disks"
RUNS = relations._MOST_FILES + 4


@pytest.fixture(autouse=True)
def _few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "_FEWEST_KEPT", RUNS)
    monkeypatch.setattr(file_connection, "_PORTION", 7)


def add_row(path: Path, at: int, **columns: Any) -> Path:
    row = {"run_id": f"r{at:03}", "status": "ok", "events": at, **columns}
    full = {name: row.get(name) for name in rows_schema().names}
    written = write_fragment(path / "fragments", pa.Table.from_pylist([full], rows_schema()))
    assert isinstance(written, Path)
    return written


@pytest.fixture
def path(make_session: Any) -> Path:
    planned = [
        {"point_id": f"p{at}", "replicate": 0, "run_id": f"r{at:03}", DISKS: at} for at in range(2 * RUNS)
    ]
    session = make_session(planned_only=planned, axes={DISKS: pa.int64()})
    for at in range(RUNS):
        add_row(session.sweep.path, at)
    found = session.sweep.path
    assert isinstance(found, Path)
    return found


def read(path: Path) -> list[tuple[str, int]]:
    with open_session(path) as opened:
        rows = opened.sql("SELECT run_id, events FROM runs ORDER BY run_id").to_pylist()
    return [(row["run_id"], row["events"]) for row in rows]


def expect(count: int) -> list[tuple[str, int]]:
    return [(f"r{at:03}", at) for at in range(count)]


def copies(path: Path) -> list[Path]:
    folder = SweepLayout(path).copies
    assert isinstance(folder, Path)
    return sorted(folder.iterdir()) if folder.exists() else []


def names(path: Path) -> tuple[str, ...]:
    with open_session(path) as opened:
        return opened.relations.fragments


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many fragments were in each copy that was written."""
    counts: list[int] = []
    whole = relations.merge_files

    def count(files: Any, column: str, target: Path) -> None:
        counts.append(len(files))
        whole(files, column, target)

    monkeypatch.setattr(relations, "merge_files", count)
    return counts


def test_a_second_reader_writes_and_checks_nothing(
    path: Path, written: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = names(path)
    assert read(path) == expect(RUNS)
    assert written == [RUNS]
    assert len(copies(path)) == 1
    monkeypatch.setattr("destage.store.fragment_files.stored_rows.check_fragment", None)
    assert read(path) == expect(RUNS)
    assert names(path) == first == tuple(sorted(file.name for file in (path / "fragments").iterdir()))


def test_a_new_fragment_makes_a_new_copy_in_place_of_the_old_one(path: Path, written: list[int]) -> None:
    read(path)
    before = copies(path)
    (path / "copies" / ".left-by-a-killed-reader").touch()
    add_row(path, RUNS)
    assert read(path) == expect(RUNS + 1)
    (after,) = copies(path)
    assert [after] != before
    assert written == [RUNS, RUNS + 1]


def test_a_reader_of_the_old_copy_goes_on_with_the_new_one(path: Path) -> None:
    with open_session(path) as opened:
        add_row(path, RUNS)
        read(path)
        assert opened.sql("SELECT count(*) AS n FROM runs")["n"][0].as_py() == RUNS + 1


def test_a_damaged_copy_is_written_again(path: Path, written: list[int]) -> None:
    read(path)
    (copy,) = copies(path)
    content = bytearray(copy.read_bytes())
    content[len(content) // 2] ^= 1
    copy.write_bytes(bytes(content))
    assert read(path) == expect(RUNS)
    assert written == [RUNS, RUNS]


def test_a_folder_that_cannot_be_written_keeps_none(path: Path, written: list[int]) -> None:
    (path / "copies").write_text("a file where the folder would be")
    assert read(path) == read(path) == expect(RUNS)
    assert written == [RUNS, RUNS]


def test_fewer_fragments_are_copied_but_not_kept(
    path: Path, written: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relations, "_FEWEST_KEPT", RUNS + 1)
    assert read(path) == expect(RUNS)
    assert written == [RUNS]
    assert not copies(path)


def test_a_damaged_fragment_is_named_before_any_copy(path: Path) -> None:
    fragment = sorted((path / "fragments").iterdir())[3]
    fragment.write_bytes(fragment.read_bytes()[:-1] + b"\0")
    with pytest.raises(StoreError, match=f"damaged-fragment at .*{fragment.name}"):
        read(path)
    assert not copies(path)


def test_large_fragments_and_files_that_are_none_stay_out_of_the_copy(
    path: Path, written: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    large = add_row(path, RUNS, error="x" * 100_000)
    (path / "fragments" / "foreign.parquet").write_bytes(b"none")
    monkeypatch.setattr(relations, "_SMALL", 90_000)
    assert read(path) == read(path) == expect(RUNS + 1)
    assert written == [RUNS]
    assert large.name in names(path)
    assert "foreign.parquet" not in names(path)


def test_merging_makes_the_copy_needless_and_removal_takes_it(path: Path, written: list[int]) -> None:
    read(path)
    compact(SweepLayout(path))
    assert not copies(path)
    assert read(path) == expect(RUNS)
    assert written == [RUNS]
    remove_sweep(SweepLayout(path))
    assert not path.exists()


def test_points_of_a_session_read_the_kept_copy(path: Path) -> None:
    read(path)
    with open_session(path) as opened:
        part: Session = opened.select_points(["p1", "p2"])
        assert part.sql("SELECT events FROM runs ORDER BY 1")["events"].to_pylist() == [1, 2]
        part.close()
