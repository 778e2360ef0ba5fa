"""The progress bar: completed runs, rate and ETA are visible on every terminal."""

import io

import pytest
from rich.console import Console

from destage.cli.terminal.progress_line import EtaGate, ProgressDisplay, format_duration
from destage.sweeps import Progress


class Terminal(io.StringIO):
    """A text stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("high", "eta"), [(None, "ETA 59:59"), (4799.0, "ETA 59:59-1:19:59")])
@pytest.mark.parametrize("columns", [50, 80, 120])
def test_runs_rate_and_eta_are_never_hidden(
    monkeypatch: pytest.MonkeyPatch, columns: int, high: float | None, eta: str
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    display = ProgressDisplay("call_center-167214ce")
    with display:
        display(Progress("run", 12, 800, 4321, 0, 0, 123.4, 3599.0, eta_high_s=high))
        display(Progress("run", 12, 1234, 4321, 0, 0, 123.4, 3599.0, eta_high_s=high))
        bar = display._bar
        assert bar is not None
        shown = Console(file=io.StringIO(), width=columns)
        shown.print(bar.get_renderable())
    assert isinstance(shown.file, io.StringIO)
    text = shown.file.getvalue()
    for wanted in ("1234/4321 runs", "123.4 runs/s", eta):
        assert wanted in text, text


@pytest.mark.parametrize(
    ("high", "is_quiet", "announced"),
    [(300.0, False, 1), (None, False, 1), (300.0, True, 0), (15.0, False, 0)],
)
def test_what_takes_long_is_announced_once(
    capsys: pytest.CaptureFixture[str], high: float | None, is_quiet: bool, announced: int
) -> None:
    """The first report opens the gate, the second foretells the end."""
    least = 10.0 if high == 15.0 else 180.0
    with ProgressDisplay("size-vdi", work="60 combinations", is_quiet=is_quiet) as display:
        for done in (0, 30, 60):
            display(Progress("run", 1, done, 90, 0, 0, 1.0, least, eta_high_s=high, slots=2))
    lines = [line for line in capsys.readouterr().err.splitlines() if "Ctrl-C" in line]
    assert len(lines) == announced
    if lines:
        time = "3 min to 5 min" if high else "3 min"
        assert f"60 combinations, some {time} left with 2 runs at a time" in lines[0]


def test_no_time_is_left_before_batches_have_settled() -> None:
    """The pilot, single runs of a start that takes seconds, foretells nothing."""
    gate = EtaGate()
    assert [gate.is_open(done, 1000) for done in (100, 100, 101, 102, 102)] == [False] * 5
    assert gate.is_open(190, 1000)  # a tenth of the 900 runs that were missing
    slow = EtaGate()
    steady = [slow.is_open(done, 10**6) for done in range(12)]
    assert steady == [False] * 10 + [True] * 2


def test_an_abort_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), ProgressDisplay("study"):
        raise KeyboardInterrupt
    assert capsys.readouterr().err.startswith("warning: sweep.aborted at study: ")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((0.2, "1 s"), (59.6, "60 s"), (99, "99 s"), (100, "2 min"), (5_900, "98 min")),
        *((7_200, "2 h"), (8_700, "2 h 25 min"), (40_000, "11 h"), (300_000, "3 d")),
    ],
)
def test_durations_are_written_as_people_say_them(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
