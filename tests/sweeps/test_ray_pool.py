"""What becomes of the batches of a worker on Ray that dies, by what it was doing; without Ray."""

import itertools
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from destage.sweeps.ray import pool as ray_pool
from destage.sweeps.ray.pool import RayPool
from destage.sweeps.ray.ray_worker import Reply
from destage.sweeps.workers.batches import Batch, Failure, FinishedBatch, Receipt


class Calls:
    """Stands for Ray: calls return when a test says so."""

    def __init__(self) -> None:
        self.results: dict[int, Any] = {}
        self.sent: list[tuple[int, tuple[int, ...]]] = []
        self.killed = 0
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

    def __init__(self, calls: Calls, *, is_execute: bool = False) -> None:
        self._calls = calls
        self._is_execute = is_execute

    def remote(self, *arguments: Any) -> int:
        reference = self._calls.new()
        if self._is_execute:
            self._calls.sent.append((reference, tuple(number for number, _ in arguments[0])))
        else:
            self._calls.results[reference] = None
        return reference


class Actor:
    """A worker that starts at once."""

    def __init__(self, calls: Calls) -> None:
        self.greet = Method(calls)
        self.execute = Method(calls, is_execute=True)
        self.stop = Method(calls)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Calls]:
    calls = Calls()
    monkeypatch.setattr(ray_pool.ray, "wait", calls.wait)
    monkeypatch.setattr(ray_pool.ray, "kill", calls.kill)
    monkeypatch.setattr(ray_pool, "read_result", lambda reference: calls.results[reference])
    return calls


def _pool(calls: Calls, batches: int, *, slots: int = 1, per_call: int = 1) -> RayPool:
    pool = RayPool(lambda: Actor(calls), is_shared=False)
    for number in range(batches):
        pool.submit(Batch((f"run{number + 1}",), ("{}",)))
    pool.fit(slots, None)
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
    pool.fit(1, None)
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


def test_a_worker_that_is_told_to_end_gets_no_further_batch(calls: Calls) -> None:
    pool = _pool(calls, 4)
    (first, _), (second, _) = calls.sent
    calls.results[first] = Reply(_receipt(1).receipts, _receipt(1).facts, [], ends=True)
    assert _kinds(pool.receive(0.0)) == {"run1": "receipt"}
    pool.send(10.0, has_more=True)
    assert len(calls.sent) == 2
    calls.results[second] = Reply(failures=[(2, Failure("lost", "ends"))], ends=True)
    assert _kinds(pool.receive(0.0)) == {"run2": "lost"}
    assert (pool.waiting, calls.killed) == (2, 1)


def test_workers_are_not_more_than_batches(calls: Calls) -> None:
    pool = _pool(calls, 3, slots=100)
    assert [numbers for _, numbers in calls.sent] == [(1,), (2,), (3,)]
    assert pool.kill()
    assert calls.killed == 3
    assert pool.waiting == 0
