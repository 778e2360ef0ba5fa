"""The index of a sweep: it spares reading fragments, and never hides what they have or lack."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from destage.errors import StoreError
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files import commits
from destage.store.fragment_files.adoption import adopt_fragments
from destage.store.fragment_files.commits import IndexWriter
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.index import Stamp, find_settled, read_segments
from destage.store.fragment_files.merging import compact
from destage.store.fragment_files.stored_rows import list_complete_fragments, read_rows, rows_schema
from destage.store.state.head import Head, claim_generation, find_head, list_segments

MakeRows = Callable[..., pa.Table]
COLUMNS = ["events"]


def _commit(layout: SweepLayout, writer: IndexWriter, rows: pa.Table) -> Path:
    path = write_fragment(layout.fragments, rows)
    writer.add(path.name, rows)
    return Path(str(path))


@pytest.fixture
def indexed(make_rows: MakeRows, layout: SweepLayout) -> list[Path]:
    """Write four fragments, two of which share a run, and an index of three of them."""
    writer = IndexWriter(claim_generation(layout), COLUMNS)
    paths = [_commit(layout, writer, make_rows(f"a{n}", f"b{n}", events=n)) for n in range(2)]
    paths.append(_commit(layout, writer, make_rows("a0", "c", status="failed", error_kind="oom")))
    writer.write()
    paths.append(Path(str(write_fragment(layout.fragments, make_rows("late", events=9)))))
    return paths


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the fragments that are opened from now on."""
    from destage.store.fragment_files import adoption, stored_rows  # noqa: PLC0415

    names: list[str] = []
    for module in (adoption, stored_rows):
        inner = module.open_fragment

        def open_one(path: Any, inner: Any = inner) -> Any:
            names.append(path.name)
            return inner(path)

        monkeypatch.setattr(module, "open_fragment", open_one)
    return names


def _read(layout: SweepLayout) -> list[Any]:
    return read_rows(layout, COLUMNS).to_pylist()


def test_rows_are_those_of_the_fragments(layout: SweepLayout, indexed: list[Path], opened: list[str]) -> None:
    found = _read(layout)
    assert opened == [indexed[3].name]
    assert adopt_fragments(layout, COLUMNS).collect(rows_schema(COLUMNS)).to_pylist() == found
    assert opened == [indexed[3].name] * 2
    for path in list_segments(layout):
        path.unlink()
    assert _read(layout) == found
    assert [row["run_id"] for row in found] == ["a0", "a1", "b0", "b1", "c", "late"]
    assert (found[0]["status"], found[0]["events"]) == ("ok", 0)


def test_other_columns_are_read_from_the_fragments(
    layout: SweepLayout, indexed: list[Path], opened: list[str]
) -> None:
    assert read_rows(layout, ["requests"]).num_rows == 6
    assert sorted(opened) == sorted(path.name for path in indexed)


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "remove"])
def test_a_damaged_segment_counts_as_absent(
    layout: SweepLayout, indexed: list[Path], opened: list[str], damage: str
) -> None:
    found = _read(layout)
    opened.clear()
    (segment,) = (Path(str(path)) for path in list_segments(layout))
    data = segment.read_bytes()
    if damage == "remove":
        segment.unlink()
    else:
        flipped = bytes([*data[:99], data[99] ^ 4, *data[100:]])
        segment.write_bytes({"flip": flipped, "truncate": data[:-9], "empty": b""}[damage])
    assert _read(layout) == found
    assert len(opened) == len(indexed)


def test_a_deleted_fragment_is_not_read_from_the_index(layout: SweepLayout, indexed: list[Path]) -> None:
    indexed[1].unlink()
    assert [row["run_id"] for row in _read(layout)] == ["a0", "b0", "c", "late"]


def test_damage_of_an_indexed_fragment_is_seen(layout: SweepLayout, indexed: list[Path]) -> None:
    """Readers name the file, and the next writer moves it away, so that its runs are executed again."""
    data = indexed[1].read_bytes()
    indexed[1].write_bytes(bytes([*data[:50], data[50] ^ 1, *data[51:]]))
    with pytest.raises(StoreError, match=r"^store\.damaged-fragment") as caught:
        _read(layout)
    assert indexed[1].name in caught.value.place
    adoption = adopt_fragments(layout, COLUMNS)
    assert [warning.place for warning in adoption.warnings] == [indexed[1].name]
    assert [row["run_id"] for row in _read(layout)] == ["a0", "b0", "c", "late"]


def test_a_superseded_writer_adds_only_true_entries(make_rows: MakeRows, layout: SweepLayout) -> None:
    paused = IndexWriter(claim_generation(layout), COLUMNS)
    first = _commit(layout, paused, make_rows("a", events=1))
    later = claim_generation(layout)
    writer = IndexWriter(later, COLUMNS)
    _commit(layout, writer, make_rows("b", events=2))
    first.unlink()
    writer.write()
    paused.write()
    assert [(row["run_id"], row["events"]) for row in _read(layout)] == [("b", 2)]


def test_segments_outlive_their_generation(make_rows: MakeRows, layout: SweepLayout) -> None:
    writer = IndexWriter(claim_generation(layout), COLUMNS)
    _commit(layout, writer, make_rows("a"))
    writer.write()
    generation = claim_generation(layout)
    head = Head(generation.write("study", ".yaml", b"x"))
    generation.publish(head)
    generation.drop_earlier(head)
    assert len(list_segments(layout)) == 1
    assert find_head(layout) == (generation.name, head)


def test_many_segments_become_one(
    make_rows: MakeRows, layout: SweepLayout, monkeypatch: pytest.MonkeyPatch, opened: list[str]
) -> None:
    monkeypatch.setattr(commits, "_MOST_SEGMENTS", 4)
    writer = IndexWriter(claim_generation(layout), COLUMNS)
    for number in range(4):
        _commit(layout, writer, make_rows(f"a{number}", f"b{number}", events=number))
        writer.write()
    (segment,) = read_segments(layout, COLUMNS)
    assert len(segment.entries) == 4
    assert [row["run_id"] for row in _read(layout)] == [f"{k}{n}" for k in "ab" for n in range(4)]
    assert opened == []


def test_fragments_without_a_new_column_are_indexed_with_nulls(
    make_rows: MakeRows, layout: SweepLayout
) -> None:
    writer = IndexWriter(claim_generation(layout), ["events", "requests"])
    rows = make_rows("old").drop_columns(["requests"])
    _commit(layout, writer, rows)
    _commit(layout, writer, make_rows("new"))
    before = read_rows(layout, ["requests"]).to_pylist()
    writer.write()
    assert read_rows(layout, ["requests"]).to_pylist() == before


def test_compaction_leaves_no_stale_rows(layout: SweepLayout, indexed: list[Path]) -> None:
    found = _read(layout)
    compact(layout)
    assert len(list_complete_fragments(layout)) < len(indexed)
    assert _read(layout) == found


def test_objects_of_the_last_seconds_are_not_settled() -> None:
    stamps = {str(time): Stamp(Path("x"), 1, float(time)) for time in (100, 104, 106, 107)}
    assert sorted(find_settled(stamps)) == ["100", "104"]
    files = {"a": Stamp(Path("a"), 1), "b": Stamp(Path("b"), 1)}
    assert find_settled(files) == files
