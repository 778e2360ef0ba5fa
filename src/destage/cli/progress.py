"""Showing how far a sweep is: a bar on a terminal, a quiet line now and then otherwise."""

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from destage.cli.output import has_terminal, say, warn

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from destage.sweeps import Progress

_EVERY_S = 5.0
_WIDE, _MIDDLING = 100, 76
"""From how many columns on a terminal has room for everything, and for a name and a short bar."""
_PHASES = {"plan": "planning", "start": "starting", "run": "running", "answer": "answering"}


class ProgressDisplay:
    """Shows a sweep's progress for the length of a `with` block; call it with each report."""

    def __init__(self, name: str, *, is_quiet: bool = False) -> None:
        """Make the display.

        Args:
            name: What is being run.
            is_quiet: Whether nothing is shown at all.
        """
        self._name = name
        self._is_quiet = is_quiet
        self._told_at = -_EVERY_S
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if has_terminal() and not self._is_quiet:
            self._bar = _bar()
            self._bar.start()
            self._task = self._bar.add_task(
                self._name, total=None, phase="planning", rate="", eta="", failed=""
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            warn("aborted: what was committed is kept; the same command goes on from there")

    def __call__(self, progress: "Progress") -> None:
        """Show a report.

        Args:
            progress: How far the sweep is.
        """
        phase = _PHASES[progress.phase] + (f", round {progress.round}" if progress.round else "")
        rate = f"{progress.rate:.1f} runs/s" if progress.rate else ""
        eta = "" if progress.eta_s is None else f"ETA {_clock(progress.eta_s)}"
        failed = f"{progress.failed} failed" if progress.failed else ""
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
            if progress.message:
                self._bar.console.print(progress.message, markup=False)
        elif not self._is_quiet:
            if progress.message:
                say(progress.message)
            self._tell(progress, ", ".join(part for part in (phase, rate, eta, failed) if part))

    def _tell(self, progress: "Progress", details: str) -> None:
        now = time.monotonic()
        if progress.planned and now - self._told_at >= _EVERY_S:
            self._told_at = now
            say(f"{self._name}: {progress.done} of {progress.planned} runs, {details}")


def _bar() -> "Bar":
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
    # Runs done, rate and ETA are what people look for: where there is little room, the rest makes way.
    is_wide, is_middling = console.width >= _WIDE, console.width >= _MIDDLING
    beside = [
        TimeElapsedColumn(),
        TextColumn("{task.fields[phase]}", style="dim"),
    ]
    return Progress(
        SpinnerColumn(),
        *([TextColumn("{task.description}")] if is_middling else []),
        *([BarColumn(bar_width=None if is_wide else 10)] if is_middling else []),
        MofNCompleteColumn(),
        TextColumn("runs"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[eta]}"),
        *(beside if is_wide else []),
        TextColumn("{task.fields[failed]}", style="red"),
        console=console,
        transient=True,
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
