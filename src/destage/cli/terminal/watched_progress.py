"""The progress of a sweep that another process runs, from polled counts, and its display.

A watch of a job shows the states of the job, of its driver and of its rows side by side.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from destage.cli.terminal.output import has_terminal, print_note
from destage.cli.terminal.progress_line import EtaGate, describe_progress
from destage.errors import InfrastructureError
from destage.spec.printed_text import escape_controls

if TYPE_CHECKING:
    from rich.status import Status

    from destage.store import Location
    from destage.store.opened.counts import Counts
    from destage.sweeps import Progress


_INTERVAL_S, _BUCKET_INTERVAL_S = 1.0, 5.0
GRACE_S = 5.0
"""How long a writer may take to start [s]."""


class WatchedProgress:
    """Adds the rate since the first counts, and the time left, to the counts of a sweep."""

    def __init__(self) -> None:
        self._began = 0.0
        self._first: int | None = None
        self._gate = EtaGate()

    def __call__(self, counts: "Counts") -> "Progress":
        """Return the progress in the form of a local run."""
        from destage.sweeps import Progress

        if self._first is None:
            self._began, self._first = time.monotonic(), counts.present
        rate = (counts.present - self._first) / max(time.monotonic() - self._began, 1e-3)
        left = counts.planned - counts.present
        highest = left + counts.later_runs_high
        is_known = self._gate.is_open(counts.present, counts.planned) and rate > 0
        return Progress(
            phase="run" if left else "answer",
            round=max(0, counts.rounds - 1),
            done=counts.present,
            planned=counts.planned,
            reused=0,
            failed=counts.failed,
            rate=rate,
            eta_s=(left + counts.later_runs) / rate if is_known else None,
            eta_high_s=highest / rate if is_known and counts.later_runs else None,
        )


def follow_sweep(path: "Location", timeout_s: float, *, quiet: bool) -> None:
    """Show the progress of a sweep until it is finished.

    Raises:
        InfrastructureError: Its writer ended before, or time is up.
    """
    from destage.cli.terminal.progress_line import ProgressDisplay
    from destage.queries.text.presentation import format_quantity
    from destage.store.opened.recorded_progress import status

    interval = _INTERVAL_S if isinstance(path, Path) else _BUCKET_INTERVAL_S
    progress, began = WatchedProgress(), time.monotonic()
    started_by = min(GRACE_S, timeout_s)
    with ProgressDisplay(path.name, is_quiet=quiet, is_watching=True) as display:
        while not (state := status(path)).finished:
            display(progress(state))
            passed = time.monotonic() - began
            if state.writer is not None:
                started_by = 0.0
            elif passed >= started_by:
                message = (
                    f"its writer has ended: {describe_counts(state)}; continue with `destage run {path.name}`"
                )
                raise InfrastructureError("sweep.writer-gone", message, path.name)
            if passed >= timeout_s:
                message = f"still running after {format_quantity(timeout_s, 's')}: {describe_counts(state)}"
                message += "; it continues, follow it again or with a longer --timeout"
                raise InfrastructureError("sweep.watch-timeout", message, path.name)
            time.sleep(min(interval, timeout_s - passed))
        display(progress(state))


def describe_counts(counts: "Counts") -> str:
    """Return how much of a sweep has results."""
    failed = f", {counts.failed} failed" if counts.failed else ""
    rounds = "1 round" if counts.rounds == 1 else f"{counts.rounds} rounds"
    return f"{counts.present} of {counts.planned} runs in {rounds}{failed}"


_ROWS_INTERVAL_S, _SIGN_OF_LIFE_S = 30.0, 300.0
"""Shortest time between two lines that differ in the rows only, and longest time without a line [s]."""


@dataclass(frozen=True, slots=True)
class WatchState:
    """The three states.

    Attributes:
        driver: When the driver last gave a sign of life.
        progress: The rows as last seen, if ever.
    """

    job: str
    driver: str
    progress: "Progress | None"


class WatchDisplay:
    """Shows the states within a `with` block; call it with each observation.

    On a terminal it is one line that changes. Otherwise a line is printed when the job's state or the rows
    change, and every few minutes.
    """

    def __init__(self, name: str, *, is_quiet: bool = False) -> None:
        self._name = name
        self._is_quiet = is_quiet
        self._line: Status | None = None
        self._printed_at: float | None = None
        self._printed: tuple[str, bool, int] | None = None

    def __enter__(self) -> Self:
        if has_terminal() and not self._is_quiet:
            from rich.console import Console

            self._line = Console(stderr=True, highlight=False).status(self._name)
            self._line.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.stop()

    def __call__(self, state: WatchState) -> None:
        """Show the states."""
        if self._is_quiet:
            return
        rows = describe_progress(state.progress) if state.progress else "no rows known"
        text = f"{self._name}: job {state.job}; driver: {state.driver}; {rows}"
        if self._line is not None:
            from rich.text import Text

            self._line.update(Text(escape_controls(text)))
        elif self._is_due(state):
            print_note(text)

    def _is_due(self, state: WatchState) -> bool:
        now = time.monotonic()
        done = state.progress.done if state.progress else -1
        key = (state.job, state.driver == "none", done)
        since = None if self._printed_at is None else now - self._printed_at
        is_due = (
            since is None
            or self._printed is None
            or key[:2] != self._printed[:2]
            or (key != self._printed and since >= _ROWS_INTERVAL_S)
            or since >= _SIGN_OF_LIFE_S
        )
        if is_due:
            self._printed_at, self._printed = now, key
        return is_due
