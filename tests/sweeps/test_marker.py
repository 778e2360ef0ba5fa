"""A worker works only for a driver whose mark it sees, and with the same Destage."""

from dataclasses import replace
from pathlib import Path

import pytest

from destage.errors import StoreError
from destage.sweeps import marks
from destage.sweeps.marker import WorkerMismatchError, check_marker, remove_markers, write_marker


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "_PAUSES_S", (0.0,))


def test_the_mark_of_the_last_driver_counts_and_none_is_left(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").touch()
    first = write_marker(tmp_path)
    check_marker(first)
    second = write_marker(tmp_path)
    check_marker(second)
    with pytest.raises(WorkerMismatchError, match="does not see the sweep's folder"):
        check_marker(first)
    remove_markers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["spec.yaml"]


def test_another_folder_and_another_destage_are_refused(tmp_path: Path) -> None:
    mark = write_marker(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with pytest.raises(WorkerMismatchError, match=r"does not see .*elsewhere: .*mount the same folder"):
        check_marker(replace(mark, sweep=str(elsewhere)))
    other = replace(mark, release=("9.9", 1))
    with pytest.raises(WorkerMismatchError, match=r"is driven by 9.9 \(results 1\): install the same"):
        check_marker(other)


def test_a_mark_that_cannot_be_left_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="gone cannot be written: No such file or directory"):
        write_marker(tmp_path / "gone")
