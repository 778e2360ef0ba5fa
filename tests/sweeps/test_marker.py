"""A worker executes runs only for a driver whose marker it sees, with the same Destage version."""

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from destage.errors import StoreError
from destage.sweeps.workers import machine_failures
from destage.sweeps.workers.machine_failures import (
    WorkerMismatchError,
    check_marker,
    remove_markers,
    write_marker,
)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_failures, "_PAUSES_S", (0.0,))


def test_only_the_newest_marker_counts_and_all_are_removed(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").touch()
    first = write_marker(tmp_path)
    check_marker(first)
    second = write_marker(tmp_path)
    check_marker(second)
    with pytest.raises(WorkerMismatchError) as caught:
        check_marker(first)
    assert (caught.value.code, caught.value.place) == ("sweep.worker-store-mismatch", socket.gethostname())
    remove_markers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["spec.yaml"]


def test_another_directory_or_version_is_rejected(tmp_path: Path) -> None:
    written = write_marker(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with pytest.raises(WorkerMismatchError) as caught:
        check_marker(replace(written, sweep=str(elsewhere)))
    assert caught.value.code == "sweep.worker-store-mismatch"
    with pytest.raises(WorkerMismatchError) as caught:
        check_marker(replace(written, release=("9.9", 1)))
    assert caught.value.code == "sweep.worker-version-mismatch"
    assert caught.value.data["driver"] == "9.9 (results 1)"


def test_a_directory_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        write_marker(tmp_path / "gone")
    assert (caught.value.code, caught.value.place) == ("store.not-writable", str(tmp_path / "gone"))
