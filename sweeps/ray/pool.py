"""The workers of a sweep on Ray: one actor per processor, each with calls ahead so that it never waits.

A worker that dies fails the batch that it was executing. The batches that it had not begun, and those whose
rows it held, are lost: the driver executes them again, and they count as no attempt. The workers of a node
that is being drained stop their batches, commit what has ended and leave.

On a cluster that others use, there are as many workers as processors are free, and one more that waits while
others have processors. While others wait, workers that had their turn leave.
"""

import platform
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import ray
from ray import exceptions

from destage.errors import Issue
from destage.sweeps.ray.ray_status import RayStatus
from destage.sweeps.ray.ray_worker import IDLE_S, NumberedBatch, Reply
from destage.sweeps.workers.batches import Batch, Failure, FinishedBatch
from destage.sweeps.workers.machine_failures import explain_failure

_CALLS = 2
"""Calls of a worker at a time: it executes one while the other waits."""
_CALL_S = 0.05
"""Work of a call, at least [s]: batches that take less are handed out several at a time."""
_MOST_BATCHES = 16
"""Maximum batches of a call."""
_OBSERVED = 8
"""Replies after which the time of a batch counts a third."""
_TURN_S = 120.0
"""Time after which a worker leaves its processor to others, if they wait for one [s]."""
_STEP = 8
"""Part of the workers that leave at a time, while a sweep has more than half of the processors."""
_MOST_FAILED_STARTS = 3
"""Workers that may fail to start, one after another, before a batch fails."""
_STOPPED = Failure("stopped", "the session ended")
_DRAINED = Failure("lost", "its node is being drained")
_NO_MODULE = "No module named 'destage"
_NO_MEMORY = "low on memory"
_Result = TypeVar("_Result")


@dataclass(slots=True)
class _Slot:
    """A worker, as its driver sees it.

    Attributes:
        starting: The call that returns when it runs; None once it does.
        calls: The batches of each call that has not returned, in the order of the calls.
        batches: All its batches that are neither committed nor failed.
        node: The id of its node, once it runs.
        leaves: Whether it gets no further batch.
    """

    actor: Any
    starting: "ray.ObjectRef[str] | None"
    calls: "dict[ray.ObjectRef[Reply], tuple[int, ...]]" = field(default_factory=dict)
    batches: dict[int, Batch] = field(default_factory=dict)
    idle_since: float = 0.0
    replied_at: float = 0.0
    started_at: float = 0.0
    node: str = ""
    leaves: bool = False


