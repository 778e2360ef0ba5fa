"""The driver over a faulty executor: retries, splitting, abandoning runs, the breaker, the budget."""

import heapq
import pickle
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from destage.errors import Issue
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.stored_rows import find_present_runs, read_rows
from destage.store.locks.lease import FileLease, Lease
from destage.store.state.plan import join_configs
from destage.sweeps import Study
from destage.sweeps.execution.driver import BREAKER, TRIES, Driver, Failures, Interrupts, SessionEnd
from destage.sweeps.reading.expansion import expand
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.rounds.planner import Planner
from destage.sweeps.workers.batches import (
    BATCHES_PER_S,
    Batch,
    Configs,
    CostModel,
    Failure,
    FinishedBatch,
    Queue,
)
from destage.sweeps.workers.executors import AHEAD, InlineExecutor

MakeStudy = Callable[..., Study]


HELD = FileLease()


class FaultyExecutor:
    """Runs batches at once, except those that a function fails."""

    name = "faulty"
    slots = 1
    ahead = AHEAD
    hold_s = 0.0
    has_more = False
    left_s = 0.0

    def __init__(self, layout: SweepLayout, fail: Callable[[Batch], Failure | Issue | None]) -> None:
        self.seen: list[Batch] = []
        self._inner = InlineExecutor(1, layout.fragments, ("events",))
        self._fail = fail
        self._failed: list[FinishedBatch] = []

    @property
    def waiting(self) -> int:
        return self._inner.waiting + len(self._failed)

    def submit(self, batch: Batch) -> None:
        self.seen.append(batch)
        failure = self._fail(batch)
        if failure is None:
            self._inner.submit(batch)
        else:
            self._failed.append(FinishedBatch(batch, failure))

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        failed, self._failed = self._failed, []
        return failed or self._inner.collect(timeout_s)

    def stop(self) -> None:
        self._inner.stop()

    def close(self) -> None:
        self._inner.close()


@pytest.fixture
def layout(tmp_path: Path) -> SweepLayout:
    layout = SweepLayout(tmp_path / "quick-0")
    layout.make()
    return layout


def _plan(study: Study) -> pa.Table:
    plan = Planner(study, expand(study)).next_round({})
    assert plan is not None
    return plan


def _ids(plan: pa.Table) -> set[str]:
    return set(plan["run_id"].to_pylist())


def _repeat(plan: pa.Table, count: int) -> pa.Table:
    return plan.take(pa.repeat(pa.scalar(0), count))


def _driver(
    layout: SweepLayout, executor: FaultyExecutor, deadline: float | None = None, lease: Lease = HELD
) -> Driver:
    return Driver(
        fragments=layout.fragments,
        ends=SessionEnd(str(layout.root), lease, Interrupts(), deadline),
        start=lambda: executor,
        report=lambda: None,
        finished=FinishedRuns(("events",), keeps_facts=True),
        committed=lambda *_: None,
        hold_s=10.0,
    )


def test_infrastructure_failures_are_retried(make_study: MakeStudy, layout: SweepLayout) -> None:
    runs = _plan(make_study(replicates=3))
    executor = FaultyExecutor(
        layout, lambda batch: None if batch.attempt else Failure("infrastructure", "gone")
    )
    driver = _driver(layout, executor)
    driver.drive(runs)
    driver.close()
    rows = read_rows(layout)
    assert find_present_runs(rows) == _ids(runs) == driver.finished.facts.keys()
    assert set(rows["prov_attempt"].to_pylist()) == {1}
    assert (driver.failures.retries, driver.stopped) == (3, None)


class PartialExecutor(FaultyExecutor):
    """Commits only the first run of each batch, as a worker does that the machine terminates."""

    def submit(self, batch: Batch) -> None:
        self.seen.append(batch)
        self._inner.submit(Batch(batch.run_ids[:1], batch.configs[:1], batch.attempt))

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        # On a slow machine nothing has ended yet.
        return [FinishedBatch(self.seen[-1], inner.result) for inner in self._inner.collect(timeout_s)]


