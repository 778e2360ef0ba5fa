"""Progress on stderr: a bar on a terminal, otherwise a line every few seconds.

It has an estimate of the time left once the rate of a sweep foretells its end: not while only the pilot has
settled. Where that is long, a line says so once, and how to stop. A session that stops early has a warning on
how to continue.
"""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

import typer

from destage.cli.terminal.output import INTERRUPTED, has_terminal, print_note, print_warning
from destage.errors import Issue
from destage.spec.printed_text import escape_controls

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from destage.sweeps import Outcome, Progress


_BATCHES = 10
_SHARE = 0.1
"""Settled batches, or the share of the runs that were missing at first, after which the rate is steady."""


class EtaGate:
    """Judges the rate by the counts so far."""

    def __init__(self) -> None:
        self._first: int | None = None
        self._last = 0
        self._batches = 0

    def is_open(self, done: int, planned: int) -> bool:
        """Return whether a time left means something, after these further counts."""
        if self._first is None:
            self._first = self._last = done
        if done > self._last:
            self._last = done
            self._batches += 1
        missing = planned - self._first
        return self._batches >= _BATCHES or (missing > 0 and done - self._first >= _SHARE * missing)


_INTERVAL_S = 5.0
_LONG_S = 20.0
"""Time left from which on it is announced [s]."""
_WIDE, _MEDIUM = 100, 76
"""Widths of a terminal that has room for everything, and for the name with a short bar [columns]."""
_SECONDS_UP_TO, _MINUTES_UP_TO, _WHOLE_HOURS, _HOURS_UP_TO = 100, 100, 10, 72
"""Bounds up to which a duration is in seconds [s], in minutes [min], in hours with minutes, in hours [h]."""
_PHASES = {"plan": "planning", "start": "starting", "run": "running", "answer": "answering"}


class ProgressDisplay:
    """Shows the progress of a sweep within a `with` block; call it with each report.

    Args:
        work: What is done, for a sweep that takes long.
        is_watching: Whether another process writes the sweep, so that an interrupt does not end it.
    """

    def __init__(
        self, name: str, *, work: str = "", is_quiet: bool = False, is_watching: bool = False
    ) -> None:
        self._name = name
        self._work = work
        self._has_announced = is_watching
        self._is_quiet = is_quiet
        self._is_watching = is_watching
        self._printed_at = -_INTERVAL_S
        self._gate = EtaGate()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if has_terminal() and not self._is_quiet:
            self._bar = _make_bar()
            self._bar.start()
            self._task = self._bar.add_task(
                self._name, total=None, phase="planning", rate="", eta="", failed=""
            )
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if kind is not None and issubclass(kind, KeyboardInterrupt) and not self._is_watching:
            message = "aborted; committed runs are kept, run the same command again to continue"
            print_warning(Issue("sweep.aborted", self._name, message))

    def __call__(self, progress: "Progress") -> None:
        """Show how far the sweep is."""
        phase = _PHASES[progress.phase] + (f", round {progress.round}" if progress.round else "")
        rate = f"{progress.rate:.1f} runs/s" if progress.rate else ""
        eta = _describe_eta(progress) if self._gate.is_open(progress.done, progress.planned) else ""
        failed = f"{progress.failed} failed" if progress.failed else ""
        message = progress.message
        if eta and not message and not self._has_announced and _find_longest(progress) >= _LONG_S:
            self._has_announced, message = True, self._announce(progress)
        if self._bar is not None and self._task is not None:
            self._bar.update(
                self._task,
                completed=progress.done,
                total=progress.planned or None,
                phase=phase,
                rate=rate,
                eta=eta,
                failed=failed,
            )
            if message:
                self._bar.console.print(escape_controls(message), markup=False)
        elif not self._is_quiet:
            if message:
                print_note(message)
            self._print_line(progress, ", ".join(part for part in (phase, rate, eta, failed) if part))

    def _announce(self, progress: "Progress") -> str:
        """Return what is done and how long it takes, from the runs so far."""
        ends = dict.fromkeys(map(format_duration, (progress.eta_s or 0.0, _find_longest(progress))))
        work = f"{self._work}, " if self._work else ""
        slots = f" with {progress.slots} runs at a time" if progress.slots else ""
        return (
            f"{self._name}: {work}some {' to '.join(ends)} left{slots}; Ctrl-C keeps the finished runs, and "
            "the same command continues"
        )

    def _print_line(self, progress: "Progress", details: str) -> None:
        now = time.monotonic()
        if progress.planned and now - self._printed_at >= _INTERVAL_S:
            self._printed_at = now
            print_note(f"{self._name}: {progress.done} of {progress.planned} runs, {details}")


