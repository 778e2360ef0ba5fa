"""The progress of a session, as its caller hears of it and as the store records it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from destage.store.opened.recorded_progress import RecordedProgress, write_progress
from destage.store.state.head import Generation
from destage.sweeps.execution.driver import Driver
from destage.sweeps.execution.outcomes import Phase, Progress
from destage.sweeps.rounds.forecast import NO_MORE, Forecast

ProgressCallback = Callable[[Progress], None]
_RECORD_S = 5.0
"""Interval at which the progress is written to the store [s]."""
_SOON_S = 0.5
"""The same while the executed runs double, so that the first rows are known soon [s]."""


@dataclass
class ProgressReport:
    """The progress of a session so far.

    Attributes:
        generation: Where it is recorded.
        hear: Called with it.
        round: The round that is planned or executed, from 0.
        planned: The runs of these rounds.
        reused: Those that were in the store before this session.
        failed_before: Those of them that have failed.
        later: The runs that later rounds will add.
    """

    generation: Generation
    hear: ProgressCallback | None
    phase: Phase = "plan"
    round: int = 0
    rounds: int = 0
    planned: int = 0
    reused: int = 0
    failed_before: int = 0
    later: Forecast = NO_MORE
    _recorded_at: float = field(default_factory=time.monotonic)
    _recorded: int = 0
    _started_at: float | None = None
    _has_told_of_drain: bool = False
    _slots: int | None = None

    def start(self) -> None:
        """Begin to measure the rate of the runs."""
        self.phase = "run"
        self._started_at = time.monotonic()

    def record(self, driver: Driver, fragments: int | None = None, size: int | None = None) -> None:
        """Write the progress to the store.

        Args:
            fragments: The fragments of a session that has ended.
            size: Their size [bytes].
        """
        self._recorded_at, self._recorded = time.monotonic(), driver.executed
        progress = RecordedProgress(
            self.planned,
            self.reused + driver.executed,
            self.failed_before + driver.failures.failed,
            self.rounds,
            fragments,
            size,
            later_runs=self.later.runs,
            later_runs_high=self.later.high,
        )
        write_progress(self.generation.layout, self.generation.name, progress)

    def update(self, driver: Driver, message: str | None = None) -> None:
        """Tell the caller the progress, and record it if it is time to.

        Args:
            message: A change worth a line.
        """
        has_doubled = driver.executed > 2 * self._recorded
        if time.monotonic() - self._recorded_at > (_SOON_S if has_doubled else _RECORD_S):
            self.record(driver)
        if self.hear is not None:
            self.hear(self._measure(driver, message or self._find_change(driver)))

    def _find_change(self, driver: Driver) -> str | None:
        """Return what has changed since the last report."""
        if driver.ends.interrupts.is_draining and not self._has_told_of_drain:
            self._has_told_of_drain = True
            return "finishing the runs in flight; interrupt again to abort"
        before, self._slots = self._slots, driver.slots
        has_changed = before is not None and before != driver.slots
        return f"{driver.slots} slots (was {before})" if has_changed else None

    def _measure(self, driver: Driver, message: str | None) -> Progress:
        elapsed = 0.0 if self._started_at is None else time.monotonic() - self._started_at
        done = self.reused + driver.executed
        rate = driver.executed / elapsed if elapsed > 0 else 0.0
        left = self.planned - done
        return Progress(
            phase=self.phase,
            round=self.round,
            done=done,
            planned=self.planned,
            reused=self.reused,
            failed=driver.failures.failed,
            rate=rate,
            eta_s=(left + self.later.runs) / rate if rate > 0 else None,
            message=message,
            eta_high_s=(left + self.later.high) / rate if rate > 0 and self.later.runs else None,
            slots=driver.slots,
        )