def test_the_rest_of_a_batch_that_was_stopped_is_executed(make_study: MakeStudy, layout: SweepLayout) -> None:
    runs = _plan(make_study(replicates=5))
    executor = PartialExecutor(layout, lambda _: None)
    executor.ahead = 1
    driver = _driver(layout, executor)
    driver.costs.observe(1e-3, 0.0, 1)  # the first batch has several runs
    driver.drive(runs)
    driver.close()
    assert len(executor.seen[0].run_ids) > 1
    assert find_present_runs(read_rows(layout)) == _ids(runs)
    assert (driver.executed, driver.stopped) == (5, None)


def test_a_batch_that_nobody_stopped_is_tried_again(make_study: MakeStudy, layout: SweepLayout) -> None:
    runs = _plan(make_study(replicates=3))
    executor = FaultyExecutor(layout, lambda batch: None if batch.attempt else Failure("stopped", "killed"))
    driver = _driver(layout, executor)
    driver.drive(runs)
    driver.close()
    assert find_present_runs(read_rows(layout)) == _ids(runs)


def test_a_retry_for_five_executed_batches_ends_no_session() -> None:
    failures = Failures("a sweep", [])
    lost = Failure("infrastructure", "its machine was taken away")
    for number in range(1_000):
        failures.executed += 5
        batch = Batch((f"run{number}",), Configs((), ()))
        assert failures.return_batch(batch, lost, slots=1) == (batch.retry(),)
    assert not failures.is_exhausted(1)
    failures.executed = 0
    assert failures.is_exhausted(1)


def test_a_split_batch_keeps_its_runs_and_counts_the_attempt() -> None:
    batch = Batch(("a", "b", "c"), Configs((("1", "2"),), ((0, 1, 0),)))
    one, two = batch.split()
    assert (one.run_ids, one.configs.join(), one.attempt) == (("a",), ("{1}",), 1)
    assert (two.run_ids, two.configs.join(), two.attempt) == (("b", "c"), ("{2}", "{1}"), 1)
    assert one.split() == (one.retry(),)
    assert batch.rest(1).configs.join() == ("{2}", "{1}")


def test_a_configuration_has_the_parts_that_its_run_has() -> None:
    configs = Configs((("1", "2"), ("3",), ()), ((0, 1), (-1, 0), (-1, -1)))
    assert configs.join() == ("{1}", "{2,3}")


def test_a_batch_has_each_part_of_its_configurations_once(make_study: MakeStudy) -> None:
    """Its size for another process: only seeds differ here."""
    plan = _plan(make_study(replicates=100))
    costs = CostModel()
    costs.observe(1e-6, 0.0, 1)
    batch = Queue(plan, costs).take(1)
    whole = sum(map(len, batch.configs.join()))
    assert len(batch.run_ids) == 100
    assert len(pickle.dumps(batch)) < whole / 5


def test_an_abandoned_run_leaves_a_row_that_is_retried(make_study: MakeStudy, layout: SweepLayout) -> None:
    plan = _plan(make_study(replicates=3))
    first, *others = plan["run_id"].to_pylist()

    def fail(batch: Batch) -> Failure | None:
        return Failure("oom", "out of memory") if first in batch.run_ids else None

    executor = FaultyExecutor(layout, fail)
    driver = _driver(layout, executor)
    driver.drive(plan)
    driver.close()
    rows = {row["run_id"]: row for row in read_rows(layout).to_pylist()}
    assert find_present_runs(read_rows(layout)) == set(others)
    assert (rows[first]["error_kind"], rows[first]["error"]) == ("oom", "out of memory")
    assert driver.stopped == "infrastructure"
    (warning,) = driver.messages
    assert (warning.code, warning.place) == ("sweep.runs-abandoned", str(layout.root))
    assert warning.data == {"run_ids": (first,), "attempts": TRIES, "kind": "oom"}
    assert sum(first in batch.run_ids for batch in executor.seen) == TRIES


def test_a_worker_that_must_not_take_part_ends_the_session(
    make_study: MakeStudy, layout: SweepLayout
) -> None:
    mismatch = Issue("sweep.worker-store-mismatch", "host", "another directory")
    executor = FaultyExecutor(layout, lambda _: mismatch)
    driver = _driver(layout, executor)
    driver.drive(_plan(make_study(replicates=30)))
    driver.close()
    assert (driver.stopped, driver.messages, driver.executed) == ("infrastructure", [mismatch], 0)
    assert len(executor.seen) == AHEAD