class RayPool:
    """Hands batches to workers and receives what becomes of them.

    Attributes:
        batches_per_call: Batches handed out at a time, from the time that they take.
        free: Processors on which workers could be started.
    """

    def __init__(self, start: Callable[[], Any], *, is_shared: bool) -> None:
        """Make a pool without workers.

        Args:
            is_shared: Whether others may use the cluster too.
        """
        self._start = start
        self._is_shared = is_shared
        self._processors = 0
        self.free = 0
        self._slots: list[_Slot] = []
        self._of: dict[Any, _Slot] = {}
        self._ready: deque[NumberedBatch] = deque()
        self._results: list[FinishedBatch] = []
        self._numbered = 0
        self._executing = 0
        self._failed_starts = 0
        self._batch_s = 1.0
        self._singles = 0
        self.batches_per_call = 1

    @property
    def waiting(self) -> int:
        """Batches that were submitted and are not executed."""
        return len(self._ready) + self._executing

    def submit(self, batch: Batch) -> None:
        """Add a batch to those to be handed out."""
        self._numbered += 1
        self._ready.append((self._numbered, batch))

    @property
    def workers(self) -> int:
        """Workers that start or run, without those that leave."""
        return sum(not slot.leaves for slot in self._slots)

    def observe(self, status: RayStatus) -> None:
        """Take note of what the cluster has: workers are started, stopped and released accordingly."""
        starting = sum(slot.starting is not None for slot in self._slots)
        self._processors = status.processors
        # Some of those that start may have a processor already.
        free = status.free - starting if self._is_shared else status.processors - len(self._slots)
        self.free = max(0, free)
        for slot in self._slots:
            if slot.node in status.draining and not slot.leaves:
                slot.leaves = True
                slot.actor.stop.remote(_DRAINED)
        others = status.pending - starting
        if self._is_shared and others > 0 and not status.free:
            self._end_turns(others)

    def _end_turns(self, waiting: int) -> None:
        """Let workers leave that had their turn: one for each that waits, and more down to half of all."""
        have = self.workers
        more = min(have // _STEP, have - self._processors // 2)
        past = time.monotonic() - _TURN_S
        had_turn = [slot for slot in self._slots if slot.node and not slot.leaves and slot.started_at < past]
        for slot in had_turn[: max(waiting, more)]:
            slot.leaves = True

    def fit(self, most: int | None) -> None:
        """Start workers for the batches that wait, on the processors that are free.

        If none is, one worker waits for a processor that others use or that is being freed: it has its turn
        before those that ask later, and an autoscaler starts the first node for it.
        """
        have = self.workers
        limit = max(1, self._processors) if most is None else min(max(1, self._processors), most)
        busy = sum(bool(slot.calls) for slot in self._slots if not slot.leaves)
        missing = min(limit - have, len(self._ready) + busy - have)
        is_waiting = any(slot.starting is not None for slot in self._slots)
        for _ in range(min(missing, self.free or (0 if is_waiting else 1))):
            self.free = max(0, self.free - 1)
            actor = self._start()
            starting = actor.greet.remote()
            slot = _Slot(actor, starting)
            self._slots.append(slot)
            self._of[starting] = slot

    def send(self, hold_s: float, *, has_more: bool) -> None:
        """Hand out batches to workers that have too few, and let idle ones commit or leave."""
        now = time.monotonic()
        running = [slot for slot in self._slots if slot.starting is None]
        for depth in range(_CALLS):
            for slot in running:
                if len(slot.calls) == depth and self._ready and not slot.leaves:
                    count = min(self._next_size(), len(self._ready))
                    slot.replied_at = slot.replied_at if slot.calls else now
                    self._call(slot, tuple(self._ready.popleft() for _ in range(count)), hold_s)
        for slot in running:
            if slot.calls:
                slot.idle_since = now
            elif slot.batches and (slot.leaves or not has_more):
                self._call(slot, (), 0.0)
            elif not slot.batches and (slot.leaves or now - slot.idle_since > IDLE_S):
                self._release(slot)

    def _next_size(self) -> int:
        """Return the batches of the next call: one while a batch is sought that kills its worker."""
        if not self._singles:
            return self.batches_per_call
        self._singles -= 1
        return 1

    def _call(self, slot: _Slot, batches: tuple[NumberedBatch, ...], hold_s: float) -> None:
        reference = slot.actor.execute.remote(batches, hold_s)
        slot.calls[reference] = tuple(number for number, _ in batches)
        slot.batches.update(batches)
        self._of[reference] = slot
        self._executing += len(batches)

    def receive(self, timeout_s: float) -> list[FinishedBatch]:
        """Return the batches committed or failed since the last call, waiting up to the timeout [s]."""
        waiting = list(self._of)
        if waiting and not self._results:
            ended, _ = ray.wait(waiting, num_returns=1, timeout=timeout_s)
            if ended:
                more, _ = ray.wait(waiting, num_returns=len(waiting), timeout=0)
                ended = list(dict.fromkeys([*ended, *more]))
            for reference in ended:
                if reference in self._of:
                    self._settle(reference, self._of[reference])
        elif not self._results and self._ready:
            time.sleep(timeout_s)
        done, self._results = self._results, []
        return done

    def _settle(self, reference: Any, slot: _Slot) -> None:
        result: Any = read_result(reference)
        if reference == slot.starting:  # over a Ray client, `ray.wait` returns other objects of the same id
            if not isinstance(result, str):
                self._fail_start(slot, result)
                return
            del self._of[reference]
            self._failed_starts = 0
            slot.starting, slot.node = None, result
            slot.idle_since = slot.started_at = time.monotonic()
            return
        if not isinstance(result, Reply):
            self._lose(slot, result)
            return
        del self._of[reference]
        executed = slot.calls.pop(reference)
        self._executing -= len(executed)
        for number, what in result.results():
            batch = slot.batches.pop(number)
            self._results.append(FinishedBatch(batch, what))
        self._measure(slot, len(executed))

    def _measure(self, slot: _Slot, batches: int) -> None:
        """Learn from a reply how long a batch takes, and how many a call should have."""
        now = time.monotonic()
        if batches:
            self._batch_s += ((now - slot.replied_at) / batches - self._batch_s) / _OBSERVED
        slot.replied_at = now
        wanted = _CALL_S / max(self._batch_s, 1e-6)
        self.batches_per_call = int(min(max(wanted, 1), _MOST_BATCHES))

    def _lose(self, slot: _Slot, failure: Failure | Issue) -> None:
        """Return the batches of a worker that has died: the one in execution has failed, the others are lost.

        If several were in execution, all are lost, and are handed out one by one.
        """
        executing = next((numbers for numbers in slot.calls.values() if numbers), tuple(slot.batches)[:1])
        if len(executing) > 1:
            self._singles = len(self._ready) + len(slot.batches)
        lost = failure if isinstance(failure, Issue) else Failure("lost", failure.message)
        for number, batch in slot.batches.items():
            is_cause = executing == (number,)
            self._results.append(FinishedBatch(batch, failure if is_cause else lost))
        slot.batches.clear()
        self._release(slot)

    def _fail_start(self, slot: _Slot, failure: Failure | Issue) -> None:
        """Drop a worker that did not start; a batch fails if that repeats or if no worker can start."""
        self._failed_starts += 1
        self._release(slot)
        if self._ready and (isinstance(failure, Issue) or self._failed_starts > _MOST_FAILED_STARTS):
            _, batch = self._ready.popleft()
            self._results.append(FinishedBatch(batch, failure))

    def _release(self, slot: _Slot) -> None:
        self._executing -= sum(map(len, slot.calls.values()))
        for reference in (*slot.calls, slot.starting):
            self._of.pop(reference, None)
        self._slots.remove(slot)
        ray.kill(slot.actor)

    def stop(self) -> None:
        """Stop all workers, and return the batches that were not handed out."""
        self._results += [FinishedBatch(batch, _STOPPED) for _, batch in self._ready]
        self._ready.clear()
        for slot in self._slots:
            if slot.starting is None:
                slot.actor.stop.remote(_STOPPED)

    def give_up(self) -> list[Batch]:
        """Return all batches, and forget the workers."""
        batches = [batch for _, batch in self._ready]
        batches += [batch for slot in self._slots for batch in slot.batches.values()]
        self._ready.clear()
        self._slots.clear()
        self._of.clear()
        self._executing = 0
        return batches

    def kill(self) -> None:
        """Kill all workers."""
        for slot in self._slots:
            ray.kill(slot.actor)
        self.give_up()


def read_result(reference: "ray.ObjectRef[_Result]") -> _Result | Failure | Issue:
    """Return what a call that has ended returned, or why it failed."""
    try:
        result: _Result = ray.get(reference)
    except exceptions.RayError as error:
        return _explain(error)
    return result


def _explain(error: exceptions.RayError) -> Failure | Issue:
    text = str(error)
    if isinstance(error, exceptions.OutOfMemoryError) or _NO_MEMORY in text:
        return Failure("oom", "Ray killed the worker: the node ran out of memory")
    if _NO_MODULE in text:
        python = ".".join(platform.python_version_tuple()[:2])
        message = f"a worker has no Destage: install it for Python {python} on all machines"
        return Issue("sweep.worker-without-destage", "", message)
    if isinstance(error, exceptions.RayTaskError):
        return explain_failure(error.cause)
    return Failure("infrastructure", f"{type(error).__name__}: {text.splitlines()[0]}")
