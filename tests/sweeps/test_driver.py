"""Driving a round over an executor that misbehaves: retries, halving, giving up, the breaker, the budget."""

import heapq
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from destage.store.layout import SweepLayout
from destage.store.lease import FileLease, Lease
from destage.store.manifests import Manifest
from destage.store.rows import present_runs, read_rows
from destage.sweeps import Study
from destage.sweeps.batches import BATCHES_PER_S, Batch, CostModel, Queue
from destage.sweeps.driver import BREAKER, TRIES, Driver
from destage.sweeps.executors import InlineExecutor
from destage.sweeps.interrupts import Interrupts
from destage.sweeps.planner import PlannedRun, Planner
from destage.sweeps.points import expand
from destage.sweeps.worker import Failure, FinishedBatch

MakeStudy = Callable[..., Study]


HELD = FileLease()


class Misbehaving:
    """Runs batches at once, unless something is to go wrong with them."""

    name = "misbehaving"
    slots = 1

    def __init__(self, layout: SweepLayout, wrong: Callable[[Batch], Failure | None]) -> None:
        self.seen: list[Batch] = []
        self._inner = InlineExecutor(1, layout.fragments, ("events",))
        self._wrong = wrong
        self._failed: list[FinishedBatch] = []

    def submit(self, batch: Batch) -> None:
        self.seen.append(batch)
        failure = self._wrong(batch)
        if failure is None:
            self._inner.submit(batch)
        else:
            self._failed.append(FinishedBatch(batch, failure))

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        failed, self._failed = self._failed, []
        return failed or self._inner.collect(timeout_s)

    def close(self) -> None:
        self._inner.close()


@pytest.fixture
def layout(tmp_path: Path) -> SweepLayout:
    layout = SweepLayout(tmp_path / "quick-0")
    layout.make()
    return layout


def _runs(study: Study) -> list[PlannedRun]:
    return Planner(study, expand(study)).next_round({})


def _driver(
    layout: SweepLayout, executor: Misbehaving, deadline: float | None = None, lease: Lease = HELD
) -> Driver:
    return Driver(
        layout=layout,
        manifest=Manifest(layout),
        lease=lease,
        start=lambda _: executor,
        columns=("events",),
        interrupts=Interrupts(),
        deadline=deadline,
        report=lambda: None,
    )


def test_a_batch_the_machine_spoiled_is_tried_again(make_study: MakeStudy, layout: SweepLayout) -> None:
    runs = _runs(make_study(replicates=3))
    executor = Misbehaving(layout, lambda batch: None if batch.attempt else Failure("infrastructure", "gone"))
    driver = _driver(layout, executor)
    driver.drive(runs)
    driver.close()
    rows = read_rows(layout)
    assert present_runs(rows) == {run.run_id for run in runs} == driver.rows.keys()
    assert set(rows["prov_attempt"].to_pylist()) == {1}
    assert (driver.retries, driver.stopped) == (3, None)


def test_after_an_out_of_memory_kill_the_batch_is_halved(layout: SweepLayout) -> None:
    batch = Batch(("a", "b", "c"), ("1", "2", "3"))
    assert batch.halves() == (Batch(("a",), ("1",), 1), Batch(("b", "c"), ("2", "3"), 1))
    assert Batch(("a",), ("1",)).halves() == (Batch(("a",), ("1",), 1),)
    assert layout.fragments.is_dir()


def test_a_run_given_up_leaves_a_row_that_does_not_count(make_study: MakeStudy, layout: SweepLayout) -> None:
    first, *others = _runs(make_study(replicates=3))

    def wrong(batch: Batch) -> Failure | None:
        return Failure("oom", "out of memory") if first.run_id in batch.run_ids else None

    executor = Misbehaving(layout, wrong)
    driver = _driver(layout, executor)
    driver.drive([first, *others])
    driver.close()
    rows = {row["run_id"]: row for row in read_rows(layout).to_pylist()}
    assert present_runs(read_rows(layout)) == {run.run_id for run in others}
    assert (rows[first.run_id]["error_kind"], rows[first.run_id]["error"]) == ("oom", "out of memory")
    assert driver.stopped == "infrastructure"
    assert sum(first.run_id in batch.run_ids for batch in executor.seen) == TRIES


@pytest.mark.parametrize("kind", ["oom", "infrastructure"])
def test_one_run_that_kills_its_worker_takes_no_other_with_it(
    make_study: MakeStudy, layout: SweepLayout, kind: str
) -> None:
    runs = _runs(make_study(replicates=100))
    fatal = runs[50].run_id
    executor = Misbehaving(layout, lambda batch: Failure(kind, "killed") if fatal in batch.run_ids else None)
    driver = _driver(layout, executor)
    driver.costs.observe(seconds=0.1, events=1000, runs=1)  # so that the first batch is a large one
    driver.drive(runs)
    driver.close()
    assert max(len(batch.run_ids) for batch in executor.seen) > 2**TRIES
    assert present_runs(read_rows(layout)) == {run.run_id for run in runs} - {fatal}
    assert driver.stopped == "infrastructure"