@pytest.mark.parametrize("kind", ["oom", "infrastructure"])
def test_a_run_that_kills_its_worker_fails_alone(
    make_study: MakeStudy, layout: SweepLayout, kind: str
) -> None:
    runs = _plan(make_study(replicates=100))
    fatal = runs["run_id"][50].as_py()
    executor = FaultyExecutor(
        layout, lambda batch: Failure(kind, "killed") if fatal in batch.run_ids else None
    )
    driver = _driver(layout, executor)
    driver.costs.observe(seconds=0.1, events=1000, runs=1)  # so that the first batch is a large one
    driver.drive(runs)
    driver.close()
    assert max(len(batch.run_ids) for batch in executor.seen) > 2**TRIES
    assert find_present_runs(read_rows(layout)) == _ids(runs) - {fatal}
    assert driver.stopped == "infrastructure"


def test_the_retry_budget_grows_with_the_slots(make_study: MakeStudy, layout: SweepLayout) -> None:
    runs = _plan(make_study(replicates=120))
    executor = FaultyExecutor(
        layout, lambda batch: None if batch.attempt else Failure("infrastructure", "gone")
    )
    executor.slots = 40
    driver = _driver(layout, executor)
    driver.drive(runs)
    driver.close()
    assert driver.stopped is None
    assert len(driver.finished.facts) == 120


def test_a_signal_during_the_last_batches_does_not_interrupt(
    make_study: MakeStudy, layout: SweepLayout
) -> None:
    runs = _plan(make_study(replicates=3))
    executor = FaultyExecutor(layout, lambda _: None)
    driver = _driver(layout, executor)
    driver.report = lambda: setattr(driver.ends.interrupts, "is_draining", True)
    driver.drive(runs)
    driver.close()
    assert (driver.stopped, len(driver.finished.facts)) == (None, 3)


def test_budget_and_signals_stop_the_session(make_study: MakeStudy, layout: SweepLayout) -> None:
    runs = _plan(make_study(replicates=30))
    executor = FaultyExecutor(layout, lambda _: None)
    driver = _driver(layout, executor, deadline=time.monotonic())
    driver.drive(runs)
    assert (driver.stopped, driver.executed) == ("budget", 0)
    driver = _driver(layout, executor)
    driver.ends.interrupts.is_draining = True
    driver.drive(runs)
    assert driver.stopped == "interrupted"
    driver.close()


def test_equal_failures_without_success_stop_the_session(make_study: MakeStudy, layout: SweepLayout) -> None:
    runs = _plan(make_study(replicates=2 * BREAKER + 50))
    invalid = pa.repeat(pa.scalar('"workload":{}'), len(runs)).dictionary_encode()
    runs = runs.set_column(runs.schema.get_field_index("config.workload"), "config.workload", invalid)
    driver = _driver(layout, FaultyExecutor(layout, lambda _: None))
    driver.drive(runs)
    driver.close()
    assert driver.stopped == "failed_runs"
    assert driver.failures.failed == driver.executed >= BREAKER
    assert [one.code for one in driver.messages] == ["sweep.run-failed", "sweep.all-runs-failed"]


def test_batches_start_single_and_shrink_to_the_end(make_study: MakeStudy) -> None:
    runs = _plan(make_study(replicates=200))
    costs = CostModel()
    queue = Queue(runs, costs)
    assert len(queue.take(2).run_ids) == 1
    assert queue.left_s == 0.0
    costs.observe(seconds=0.1, events=1000, runs=1)
    assert queue.left_s == pytest.approx(19.9)
    sizes = []
    while queue:
        sizes.append(len(queue.take(2).run_ids))
    assert queue.left_s == 0.0
    assert sum(sizes) == 199
    assert sizes[0] == 20  # the longest batch, 2 s; an eighth of the 19.9 s left is more
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-2] >= 2


def test_the_executor_is_told_the_work_that_is_left(make_study: MakeStudy, layout: SweepLayout) -> None:
    seen = []

    class Watched(FaultyExecutor):
        def collect(self, timeout_s: float) -> list[FinishedBatch]:
            seen.append(self.left_s)
            return super().collect(timeout_s)

    driver = _driver(layout, Watched(layout, lambda _: None))
    driver.costs.observe(seconds=10.0, events=1000, runs=1)
    driver.drive(_plan(make_study(replicates=20)))
    assert seen[0] > 0.0
    assert seen[-1] == 0.0


