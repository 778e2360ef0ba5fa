"""Where batches run: one interface, two forms - threads of this process, and Ray."""

import os
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol

from destage.objects import Location
from destage.sweeps.batches import Batch
from destage.sweeps.worker import Failure, FinishedBatch, Receipt, execute


class Executor(Protocol):
    """Runs batches beside the driver.

    Attributes:
        name: What people call it.
        slots: How many batches it runs at a time.
    """

    name: str
    slots: int

    def submit(self, batch: Batch) -> None:
        """Hand over a batch; returns at once.

        Args:
            batch: The batch.
        """
        ...

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        """Return batches that came back since the last call, waiting a little for the first.

        Args:
            timeout_s: How long to wait [s].
        """
        ...

    def close(self) -> None:
        """Give back what the executor holds; batches under way are abandoned where that is possible."""
        ...


class InlineExecutor:
    """Runs batches on threads of this process; the engine lets other threads run while it simulates."""

    name = "inline"

    def __init__(self, slots: int, fragments: Location, facts: tuple[str, ...]) -> None:
        self.slots = slots
        self._fragments = fragments
        self._facts = facts
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="destage-run")
        self._under_way: dict[Future[Receipt], Batch] = {}

    def submit(self, batch: Batch) -> None:
        """Hand over a batch; returns at once.

        Args:
            batch: The batch.
        """
        self._under_way[self._pool.submit(execute, batch, self._fragments, self._facts)] = batch

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        """Return batches that came back since the last call, waiting a little for the first.

        Args:
            timeout_s: How long to wait [s].
        """
        ended, _ = wait(self._under_way, timeout_s, return_when=FIRST_COMPLETED)
        return [FinishedBatch(self._under_way.pop(future), _result(future)) for future in ended]

    def close(self) -> None:
        """Drop what has not started and wait for the batches under way: a thread cannot be stopped."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _result(future: Future[Receipt]) -> Receipt | Failure:
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, MemoryError):
        return Failure("oom", "the process ran out of memory")
    return Failure("infrastructure", f"{type(error).__name__}: {error}")


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
