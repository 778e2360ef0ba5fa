"""The progress of a sweep that another process writes, from polled counts."""

import time
from typing import TYPE_CHECKING

from destage.cli.eta_gate import EtaGate

if TYPE_CHECKING:
    from destage.store.counts import Counts
    from destage.sweeps import Progress


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
