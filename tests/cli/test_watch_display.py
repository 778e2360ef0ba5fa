"""What `destage cluster watch` prints in a pipe: a line for a change, and now and then a sign of life."""

import pytest

from destage.cli.terminal.watched_progress import WatchDisplay, WatchState
from destage.sweeps import Progress


def rows(done: int) -> Progress:
    return Progress("run", 0, done, 200, 0, 0, 2.0, 50.0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time, which a test advances."""
    now = [0.0]
    monkeypatch.setattr("destage.cli.terminal.watched_progress.time.monotonic", lambda: now[0])
    return now


def test_a_line_is_printed_for_a_change_only(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with WatchDisplay("demo") as display:
        for clock[0] in range(0, 100, 5):
            display(WatchState("Initializing", "none", None))
        assert capsys.readouterr().err == "demo: job Initializing; driver: none; no rows known\n"
        # Rows change with every batch: a line for them at most every half minute.
        for clock[0] in range(100, 160, 5):
            done = int(clock[0])
            display(WatchState("Running (RUNNING)", f"last sign of life {done % 5} s ago", rows(done)))
        lines = capsys.readouterr().err.splitlines()
        assert [line.partition("; ")[0] for line in lines] == ["demo: job Running (RUNNING)"] * 2
        assert lines[0].endswith("; driver: last sign of life 0 s ago; 100 of 200 runs, 2.0 runs/s, ETA 0:50")
        # The driver is lost, and nothing changes for ten minutes.
        for clock[0] in range(160, 760, 5):
            display(WatchState("Running (RUNNING)", "none", rows(155)))
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 2
        assert all("; driver: none; 155 of 200 runs" in line for line in lines)


def test_quiet_prints_nothing(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    assert clock == [0.0]
    with WatchDisplay("demo", is_quiet=True) as display:
        display(WatchState("Running", "none", rows(1)))
    assert capsys.readouterr().err == ""