def describe_progress(progress: "Progress") -> str:
    """Return the rows, the rate and the time left as part of a line."""
    rate = f"{progress.rate:.1f} runs/s" if progress.rate else ""
    failed = f"{progress.failed} failed" if progress.failed else ""
    rows = f"{progress.done} of {progress.planned} runs"
    return ", ".join(part for part in (rows, failed, rate, _describe_eta(progress)) if part)


class Counter:
    """Shows on a terminal, in one line, how much of a task is done."""

    def __init__(self, unit: str) -> None:
        self._unit = unit

    def __call__(self, done: float, total: float) -> None:
        """Show how much is done, and of how much."""
        if has_terminal():
            end = "\n" if done == total else ""
            sys.stderr.write(f"\r{done:.10g} of {total:.10g} {self._unit}{end}")
            sys.stderr.flush()


def _make_bar() -> "Bar":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    console = Console(stderr=True, highlight=False)
    # A narrow terminal keeps what matters most: completed runs, rate and ETA.
    is_wide, is_medium = console.width >= _WIDE, console.width >= _MEDIUM
    details = [TimeElapsedColumn(), TextColumn("{task.fields[phase]}", style="dim")]
    return Progress(
        SpinnerColumn(),
        *([TextColumn("{task.description}")] if is_medium else []),
        *([BarColumn(bar_width=None if is_wide else 10)] if is_medium else []),
        MofNCompleteColumn(),
        TextColumn("runs"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[eta]}"),
        *(details if is_wide else []),
        TextColumn("{task.fields[failed]}", style="red"),
        console=console,
        transient=True,
    )


def _describe_eta(progress: "Progress") -> str:
    """Return the time left; a range if rounds that are not planned yet make it uncertain."""
    if progress.eta_s is None:
        return ""
    low, high = _clock(progress.eta_s), _clock(progress.eta_high_s or progress.eta_s)
    return f"ETA {low}" if low == high else f"ETA {low}-{high}"


def _find_longest(progress: "Progress") -> float:
    """Return the most time that may be left [s]."""
    return progress.eta_high_s or progress.eta_s or 0.0


def format_duration(seconds: float) -> str:
    """Return a rounded duration: `40 s`, `12 min`, `3 h 20 min`."""
    if seconds < _SECONDS_UP_TO:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    if minutes < _MINUTES_UP_TO:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    if hours >= _HOURS_UP_TO:
        return f"{round(hours / 24)} d"
    return f"{hours} h {rest} min" if rest and hours < _WHOLE_HOURS else f"{round(minutes / 60)} h"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


_KEPT = "completed runs are kept; run the same command again to continue"
_STOPPED = {
    "interrupted": ("sweep.interrupted", f"interrupted; {_KEPT}"),
    "infrastructure": ("sweep.infrastructure-failed", f"stopped: the infrastructure failed; {_KEPT}"),
}


def warn_if_stopped(outcome: "Outcome") -> bool:
    """Return whether a session stopped before its sweep was complete, with a warning on how to continue."""
    if outcome.state not in _STOPPED:
        return False
    code, message = _STOPPED[outcome.state]
    print_warning(Issue(code, outcome.path.name, message))
    return True


@contextmanager
def warn_if_between_sweeps(command: str) -> Iterator[None]:
    """In a `with` block that runs several sweeps, warn of a signal that comes between two of them."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        code, message = _STOPPED["interrupted"]
        print_warning(Issue(code, command, message))
        raise typer.Exit(INTERRUPTED) from None
    finally:
        # None if it was not installed by Python.
        signal.signal(signal.SIGTERM, previous or signal.SIG_DFL)
