"""Rows of several batches that a worker commits together: when, as what, and what a failure costs."""

import errno
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from destage.engine import results_schema
from destage.errors import Issue
from destage.store.files import durable
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.stored_rows import list_complete_fragments, read_rows
from destage.store.locks.lease import FileLease
from destage.sweeps import Study
from destage.sweeps.execution import driver as driving
from destage.sweeps.execution.driver import Driver, Interrupts, SessionEnd
from destage.sweeps.reading.expansion import expand
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.rounds.planner import Planner
from destage.sweeps.workers.batches import Batch, Configs, Failure, FinishedBatch, Receipt
from destage.sweeps.workers.executors import MOST_ROWS, InlineExecutor, OpenPart

MakeStudy = Callable[..., Study]


@pytest.fixture
def layout(tmp_path: Path) -> SweepLayout:
    layout = SweepLayout(tmp_path / "quick-0")
    layout.make()
    return layout


def _plan(study: Study) -> pa.Table:
    plan = Planner(study, expand(study)).next_round({})
    assert plan is not None
    return plan


def _rows(*names: str, error_kind: str | None = None) -> pa.Table:
    count = len(names)
    columns = {
        "run_id": [f"{name:0>32}" for name in names],
        "status": ["failed" if error_kind else "ok"] * count,
        "error_kind": pa.array([error_kind] * count, pa.string()),
        "error": pa.array([error_kind] * count, pa.string()),
        "events": [1.0] * count,
    }
    return pa.table(columns)


def _batch(*names: str) -> Batch:
    return Batch(tuple(f"{name:0>32}" for name in names), Configs((("",),), ((0,) * len(names),)))


def _drive(layout: SweepLayout, executor: InlineExecutor, plan: pa.Table, hold_s: float = 1e6) -> Driver:
    driver = Driver(
        fragments=layout.fragments,
        ends=SessionEnd(str(layout.root), FileLease(), Interrupts()),
        start=lambda: executor,
        report=lambda: None,
        finished=FinishedRuns(("events",), keeps_facts=True),
        committed=lambda *_: None,
        hold_s=hold_s,
    )
    driver.drive(plan)
    driver.close()
    return driver


def test_batches_of_a_part_are_one_fragment(layout: SweepLayout) -> None:
    part = OpenPart(layout.fragments, ("events",))
    assert part.add(_batch("a", "b"), _rows("a", "b"), 1.0) == []
    assert part.add(_batch("c"), _rows("c"), 2.0) == []
    assert not list_complete_fragments(layout)
    first, second = part.publish()
    (fragment,) = list_complete_fragments(layout)
    assert isinstance(first.result, Receipt)
    assert isinstance(second.result, Receipt)
    assert first.result.fragment == second.result.fragment == fragment.name
    assert [first.result.facts.num_rows, first.result.seconds, second.result.seconds] == [2, 1.0, 2.0]
    assert len(part) == 0
    assert part.publish() == []


def test_a_part_never_holds_more_work_than_may_be_lost(layout: SweepLayout) -> None:
    """With equal batches, what is held and the batch in execution are together at most the bound."""
    part = OpenPart(layout.fragments, ("events",))
    for number in range(4):
        assert not part.is_due(10.0)
        part.add(_batch(str(number)), _rows(str(number)), 2.0)
    assert not part.is_due(10.1)
    assert part.is_due(10.0)
    part.publish()
    part.add(_batch("x"), _rows("x"), 0.0)
    assert part.is_due(0.0)
    part.publish()
    names = [f"{number:x}" for number in range(MOST_ROWS)]
    part.add(_batch(*names), _rows(*names), 0.0)
    assert part.is_due(10.0)


def test_rows_without_a_result_are_a_fragment_of_their_own(layout: SweepLayout) -> None:
    """So that `compact` and the index can take all rows of a part."""
    part = OpenPart(layout.fragments, ("events",))
    part.add(_batch("a"), _rows("a"), 1.0)
    (late,) = part.add(_batch("b"), _rows("b", error_kind="timeout"), 1.0)
    (kept,) = part.publish()
    assert isinstance(late.result, Receipt)
    assert isinstance(kept.result, Receipt)
    assert late.result.fragment != kept.result.fragment
    assert len(list_complete_fragments(layout)) == 2


