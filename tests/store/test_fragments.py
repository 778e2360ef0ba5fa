"""A fragment is named after its runs, complete or quarantined, and written idempotently."""

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from destage.errors import StoreError
from destage.store.files import durable
from destage.store.files.digests import digest_of
from destage.store.files.durable import temporary_name, this_host, write_durably
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.adoption import FOREIGN_S, adopt_fragments
from destage.store.fragment_files.fragments import fragment_key, open_fragment, write_fragment
from destage.store.fragment_files.stored_rows import list_complete_fragments

MakeRows = Callable[..., pa.Table]


def test_the_key_depends_on_the_runs_and_not_on_their_order() -> None:
    assert fragment_key(["a", "b"]) == fragment_key(["b", "a"])
    assert fragment_key(["a", "b"]) != fragment_key(["a"])
    assert fragment_key(["ab"]) != fragment_key(["a", "b"])


def test_rows_of_failures_never_replace_results(make_rows: MakeRows, layout: SweepLayout) -> None:
    write_fragment(layout.fragments, make_rows("a"))
    write_fragment(layout.fragments, make_rows("a", status="failed", error_kind="infrastructure"))
    assert len({path.name[:32] for path in layout.fragments.iterdir()}) == 2


def test_writing_the_same_runs_again_leaves_one_file(make_rows: MakeRows, layout: SweepLayout) -> None:
    first = write_fragment(layout.fragments, make_rows("a", "b"))
    again = write_fragment(layout.fragments, make_rows("a", "b"))
    assert first == again
    assert list(layout.fragments.iterdir()) == [first]
    with open_fragment(first) as file:
        assert file.metadata.num_rows == 2


def test_a_whole_fragment_stays(make_rows: MakeRows, layout: SweepLayout) -> None:
    fragment = write_fragment(layout.fragments, make_rows("a", "b"))
    assert adopt_fragments(layout).warnings == []
    assert list(layout.fragments.iterdir()) == [fragment]


@pytest.mark.parametrize("kept", [0, 10, 0.5, -1])
def test_a_torn_fragment_is_quarantined(make_rows: MakeRows, layout: SweepLayout, kept: float) -> None:
    path = Path(str(write_fragment(layout.fragments, make_rows("a", "b"))))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole)) if isinstance(kept, float) else kept])
    (warning,) = adopt_fragments(layout).warnings
    assert (warning.code, warning.place) == ("store.damaged-fragment", path.name)
    assert not path.exists()
    assert (layout.quarantine / path.name).is_file()


def test_foreign_files_are_quarantined(make_rows: MakeRows, layout: SweepLayout) -> None:
    path = Path(str(write_fragment(layout.fragments, make_rows("a"))))
    (layout.fragments / f"{'0' * 32}.parquet").write_bytes(path.read_bytes())  # as earlier versions wrote it
    (layout.fragments / "notes.txt").write_text("mine")
    (layout.fragments / "folder").mkdir()
    warnings = adopt_fragments(layout).warnings
    assert [warning.code for warning in warnings] == ["store.foreign-file"] * 3
    assert [entry.name for entry in layout.fragments.iterdir()] == [path.name]


def test_temporary_files_of_dead_writers_are_removed(layout: SweepLayout) -> None:
    dead, alive = (layout.fragments / f".aa.{this_host()}.{pid}.tmp" for pid in (999999999, 1))
    dead.write_bytes(b"half")
    alive.write_bytes(b"half")
    assert adopt_fragments(layout).warnings == []
    assert not dead.exists()
    assert alive.exists()


def test_opening_reports_what_is_wrong(layout: SweepLayout) -> None:
    content = b"PAR1 not really"
    for name, code in [
        ("x.parquet", "foreign-file"),
        (f"x-{'0' * 32}.parquet", "damaged-fragment"),
        (f"x-{digest_of(content)}.parquet", "foreign-file"),
    ]:
        path = layout.fragments / name
        path.write_bytes(content)
        with pytest.raises(StoreError, match=rf"^store\.{code} at {name}: "), open_fragment(path):
            pass


def test_a_listed_fragment_is_opened_once(
    make_rows: MakeRows, layout: SweepLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listing the fragments again opens none of them, and still notices damage and a foreign file."""
    first, second = (write_fragment(layout.fragments, make_rows(name)) for name in ("once-1", "once-2"))
    assert sorted(list_complete_fragments(layout)) == sorted([first, second])
    with monkeypatch.context() as blind:
        blind.setattr("pyarrow.parquet.ParquetFile", lambda _: pytest.fail("a fragment was opened"))
        assert sorted(list_complete_fragments(layout)) == sorted([first, second])
    (layout.fragments / "foreign.parquet").write_bytes(b"PAR1")
    assert sorted(list_complete_fragments(layout)) == sorted([first, second])
    assert isinstance(first, Path)
    first.write_bytes(first.read_bytes()[:-1])
    with pytest.raises(StoreError, match=r"^store\.damaged-fragment"):
        list_complete_fragments(layout)


def test_quarantine_never_replaces_an_earlier_file(layout: SweepLayout) -> None:
    for text in ("first", "second"):
        (layout.fragments / "folder").mkdir()
        (layout.fragments / "folder" / "notes").write_text(text)
        (layout.fragments / "notes.txt").write_text(text)
        assert len(adopt_fragments(layout).warnings) == 2
    kept = sorted(path.read_text() for path in layout.quarantine.rglob("*") if path.is_file())
    assert kept == ["first", "first", "second", "second"]


def test_temporary_files_are_removed_in_every_folder(layout: SweepLayout) -> None:
    left = [
        directory / f".plan.parquet.{this_host()}.999999999.tmp"
        for directory in (layout.generations, layout.fragments)
    ]
    for path in left:
        path.write_bytes(b"half")
    adopt_fragments(layout)
    assert not any(path.exists() for path in left)


def test_temporary_files_of_another_machine_expire(
    layout: SweepLayout,
) -> None:
    fresh, old = (layout.fragments / f".{name}.worker-7.999999999.tmp" for name in "ab")
    for path in (fresh, old):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - FOREIGN_S - 60,) * 2)
    adopt_fragments(layout)
    assert fresh.exists()
    assert not old.exists()


def test_a_temporary_name_has_machine_and_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "worker-7.cluster.local")
    name = temporary_name("key")
    assert name.startswith(".key.")
    assert name.endswith(f".worker-7-cluster-local.{os.getpid()}.tmp")


def test_two_writers_of_one_process_have_different_temporary_names() -> None:
    assert temporary_name("key") != temporary_name("key")


def test_a_write_that_fails_leaves_no_temporary_file(
    layout: SweepLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="^store.not-writable "):
        write_durably(layout.generations / "x", b"data")
    assert not list(layout.generations.glob(".*.tmp"))


def test_a_writer_paused_half_way_leaves_the_copy_of_another_whole(
    make_rows: MakeRows, layout: SweepLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = make_rows("a", events=1), make_rows("a", events=2)
    written = []
    passed: list[str] = []

    def pause(name: str) -> None:
        passed.append(name)
        if passed == ["mid_tmp"]:
            written.append(write_fragment(layout.fragments, second))

    monkeypatch.setattr(durable, "pass_point", pause)
    written.append(write_fragment(layout.fragments, first))
    found = []
    for path in written:
        with open_fragment(path) as file:
            found.append(file.read()["events"].to_pylist())
    assert found == [[2], [1]]
