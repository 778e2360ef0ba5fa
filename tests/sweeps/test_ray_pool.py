"""What becomes of the batches of a worker on Ray that dies, by what it was doing; without Ray."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from destage.sweeps.ray import pool as ray_pool
from destage.sweeps.ray.pool import RayPool
from destage.sweeps.ray.ray_status import RayStatus
from destage.sweeps.ray.ray_worker import Reply
from destage.sweeps.workers.batches import Batch, Configs, Failure, FinishedBatch, Receipt


class Calls:
    """Stands for Ray: calls return when a test says so."""

    def __init__(self) -> None:
        self.results: dict[int, Any] = {}
        self.sent: list[tuple[int, tuple[int, ...]]] = []
        self.killed = 0
        self.started = 0
        self.stopped: list[int] = []
        self.has_room = True
        self._count = itertools.count()

    def new(self) -> int:
        return next(self._count)

    def wait(self, waiting: list[int], **_: object) -> tuple[list[int], list[int]]:
        ended = [one for one in waiting if one in self.results]
        return ended, [one for one in waiting if one not in self.results]

    def kill(self, _: object) -> None:
        self.killed += 1


class Method:
    """A method of an actor."""

    def __init__(self, call: Callable[..., int]) -> None:
        self.remote = call


class Actor:
    """A worker that starts at once if there is room, on a node of its own."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        calls.started += 1
        self.number = calls.started
        self.greet, self.execute, self.stop = Method(self._greet), Method(self._execute), Method(self._stop)

    def _greet(self) -> int:
        reference = self._calls.new()
        if self._calls.has_room:
            self._calls.results[reference] = f"node{self.number}"
        return reference

    def _execute(self, batches: tuple[tuple[int, Batch], ...], _: float) -> int:
        reference = self._calls.new()
        self._calls.sent.append((reference, tuple(number for number, _ in batches)))
        return reference

    def _stop(self, reason: Failure) -> int:
        assert reason.kind in {"lost", "stopped"}
        self._calls.stopped.append(self.number)
        return self._calls.new()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Calls]:
    calls = Calls()
    monkeypatch.setattr(ray_pool.ray, "wait", calls.wait)
    monkeypatch.setattr(ray_pool.ray, "kill", calls.kill)
    monkeypatch.setattr(ray_pool, "read_result", lambda reference: calls.results[reference])
    return calls


def _pool(
    calls: Calls, batches: int, *, slots: int = 1, per_call: int = 1, is_shared: bool = False
) -> RayPool:
    pool = RayPool(lambda: Actor(calls), is_shared=is_shared)
    for number in range(batches):
        pool.submit(Batch((f"run{number + 1}",), Configs((), ())))
    pool.observe(RayStatus(slots, slots))
    pool.fit(None)
    pool.receive(0.0)  # the workers start
    pool.batches_per_call = per_call
    pool.send(10.0, has_more=True)
    return pool


def _receipt(*numbers: int) -> Reply:
    facts = pa.table({"run_id": [f"run{number}" for number in numbers]})
    return Reply([(number, 1, 1.0, "fragment") for number in numbers], facts)


def _kinds(done: list[FinishedBatch]) -> dict[str, str]:
    return {
        one.batch.run_ids[0]: one.result.kind if isinstance(one.result, Failure) else "receipt"
        for one in done
    }


DIED = Failure("infrastructure", "died")


def test_the_batch_in_execution_fails_and_the_others_are_lost(calls: Calls) -> None:
    pool = _pool(calls, 5)
    (first, _), (second, _) = calls.sent
    calls.results[first] = Reply()  # executed, and held
    assert pool.receive(0.0) == []
    pool.send(10.0, has_more=True)
    assert pool.waiting == 4
    calls.results[second] = DIED
    assert _kinds(pool.receive(0.0)) == {"run1": "lost", "run2": "infrastructure", "run3": "lost"}
    assert (pool.waiting, calls.killed) == (2, 1)


def test_no_batch_of_several_is_blamed_until_each_is_alone(calls: Calls) -> None:
    pool = _pool(calls, 6, per_call=3)
    assert [numbers for _, numbers in calls.sent] == [(1, 2, 3), (4, 5, 6)]
    calls.results[calls.sent[0][0]] = DIED
    lost = pool.receive(0.0)
    assert set(_kinds(lost).values()) == {"lost"}
    assert len(lost) == 6
    for one in lost:
        pool.submit(one.batch)
    pool.fit(None)
    pool.receive(0.0)
    pool.send(10.0, has_more=True)
    assert [len(numbers) for _, numbers in calls.sent[2:]] == [1, 1]


def test_a_worker_that_commits_when_it_dies_fails_one_batch(calls: Calls) -> None:
    pool = _pool(calls, 2)
    for reference, _ in list(calls.sent):
        calls.results[reference] = Reply()
    pool.receive(0.0)
    pool.send(10.0, has_more=False)
    reference, numbers = calls.sent[-1]
    assert numbers == ()
    calls.results[reference] = DIED
    assert _kinds(pool.receive(0.0)) == {"run1": "infrastructure", "run2": "lost"}