@pytest.mark.parametrize("number", [errno.ESTALE, errno.ENOSPC])
def test_a_part_that_cannot_be_written_fails_once(
    layout: SweepLayout, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(_: int) -> None:
        raise OSError(number, "failed")

    part = OpenPart(layout.fragments, ("events",))
    for name in "abc":
        part.add(_batch(name), _rows(name), 1.0)
    with monkeypatch.context() as faulty:
        faulty.setattr(durable.os, "fsync", fail)
        results = [one.result for one in part.publish()]
    if number == errno.ENOSPC:  # no other worker could write either
        assert all(isinstance(one, Issue) and one.code == "system.disk-full" for one in results)
    else:
        assert [one.kind for one in results if isinstance(one, Failure)] == ["infrastructure", "lost", "lost"]
    assert len(part) == 0
    assert not list(layout.fragments.iterdir())


def test_a_write_that_fails_once_costs_no_run(layout: SweepLayout, monkeypatch: pytest.MonkeyPatch) -> None:
    part = OpenPart(layout.fragments, ("events",))
    part.add(_batch("a"), _rows("a"), 1.0)
    sync, failures = durable.os.fsync, [OSError(errno.ESTALE, "stale")]

    def fail_once(descriptor: int) -> None:
        if failures:
            raise failures.pop()
        sync(descriptor)

    monkeypatch.setattr(durable.os, "fsync", fail_once)
    assert isinstance(part.publish()[0].result, Receipt)


def test_parts_hold_the_rows_of_single_batches(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = _plan(make_study(axes={"array.disks": [1, 2, 3]}, replicates=40))
    found = {}
    for name, eager in (("single", 10**6), ("held", 0)):
        layout = SweepLayout(tmp_path / name)
        layout.make()
        monkeypatch.setattr(driving, "EAGER", eager)
        executor = InlineExecutor(2, layout.fragments, ("events",))
        assert _drive(layout, executor, plan).executed == 120
        rows = read_rows(layout).select(["run_id", *results_schema().names])
        found[name] = repr(rows.to_pylist()), len(list_complete_fragments(layout))
    assert found["single"][0] == found["held"][0]
    assert found["held"][1] <= 4 < found["single"][1]


def test_a_small_sweep_shows_each_batch_at_once(make_study: MakeStudy, layout: SweepLayout) -> None:
    executor = InlineExecutor(1, layout.fragments, ("events",))
    executor.has_more = True
    plan = _plan(make_study(replicates=30))
    seen = []

    class Watched(FinishedRuns):
        def add(self, rows: pa.Table) -> None:
            super().add(rows)
            seen.append(read_rows(layout, []).num_rows >= len(self))

    driver = Driver(
        fragments=layout.fragments,
        ends=SessionEnd(str(layout.root), FileLease(), Interrupts()),
        start=lambda: executor,
        report=lambda: None,
        finished=Watched(("events",), keeps_facts=False),
        committed=lambda *_: None,
        hold_s=1e6,
    )
    driver.drive(plan)
    driver.close()
    assert len(seen) > 2
    assert all(seen), "a batch counted before its rows were in the store"


class LosingExecutor(InlineExecutor):
    """Loses each part once, as a worker does that is killed before its commit."""

    lost = 0

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        done = super().collect(timeout_s)
        if not self.lost:
            self.lost = len(done)
            return [FinishedBatch(one.batch, Failure("lost", "killed")) for one in done]
        return done


def test_batches_of_a_lost_part_are_no_attempts(make_study: MakeStudy, layout: SweepLayout) -> None:
    plan = _plan(make_study(replicates=20))
    executor = LosingExecutor(1, layout.fragments, ("events",))
    driver = _drive(layout, executor, plan)
    assert executor.lost
    assert (driver.failures.retries, driver.stopped, driver.executed) == (0, None, 20)
    assert set(read_rows(layout)["prov_attempt"].to_pylist()) == {0}


def test_rows_beside_a_long_run_are_committed_after_a_time(layout: SweepLayout) -> None:
    part = OpenPart(layout.fragments, ("events",))
    assert not part.is_old(0.0)
    part.add(_batch("a"), _rows("a"), 0.0)
    assert not part.is_old(60.0)
    assert part.is_old(0.0)


def test_a_batch_passes_a_fail_point_while_it_is_held(
    make_study: MakeStudy, layout: SweepLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[tuple[str, int]] = []
    monkeypatch.setattr(driving, "EAGER", 0)
    monkeypatch.setattr(
        "destage.sweeps.workers.executors.pass_point",
        lambda name: passed.append((name, len(list_complete_fragments(layout)))),
    )
    executor = InlineExecutor(1, layout.fragments, ("events",))
    _drive(layout, executor, _plan(make_study(replicates=20)))
    assert "rows_held" in durable.NAMES
    assert passed.count(("rows_held", 0)) > 2
