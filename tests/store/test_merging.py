"""Fragments are merged while a sweep runs: no row is lost or counted twice, whenever it is interrupted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from destage.store.files.layout import SweepLayout
from destage.store.fragment_files import merging
from destage.store.fragment_files.adoption import adopt_fragments
from destage.store.fragment_files.commits import Commits
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.merging import find_contained
from destage.store.fragment_files.stored_rows import list_complete_fragments, read_rows
from destage.store.locks.lease import FileLease
from destage.store.state.head import claim_generation

MakeRows = Callable[..., pa.Table]
COLUMNS = ["events"]


class KilledError(Exception):
    """The process is killed here."""


class LostLease:
    """A lease that another process may hold."""

    is_lost = True


@pytest.fixture(autouse=True)
def four_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "FAN_IN", 4)


def _start(layout: SweepLayout, lease: Any = None) -> Commits:
    generation = claim_generation(layout)
    return Commits(generation, lease or FileLease(), COLUMNS, adopt_fragments(layout, COLUMNS))


def _commit(layout: SweepLayout, commits: Commits, rows: pa.Table) -> None:
    commits.add(write_fragment(layout.fragments, rows).name, rows)
    commits.update()


def _count(layout: SweepLayout) -> int:
    return len(list_complete_fragments(layout))


def _see(layout: SweepLayout) -> list[Any]:
    return read_rows(layout).to_pylist()


def test_a_session_ends_with_few_fragments(make_rows: MakeRows, layout: SweepLayout) -> None:
    commits, several = _start(layout), SweepLayout(layout.root.parent / "unmerged")
    several.make()
    for number in range(67):
        rows = make_rows(f"{number:03}", events=number)
        _commit(layout, commits, rows)
        write_fragment(several.fragments, rows)
    commits.finish(100.0)
    assert _count(layout) <= 3 * 4  # three classes of size
    assert _see(layout) == _see(several)
    assert read_rows(layout, COLUMNS).to_pylist() == read_rows(several, COLUMNS).to_pylist()
    assert commits.warnings == []


def test_replaced_fragments_stay_for_readers(make_rows: MakeRows, layout: SweepLayout) -> None:
    """A reader that has listed them can still open them; the session's end deletes them."""
    commits = _start(layout)
    for name in "abcd":
        _commit(layout, commits, make_rows(name))
    found = _see(layout)
    commits._take(commits._merger.take())
    for thread in [commits._merger._thread]:
        assert thread is not None
        commits._merger._groups.put(None)
        thread.join()
    commits.update()
    assert _count(layout) == 5
    assert _see(layout) == found
    commits.finish(1.0)
    assert _count(layout) == 1
    assert _see(layout) == found


@pytest.mark.parametrize("point", ["before_merge", "after_merge"])
def test_a_killed_merge_loses_and_repeats_nothing(
    make_rows: MakeRows, layout: SweepLayout, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    commits = _start(layout)

    def kill(name: str) -> None:
        if name == point:
            raise KilledError

    monkeypatch.setattr(merging, "pass_point", kill)
    names = [write_fragment(layout.fragments, make_rows(name)).name for name in "abcd"]
    with pytest.raises(KilledError):
        commits._merger._merge(tuple(names))
    assert [row["run_id"] for row in _see(layout)] == list("abcd")
    assert _count(layout) == (4 if point == "before_merge" else 5)
    again = _start(layout)
    assert _count(layout) == (4 if point == "before_merge" else 1)
    assert [row["run_id"] for row in _see(layout)] == list("abcd")
    again.finish(0.0)


def test_rows_without_a_result_are_not_merged(make_rows: MakeRows, layout: SweepLayout) -> None:
    commits = _start(layout)
    for number in range(8):
        _commit(layout, commits, make_rows(f"{number}", status="failed", error_kind="oom"))
    commits.finish(1.0)
    assert _count(layout) == 8


def test_a_writer_that_lost_its_lease_deletes_nothing(make_rows: MakeRows, layout: SweepLayout) -> None:
    commits = _start(layout, LostLease())
    for name in "abcdefgh":
        _commit(layout, commits, make_rows(name))
    commits.finish(1.0)
    assert {path.stem for path in Path(str(layout.fragments)).iterdir()}
    assert _count(layout) == 8


def test_a_superseded_writer_deletes_nothing(make_rows: MakeRows, layout: SweepLayout) -> None:
    commits = _start(layout)
    for name in "abcd":
        _commit(layout, commits, make_rows(name))
    claim_generation(layout)
    commits.finish(1.0)
    assert _count(layout) == 5
    assert [row["run_id"] for row in _see(layout)] == list("abcd")


def test_two_writers_that_merge_the_same_lose_nothing(make_rows: MakeRows, layout: SweepLayout) -> None:
    first, second = _start(layout), _start(layout)
    for name in "abcd":
        rows = make_rows(name)
        path = write_fragment(layout.fragments, rows)
        for commits in (first, second):
            commits.add(path.name, rows)
    for commits in (first, second):
        commits.update()
    for commits in (second, first):
        commits.finish(1.0)
    assert [row["run_id"] for row in _see(layout)] == list("abcd")


def test_a_damaged_fragment_ends_merging_with_a_warning(make_rows: MakeRows, layout: SweepLayout) -> None:
    commits = _start(layout)
    for name in "abc":
        _commit(layout, commits, make_rows(name))
    first, *_ = Path(str(layout.fragments)).iterdir()
    first.write_bytes(first.read_bytes()[:-9])
    _commit(layout, commits, make_rows("d"))
    commits.finish(1.0)
    assert [warning.code for warning in commits.warnings] == ["store.merge-failed"]
    assert len(list(Path(str(layout.fragments)).iterdir())) == 4


def test_only_whole_fragments_are_contained(make_rows: MakeRows, layout: SweepLayout) -> None:
    names = {
        key: write_fragment(layout.fragments, rows).name
        for key, rows in {
            "large": make_rows("a", "b", "c"),
            "inside": make_rows("a", "c", events=2),
            "partly": make_rows("b", "d"),
            "failed": make_rows("d", status="failed", error_kind="oom"),
            "only": make_rows("e", status="failed", error_kind="oom"),
        }.items()
    }
    found = find_contained(adopt_fragments(layout, COLUMNS).parts)
    assert found == {names["inside"], names["failed"]}