@pytest.mark.parametrize(("slots", "seconds"), [(2, 2), (1_600, 2), (10_000, 10)])
def test_batches_are_long_enough_to_keep_all_slots_busy(
    make_study: MakeStudy, slots: int, seconds: int
) -> None:
    costs = CostModel()
    queue = Queue(_repeat(_plan(make_study(replicates=1)), 300_000), costs)
    costs.observe(seconds=1.0, events=1000, runs=1)
    assert [len(queue.take(slots).run_ids) for _ in range(20)] == [seconds] * 20


@pytest.mark.parametrize(
    ("runs", "slots"), [(10_000, 10_000), (50_000, 10_000), (300_000, 10_000), (500, 50)]
)
def test_no_fixed_batch_length_ends_much_sooner(make_study: MakeStudy, runs: int, slots: int) -> None:
    costs = CostModel()
    queue = Queue(_repeat(_plan(make_study(replicates=1)), runs), costs)
    costs.observe(seconds=1.0, events=1000, runs=1)

    def learned() -> Iterator[int]:
        while queue:
            yield len(queue.take(slots).run_ids)

    def fixed(length: int) -> Iterator[int]:
        yield from [length] * (runs // length)

    best = min(_makespan(fixed(length), slots) for length in (1, 2, 5, 10, 20, 25, 50))
    assert _makespan(learned(), slots) < 1.25 * best


def _makespan(lengths: Iterator[int], slots: int) -> float:
    """Return when the last batch ends [s], each submitted when the driver and a slot are free."""
    idle, driver, end = [0.0] * slots, 0.0, 0.0
    for length in lengths:
        driver = max(driver + 1 / BATCHES_PER_S, heapq.heappop(idle))
        heapq.heappush(idle, driver + length)
        end = max(end, driver + length)
    return end


def test_a_lost_lease_stops_the_session_after_batches_in_flight(
    make_study: MakeStudy, layout: SweepLayout
) -> None:
    class Losing:
        looks = 0

        @property
        def is_lost(self) -> bool:
            self.looks += 1
            return self.looks > 1

    runs = _plan(make_study(axes={"array.disks": [1, 2]}, replicates=60))
    driver = _driver(layout, FaultyExecutor(layout, lambda _: None), lease=Losing())
    driver.drive(runs)
    assert driver.stopped == "infrastructure"
    assert [one.code for one in driver.messages] == ["sweep.lease-lost"]
    assert 0 < driver.executed < len(runs)
    assert find_present_runs(read_rows(layout)) == driver.finished.facts.keys()


def test_batches_hand_out_each_run_with_its_configuration(make_study: MakeStudy) -> None:
    axes = {"array.disks": [2, 3, 4], "workload.users": [5, 6]}
    plan = _plan(make_study(axes=axes, replicates=3))
    expected = dict(zip(plan["run_id"].to_pylist(), join_configs(plan).to_pylist(), strict=True))
    # Chunks with dictionaries of their own, as in a plan of more text than one dictionary can hold.
    parts = [
        plan.slice(start, 5).combine_chunks().take(list(range(min(5, 18 - start))))
        for start in (0, 5, 10, 15)
    ]
    for whole in (plan, pa.concat_tables(parts)):
        queue, handed = Queue(whole, CostModel()), {}
        while queue:
            batch = queue.take(1)
            handed |= dict(zip(batch.run_ids, batch.configs.join(), strict=True))
        assert handed == expected


def test_rows_of_several_points_share_one_execution(make_study: MakeStudy, layout: SweepLayout) -> None:
    plan = _plan(make_study(axes={"controller.cache.write_fraction": [0.25, 0.5, 0.75]}))
    assert (len(plan), len(_ids(plan))) == (6, 2)
    executor = FaultyExecutor(layout, lambda _: None)
    driver = _driver(layout, executor)
    driver.drive(plan)
    driver.drive(plan)
    driver.close()
    assert driver.executed == 2
    assert sorted(run for batch in executor.seen for run in batch.run_ids) == sorted(_ids(plan))