def test_a_lost_node_uses_up_no_budget_that_many_slots_need(
    make_study: MakeStudy, layout: SweepLayout
) -> None:
    runs = _runs(make_study(replicates=120))
    executor = Misbehaving(layout, lambda batch: None if batch.attempt else Failure("infrastructure", "gone"))
    executor.slots = 40
    driver = _driver(layout, executor)
    driver.drive(runs)
    driver.close()
    assert driver.stopped is None
    assert len(driver.rows) == 120


def test_a_sweep_whose_last_runs_are_under_way_is_carried_to_its_end(
    make_study: MakeStudy, layout: SweepLayout
) -> None:
    runs = _runs(make_study(replicates=3))
    executor = Misbehaving(layout, lambda _: None)
    driver = _driver(layout, executor)
    driver.report = lambda: setattr(driver.interrupts, "is_draining", True)
    driver.drive(runs)
    driver.close()
    assert (driver.stopped, len(driver.rows)) == (None, 3)


def test_the_budget_stops_handing_out_and_commits_what_is_under_way(
    make_study: MakeStudy, layout: SweepLayout
) -> None:
    runs = _runs(make_study(replicates=30))
    executor = Misbehaving(layout, lambda _: None)
    driver = _driver(layout, executor, deadline=time.monotonic())
    driver.drive(runs)
    assert (driver.stopped, driver.executed) == ("budget", 0)
    driver = _driver(layout, executor)
    driver.interrupts.is_draining = True
    driver.drive(runs)
    assert driver.stopped == "interrupted"
    driver.close()


def test_failures_all_alike_trip_the_breaker(make_study: MakeStudy, layout: SweepLayout) -> None:
    runs = [
        PlannedRun(run.point, run.replicate, None, run.run_id, "{}", None)
        for run in _runs(make_study(replicates=2 * BREAKER + 50))
    ]
    driver = _driver(layout, Misbehaving(layout, lambda _: None))
    driver.drive(runs)
    driver.close()
    assert driver.stopped == "failed_runs"
    assert driver.failed == driver.executed >= BREAKER
    assert "all failed alike" in driver.messages[-1]


def test_batches_start_single_and_shrink_to_the_tail(make_study: MakeStudy) -> None:
    runs = _runs(make_study(replicates=200))
    costs = CostModel()
    queue = Queue(runs, costs)
    assert len(queue.take(2).run_ids) == 1
    costs.observe(seconds=0.1, events=1000, runs=1)
    sizes = []
    while queue:
        sizes.append(len(queue.take(2).run_ids))
    assert sum(sizes) == 199
    assert sizes[0] == 24  # an eighth of the 19.9 s that are left
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-2] >= 2


@pytest.mark.parametrize(("slots", "seconds"), [(2, 5), (2_000, 5), (10_000, 25)])
def test_batches_are_as_long_as_the_driver_needs_to_keep_all_slots_busy(
    make_study: MakeStudy, slots: int, seconds: int
) -> None:
    (run,) = _runs(make_study(replicates=1))
    costs = CostModel()
    queue = Queue([run] * 300_000, costs)
    costs.observe(seconds=1.0, events=1000, runs=1)
    assert [len(queue.take(slots).run_ids) for _ in range(20)] == [seconds] * 20


@pytest.mark.parametrize(
    ("runs", "slots"), [(10_000, 10_000), (50_000, 10_000), (300_000, 10_000), (500, 50)]
)
def test_no_length_of_batches_that_stays_the_same_would_end_much_sooner(
    make_study: MakeStudy, runs: int, slots: int
) -> None:
    (run,) = _runs(make_study(replicates=1))
    costs = CostModel()
    queue = Queue([run] * runs, costs)
    costs.observe(seconds=1.0, events=1000, runs=1)

    def learned() -> Iterator[int]:
        while queue:
            yield len(queue.take(slots).run_ids)

    def fixed(length: int) -> Iterator[int]:
        yield from [length] * (runs // length)

    best = min(_makespan(fixed(length), slots) for length in (1, 2, 5, 10, 20, 25, 50))
    assert _makespan(learned(), slots) < 1.25 * best


def _makespan(lengths: Iterator[int], slots: int) -> float:
    """Return when the last of some batches ends [s], each handed out when the driver and a slot are free."""
    idle, driver, end = [0.0] * slots, 0.0, 0.0
    for length in lengths:
        driver = max(driver + 1 / BATCHES_PER_S, heapq.heappop(idle))
        heapq.heappush(idle, driver + length)
        end = max(end, driver + length)
    return end


def test_a_writer_that_lost_its_lease_hands_out_no_more_and_commits_what_is_under_way(
    make_study: MakeStudy, layout: SweepLayout
) -> None:
    class Losing:
        looks = 0

        @property
        def is_lost(self) -> bool:
            self.looks += 1
            return self.looks > 1

    runs = _runs(make_study(axes={"array.disks": [1, 2]}, replicates=60))
    driver = _driver(layout, Misbehaving(layout, lambda _: None), lease=Losing())
    driver.drive(runs)
    assert driver.stopped == "infrastructure"
    assert 0 < driver.executed < len(runs)
    assert present_runs(read_rows(layout)) == driver.rows.keys()
