"""The progress of a sweep that another process writes, from polled counts."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

from destage.cli.terminal.eta_gate import EtaGate
from destage.errors import InfrastructureError

if TYPE_CHECKING:
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
        while not (found := status(path)).finished:
            display(progress(found))
            passed = time.monotonic() - began
            if found.writer is not None:
                started_by = 0.0
            elif passed >= started_by:
                message = (
                    f"its writer has ended: {describe_counts(found)}; continue with `destage run {path.name}`"
                )
                raise InfrastructureError("sweep.writer-gone", message, path.name)
            if passed >= timeout_s:
                message = f"still running after {format_quantity(timeout_s, 's')}: {describe_counts(found)}"
                message += "; it continues, follow it again or with a longer --timeout"
                raise InfrastructureError("sweep.watch-timeout", message, path.name)
            time.sleep(min(interval, timeout_s - passed))
        display(progress(found))


def describe_counts(counts: "Counts") -> str:
    """Return how much of a sweep has results."""
    failed = f", {counts.failed} failed" if counts.failed else ""
    rounds = "1 round" if counts.rounds == 1 else f"{counts.rounds} rounds"
    return f"{counts.present} of {counts.planned} runs in {rounds}{failed}"
