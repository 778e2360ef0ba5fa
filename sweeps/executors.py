"""Where batches run: one interface, two forms: threads of this process, and Ray."""

import os
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol

from destage.engine import StopSignal
from destage.errors import Issue
from destage.objects import Location
from destage.sweeps.batches import Batch
from destage.sweeps.worker import (
    BatchStoppedError,
    Failure,
    FinishedBatch,
    Receipt,
    execute_batch,
    explain_machine_failure,
)


class Executor(Protocol):
    """Runs batches for the driver.

    Attributes:
        slots: How many batches it runs at a time.
    """

    name: str
    slots: int

    def submit(self, batch: Batch) -> None:
        """Submit a batch; returns immediately."""
        ...

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        """Return the batches finished since the last call, waiting up to the timeout for the first [s]."""
        ...

    def stop(self) -> None:
        """Stop the batches in flight: the runs that have ended are committed, the others are not."""
        ...

    def close(self) -> None:
        """Release all resources; batches in flight are abandoned."""
        ...


class InlineExecutor:
    """Runs batches on threads of this process; the engine releases the interpreter while it simulates."""

    name = "inline"

    def __init__(
        self,
        slots: int,
        fragments: Location,
        facts: tuple[str, ...],
        *,
        timeout_s: float | None = None,
    ) -> None:
        self.slots = slots
        self._timeout_s = timeout_s
        self._stop = StopSignal()
        self._fragments = fragments
        self._facts = facts
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="destage-run")
        self._in_flight: dict[Future[Receipt], Batch] = {}

    def submit(self, batch: Batch) -> None:
        """Submit a batch; returns immediately."""
        future = self._pool.submit(
            execute_batch, batch, self._fragments, self._facts, timeout_s=self._timeout_s, stop=self._stop
        )
        self._in_flight[future] = batch

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        """Return the batches finished since the last call, waiting up to the timeout for the first [s]."""
        ended, _ = wait(self._in_flight, timeout_s, return_when=FIRST_COMPLETED)
        return [FinishedBatch(self._in_flight.pop(future), _result(future)) for future in ended]

    def stop(self) -> None:
        """Stop the batches in flight: the runs that have ended are committed, the others are not."""
        self._stop.set()

    def close(self) -> None:
        """Drop batches that have not started, and stop those in flight."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _result(future: Future[Receipt]) -> Receipt | Failure | Issue:
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, BatchStoppedError):
        return Failure("stopped", "the session ended")
    if isinstance(error, MemoryError):
        return Failure("oom", "the process ran out of memory")
    failed = explain_machine_failure(error)
    return failed or Failure("infrastructure", f"{type(error).__name__}: {error}")


def count_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
