"""`destage status --follow`: follows a writer until it ends."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_studies import small_seek
from terminals import Terminal

from destage.cli.terminal.watched_progress import WatchedProgress
from destage.errors import DestageError
from destage.store import find_sweep, locate
from destage.store.files.layout import SweepLayout
from destage.store.locks.lease import hold_lease
from destage.store.opened.counts import Counts
from destage.store.opened.recorded_progress import Status


@pytest.fixture
def unfinished(destage: Any, tmp_path: Path) -> Path:
    """A seek whose last round has lost its runs."""
    file = tmp_path / "seek.yaml"
    file.write_text(small_seek("seek", [1], 200))
    destage("run", str(file), "--quiet")
    path = find_sweep("seek", locate(str(tmp_path / "store")))
    assert isinstance(path, Path)
    for fragment in SweepLayout(path).fragments.glob("*.parquet"):
        fragment.unlink()
    return path


@pytest.fixture
def written(unfinished: Path) -> Iterator[Path]:
    """The same sweep while this process holds its lease."""
    with hold_lease(SweepLayout(unfinished).lease):
        yield unfinished


@pytest.mark.usefixtures("sweep")
def test_a_finished_sweep_ends_the_watch(destage: Any) -> None:
    done = destage("status", "small", "--follow", "--json")
    assert done.code == 0
    (found,) = json.loads(done.out).values()
    assert (found["present"], found["planned"], found["finished"]) == (8, 8, True)
    assert "finished: 8 of 8 runs in 1 round\n" in destage("status", "small", "--follow").out
    assert destage("status", "--follow").issues == [("usage.conflicting-options", "--follow")]


@pytest.mark.usefixtures("sweep")
def test_failed_runs_give_their_exit_code(destage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    status = Status(8, 8, 2, 1, finished=True, writer=None)
    monkeypatch.setattr("destage.store.opened.recorded_progress.status", lambda _: status)
    assert destage("status", "small", "--follow").code == 3


def test_a_writer_that_ended_is_an_error(
    destage: Any, unfinished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("destage.cli.terminal.watched_progress.GRACE_S", 0.0)
    done = destage("status", "seek", "--follow", "--quiet")
    assert (done.code, done.issues) == (4, [("sweep.writer-gone", unfinished.name)])


def test_a_writer_that_goes_on_outlasts_the_timeout(destage: Any, written: Path) -> None:
    done = destage("status", "seek", "--follow", "--timeout", "1")
    assert (done.code, done.issues) == (4, [("sweep.watch-timeout", written.name)])
    assert "still running after 1 s:" in done.err
    assert "running" in done.err


def test_another_process_is_followed_to_its_end(destage: Any, tmp_path: Path) -> None:
    file = tmp_path / "seek.yaml"
    file.write_text(small_seek("seek", [1, 2], 200, requests=20_000))
    code = "from destage.cli import app; app()"
    with subprocess.Popen([sys.executable, "-c", code, "run", str(file), "--quiet"]) as process:
        try:
            while process.poll() is None and not _has_sweep(tmp_path):
                time.sleep(0.1)
            done = destage("status", "seek", "--follow")
        finally:
            process.terminate()
    assert done.code == 0
    assert " finished: " in done.out


def test_control_c_ends_the_watch_alone(written: Path, tmp_path: Path) -> None:
    with Terminal("status", str(written), "--follow", environment={"HOME": str(tmp_path)}) as terminal:
        terminal.read_until("runs")
        terminal.type("\x03")
        assert terminal.wait() == 130
        assert "aborted" not in terminal.read_rest()


def test_rate_and_time_left_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty runs in ten seconds: two a second, and thirty more in fifteen seconds."""
    clock = iter([100.0, 100.0, 110.0])
    monkeypatch.setattr("destage.cli.terminal.watched_progress.time.monotonic", lambda: next(clock))
    watched = WatchedProgress()
    assert watched(Counts(100, 50, 0, 1)).eta_s is None
    progress = watched(Counts(100, 70, 0, 3))
    assert (progress.rate, progress.eta_s, progress.round) == (2.0, 15.0, 2)


def test_the_time_left_covers_later_rounds_as_the_writer_foresees_them() -> None:
    watched = WatchedProgress()
    watched(Counts(100, 50, 0, 1))
    with pytest.MonkeyPatch.context() as patch:
        began = time.monotonic()
        patch.setattr("destage.cli.terminal.watched_progress.time.monotonic", lambda: began + 10.0)
        progress = watched(Counts(100, 70, 0, 3, later_runs=60.0, later_runs_high=90.0))
    assert progress.rate == pytest.approx(2.0, rel=0.01)
    assert (progress.eta_s, progress.eta_high_s) == pytest.approx((45.0, 60.0), rel=0.01)


def _has_sweep(folder: Path) -> bool:
    try:
        find_sweep("seek", locate(str(folder / "store")))
    except DestageError:
        return False
    return True
