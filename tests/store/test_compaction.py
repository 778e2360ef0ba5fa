"""Compaction keeps all rows in fewer files, also when killed or read at the same time."""

import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from destage.errors import StoreError
from destage.objects import Location
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files import merging, stored_rows
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.merging import compact
from destage.store.fragment_files.stored_rows import find_present_runs, read_rows
from destage.store.locks.lease import hold_lease

MakeRows = Callable[..., pa.Table]
_COMPACT = """
import sys
from pathlib import Path
from destage.store.fragment_files.merging import compact
from destage.store.files.layout import SweepLayout
compact(SweepLayout(Path(sys.argv[1])))
"""


def _files(layout: SweepLayout) -> list[str]:
    return sorted(path.name for path in Path(str(layout.fragments)).iterdir())


@pytest.fixture
def many(layout: SweepLayout, make_rows: MakeRows) -> SweepLayout:
    """Return a sweep of thirty fragments, one with a duplicate run, one not executed."""
    for number in range(28):
        write_fragment(layout.fragments, make_rows(f"a{number}", f"b{number}", events=number))
    write_fragment(layout.fragments, make_rows("a3", "z", status="failed", error_kind="configuration"))
    write_fragment(layout.fragments, make_rows("lost", status="failed", error_kind="oom"))
    return layout


def test_fewer_fragments_hold_the_same_rows(many: SweepLayout) -> None:
    before = read_rows(many)
    done = compact(many)
    assert (done.before, done.after, done.warnings) == (30, 2, ())  # a run that was not executed has its own
    assert read_rows(many).equals(before)
    assert find_present_runs(before) == find_present_runs(read_rows(many))
    assert compact(many).after == 2
    assert read_rows(many).equals(before)


def test_rows_of_a_duplicate_run_are_written_once(many: SweepLayout) -> None:
    compact(many)
    read = [pq.read_table(many.fragments / name, columns=["run_id"])["run_id"] for name in _files(many)]
    assert sorted(map(len, read)) == [1, 57]
    assert len({run_id for ids in read for run_id in ids.to_pylist()}) == 58


def test_a_kill_before_the_deletion_loses_no_row(many: SweepLayout) -> None:
    before = read_rows(many)
    killed = subprocess.run(
        [sys.executable, "-c", _COMPACT, str(many.root)],
        env={"DESTAGE_FAIL_POINT": "after_rename", "PYTHONPATH": ":".join(sys.path)},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(_files(many)) == 31
    assert read_rows(many).equals(before)
    assert compact(many).after == 2
    assert read_rows(many).equals(before)


def test_memory_limits_the_size_of_a_fragment(many: SweepLayout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "_MOST_MEMORY", 1)
    monkeypatch.setattr(merging, "_PORTION", 10)
    before = read_rows(many)
    done = compact(many)
    assert done.after == 4
    assert read_rows(many).equals(before)


def test_a_reader_with_an_old_list_lists_again(many: SweepLayout, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read_rows(many)
    inner, times = stored_rows.open_fragment, []

    def open_one(path: Location) -> AbstractContextManager[pq.ParquetFile]:
        times.append(path)
        if len(times) == 5:
            compact(many)
        return inner(path)

    monkeypatch.setattr(stored_rows, "open_fragment", open_one)
    assert read_rows(many).equals(before)
    assert len(times) < 30


def test_a_locked_sweep_is_not_compacted(many: SweepLayout) -> None:
    files = _files(many)
    with hold_lease(many.lease), pytest.raises(StoreError, match="^store.locked "):
        compact(many)
    assert _files(many) == files
