"""Where batches run: one interface, two forms: threads of this process, and Ray."""

import os
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol

from destage.engine import StopSignal
from destage.objects import Location
from destage.sweeps.workers.batches import Batch, Failure, FinishedBatch
from destage.sweeps.workers.worker import Worker

AHEAD = 3
"""Batches that an executor takes per slot: one runs, the others wait at the worker."""


class Executor(Protocol):
    """Runs batches for the driver.

    Attributes:
        slots: How many batches it runs at a time.
        waiting: Batches that it was given and has not executed.
        ahead: How many of them it takes per slot.
        hold_s: The most work of uncommitted rows per slot [s]; 0 commits each batch.
        has_more: Whether further batches follow; if not, a worker without a batch commits its rows.
        left_s: Expected engine time of the batches that follow [s]; 0 if it is unknown.
    """

    name: str
    slots: int
    hold_s: float
    has_more: bool
    left_s: float

    @property
    def waiting(self) -> int: ...  # noqa: D102 - see the attributes
    @property
    def ahead(self) -> int: ...  # noqa: D102

    def submit(self, batch: Batch) -> None:
        """Submit a batch; returns immediately."""
        ...

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        """Return the batches committed or failed since the last call, waiting up to the timeout [s]."""
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
        self.ahead: int = AHEAD
        self.hold_s = 0.0
        self.has_more = False
        self.left_s = 0.0
        self._stop = StopSignal()
        self._workers = [Worker(fragments, facts, timeout_s=timeout_s, stop=self._stop) for _ in range(slots)]
        self._idle = deque(self._workers)
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="destage-run")
        self._waiting: set[Future[list[FinishedBatch]]] = set()
        self._is_stopped = False

    @property
    def waiting(self) -> int:
        """Batches that were submitted and are not executed."""
        return len(self._waiting)

    def submit(self, batch: Batch) -> None:
        """Submit a batch; returns immediately."""
        self._waiting.add(self._pool.submit(self._execute, batch))

    def _execute(self, batch: Batch) -> list[FinishedBatch]:
        if self._is_stopped:
            return [FinishedBatch(batch, Failure("stopped", "the session ended"))]
        worker = self._idle.pop()  # the one that ended last, so that few workers hold rows
        try:
            return worker.execute(batch, self.hold_s)
        finally:
            self._idle.append(worker)

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        """Return the batches committed or failed since the last call, waiting up to the timeout [s]."""
        ended, self._waiting = wait(self._waiting, timeout_s, return_when=FIRST_COMPLETED)
        done = [batch for future in ended for batch in future.result()]
        is_idle = not self.has_more and len(self._waiting) < self.slots
        for worker in tuple(self._idle) if is_idle else self._workers:
            done += worker.publish() if is_idle else worker.publish_old(self.hold_s)
        return done

    def stop(self) -> None:
        """Stop the batches in flight: the runs that have ended are committed, the others are not."""
        self.hold_s = 0.0
        self._is_stopped = True
        self._stop.set()

    def close(self) -> None:
        """Drop batches that have not started, stop those in flight and commit what has ended."""
        self.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for worker in self._workers:
            worker.publish()


def count_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