def test_receipts_name_the_batches_of_earlier_calls(calls: Calls) -> None:
    pool = _pool(calls, 2)
    (first, _), (second, _) = calls.sent
    calls.results[first] = Reply()
    pool.receive(0.0)
    calls.results[second] = _receipt(1, 2)
    done = pool.receive(0.0)
    assert _kinds(done) == {"run1": "receipt", "run2": "receipt"}
    for one in done:
        assert isinstance(one.result, Receipt)
        assert one.result.facts["run_id"].to_pylist() == list(one.batch.run_ids)


def test_the_workers_of_a_drained_node_commit_and_leave(calls: Calls) -> None:
    """They get nothing more; what they had not begun is lost, which is no attempt."""
    pool = _pool(calls, 9, slots=2, is_shared=True)
    (first, _), _, (third, _), _ = calls.sent  # batches 1 and 3 are those of the first node
    calls.results[first] = Reply()  # held
    pool.receive(0.0)
    drained = RayStatus(1, 0, draining=frozenset({"node1"}))
    pool.observe(drained)
    pool.observe(drained)
    assert calls.stopped == [1]
    pool.send(10.0, has_more=True)
    assert len(calls.sent) == 4
    calls.results[third] = Reply(_receipt(1).receipts, _receipt(1).facts, [(3, Failure("lost", "drained"))])
    assert _kinds(pool.receive(0.0)) == {"run1": "receipt", "run3": "lost"}
    pool.send(10.0, has_more=True)
    assert (len(calls.sent), calls.killed, pool.workers) == (4, 1, 1)


def test_a_drained_worker_without_a_call_commits_what_it_holds(calls: Calls) -> None:
    pool = _pool(calls, 1, is_shared=True)
    calls.results[calls.sent[0][0]] = Reply()
    pool.receive(0.0)
    pool.observe(RayStatus(0, 0, draining=frozenset({"node1"})))
    pool.submit(Batch(("run2",), Configs((), ())))
    pool.send(10.0, has_more=True)
    reference, numbers = calls.sent[-1]
    assert numbers == ()
    calls.results[reference] = _receipt(1)
    assert _kinds(pool.receive(0.0)) == {"run1": "receipt"}
    pool.send(10.0, has_more=True)
    assert (calls.killed, pool.waiting) == (1, 1)


def test_workers_are_as_many_as_processors_are_free(calls: Calls) -> None:
    """Of 1,600 processors, others have 1,000; one worker waits for the next."""
    pool = RayPool(lambda: Actor(calls), is_shared=True)
    for number in range(5000):
        pool.submit(Batch((f"run{number + 1}",), Configs((), ())))
    pool.observe(RayStatus(1600, 600))
    pool.fit(None)
    assert calls.started == 600
    pool.receive(0.0)
    pool.send(10.0, has_more=True)
    calls.has_room = False
    for _ in range(3):
        pool.observe(RayStatus(1600, 0))
        pool.fit(None)
        pool.receive(0.0)
    assert calls.started == 601


def test_no_worker_waits_on_a_cluster_of_ones_own(calls: Calls) -> None:
    pool = _pool(calls, 5000, slots=16, is_shared=True)
    for _ in range(3):
        pool.observe(RayStatus(16, 0))
        pool.fit(None)
        pool.receive(0.0)
    assert calls.started == 16


def test_workers_that_start_are_not_counted_as_free(calls: Calls) -> None:
    """The status may be older than they are."""
    calls.has_room = False
    pool = _pool(calls, 100, slots=8, is_shared=True)
    pool.observe(RayStatus(16, 16))
    pool.fit(None)
    assert calls.started == 16


def test_an_empty_cluster_gets_one_worker_that_waits(calls: Calls) -> None:
    calls.has_room = False
    pool = _pool(calls, 100, slots=0, is_shared=True)
    pool.fit(None)
    assert calls.started == 1


@pytest.mark.parametrize(
    ("status", "leaving"),
    [
        (RayStatus(16, 0), 0),  # nobody waits
        (RayStatus(16, 2, pending=3), 0),  # those that wait have room
        (RayStatus(16, 0, pending=1), 2),  # an eighth, as it has more than half
        (RayStatus(64, 0, pending=1), 1),  # a quarter of the cluster: for each that waits one
        (RayStatus(16, 0, pending=100), 16),
    ],
)
def test_workers_leave_after_their_turn_if_others_wait(
    calls: Calls, monkeypatch: pytest.MonkeyPatch, status: RayStatus, leaving: int
) -> None:
    pool = _pool(calls, 5000, slots=16, is_shared=True)
    pool.observe(status)
    assert pool.workers == 16, "their turn has not ended"
    now = ray_pool.time.monotonic()
    monkeypatch.setattr(ray_pool.time, "monotonic", lambda: now + 121.0)
    pool.observe(status)
    assert pool.workers == 16 - leaving


def test_workers_are_not_more_than_batches(calls: Calls) -> None:
    pool = _pool(calls, 3, slots=100)
    assert [numbers for _, numbers in calls.sent] == [(1,), (2,), (3,)]
    pool.kill()
    assert calls.killed == 3
    assert pool.waiting == 0
