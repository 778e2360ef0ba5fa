"""Runs that other sweeps of the same store have executed are taken over, not executed again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from destage import sweeps
from destage.store import open_sweep
from destage.store.files import durable
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files import fragments
from destage.store.fragment_files.stored_rows import rows_schema
from destage.sweeps import Outcome, Study
from destage.sweeps.execution import shared_runs
from destage.sweeps.workers.batches import Batch, Configs
from destage.sweeps.workers.executors import Failure, commit_failure

MakeStudy = Callable[..., Study]
DISKS = "array.disks"
SEEK = {"maximize": "workload.users", "subject_to": ["response_p95 <= 60ms"], "max": 500}


def _run(study: Study, store: Path) -> Outcome:
    return sweeps.run(study, store, executor="inline", workers=1)


def _rows(outcome: Outcome) -> dict[str, dict[str, Any]]:
    return {row["run_id"]: row for row in open_sweep(outcome.path).rows().to_pylist()}


def test_sweeps_that_overlap_share_their_runs(make_study: MakeStudy, tmp_path: Path) -> None:
    first = _run(make_study(axes={DISKS: [1, 2, 3]}), tmp_path)
    other = make_study(name="other", axes={DISKS: [2, 3, 4, 5]})
    preview = sweeps.plan(other, tmp_path, with_estimate=True)
    assert (preview.runs, preview.present, preview.shared) == (8, 0, 4)
    assert preview.estimate is not None
    assert preview.estimate.runs_low == 4
    second = _run(other, tmp_path)
    assert (second.runs, second.executed, second.reused, second.shared) == (8, 4, 4, 4)
    assert second.state == "finished"
    # A row keeps its provenance: host, time and engine seconds are those of the run.
    before, after = _rows(first), _rows(second)
    both = before.keys() & after.keys()
    assert len(both) == 4
    assert all(before[run] == after[run] for run in both)
    again = _run(other, tmp_path)
    assert (again.executed, again.reused, again.shared) == (0, 8, 0)


def test_rows_taken_over_are_those_of_a_sweep_alone(make_study: MakeStudy, tmp_path: Path) -> None:
    _run(make_study(axes={DISKS: [1, 2]}), tmp_path / "one")
    shared = _run(make_study(name="other", axes={DISKS: [1, 2, 3]}), tmp_path / "one")
    alone = _run(make_study(name="other", axes={DISKS: [1, 2, 3]}), tmp_path / "two")
    assert (shared.shared, alone.shared) == (4, 0)
    results = [field.name for field in rows_schema() if not field.name.startswith("prov_")]
    one, two = (open_sweep(each.path).rows().select(results) for each in (shared, alone))
    assert one.equals(two)
    assert not sweeps.verify(shared.path).problems


def test_a_search_takes_over_every_round(make_study: MakeStudy, tmp_path: Path) -> None:
    first = _run(make_study(axes={DISKS: [1, 2]}, seek=SEEK), tmp_path)
    second = _run(make_study(name="other", axes={DISKS: [1, 2]}, seek=SEEK), tmp_path)
    assert (second.executed, second.shared, second.executor) == (0, first.runs, "none")
    assert open_sweep(second.path).answers().equals(open_sweep(first.path).answers())


@pytest.mark.parametrize("kind", ["infrastructure", "oom", "config"])
def test_failed_runs_are_not_taken_over(make_study: MakeStudy, tmp_path: Path, kind: str) -> None:
    first = _run(make_study(axes={DISKS: [1]}), tmp_path)
    layout = SweepLayout(first.path)
    for file in layout.fragments.iterdir():
        file.unlink()
    runs = tuple(open_sweep(first.path).plan()["run_id"].to_pylist())
    commit_failure(Batch(runs, Configs((), ())), Failure(kind, "lost"), layout.fragments)
    outcome = _run(make_study(name="other", axes={DISKS: [1]}), tmp_path)
    assert (outcome.executed, outcome.shared, outcome.failed) == (2, 0, 0)


def test_rows_from_before_a_column_was_added_are_not_taken_over(
    make_study: MakeStudy, tmp_path: Path
) -> None:
    first = _run(make_study(axes={DISKS: [1]}), tmp_path)
    layout = SweepLayout(first.path)
    rows = open_sweep(first.path).rows().drop_columns(["events"])
    for file in layout.fragments.iterdir():
        file.unlink()
    fragments.write_fragment(layout.fragments, rows)
    assert _run(make_study(name="other", axes={DISKS: [1]}), tmp_path).shared == 0


def test_only_sweeps_that_share_a_run_are_read(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(make_study(name="apart", axes={DISKS: [7]}), tmp_path)
    _run(make_study(name="near", axes={DISKS: [1]}), tmp_path)
    read: list[str] = []
    original = shared_runs.map_complete

    def count(layout: SweepLayout, *given: Any, **named: Any) -> Any:
        read.append(layout.root.name.partition("-")[0])
        return original(layout, *given, **named)

    monkeypatch.setattr(shared_runs, "map_complete", count)
    assert _run(make_study(name="other", axes={DISKS: [1, 2]}), tmp_path).shared == 2
    assert read == ["near"]
    # With all runs present, nothing is looked up.
    _run(make_study(name="other", axes={DISKS: [1, 2]}), tmp_path)
    assert read == ["near"]


def test_a_round_is_read_once_in_a_process(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search runs dozens of sweeps in one store; each looks into all others."""
    for disks in (1, 2, 3):
        _run(make_study(name=f"before-{disks}", axes={DISKS: [disks]}), tmp_path)
    read: list[str] = []
    original = shared_runs.read_round

    def count(file: Path, columns: list[str]) -> pa.Table:
        read.append(str(file))
        return original(file, columns)

    monkeypatch.setattr(shared_runs, "read_round", count)
    for disks in (4, 5):
        outcome = _run(make_study(name=f"after-{disks}", axes={DISKS: [1, 2, 3, disks]}), tmp_path)
        assert (outcome.executed, outcome.shared) == (2, 6)
    assert len(read) == len(set(read)) > 0


def test_the_sweeps_and_runs_looked_into_are_limited(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, disks in (("a", 1), ("b", 2), ("c", 3)):
        _run(make_study(name=name, axes={DISKS: [disks]}), tmp_path)
    every = make_study(name="d", axes={DISKS: [1, 2, 3]})
    monkeypatch.setattr(shared_runs, "_MOST_SWEEPS", 2)
    assert sweeps.plan(every, tmp_path, with_estimate=False).shared == 4
    monkeypatch.setattr(shared_runs, "_MOST_RUNS", 3)
    assert sweeps.plan(every, tmp_path, with_estimate=False).shared == 2


def test_a_damaged_sweep_is_passed_over(make_study: MakeStudy, tmp_path: Path) -> None:
    for name in ("a", "b"):
        path = _run(make_study(name=name, axes={DISKS: [1]}), tmp_path).path
        for file in (path / "generations" if name == "a" else path / "fragments").iterdir():
            file.write_bytes(b"damaged")
    outcome = _run(make_study(name="other", axes={DISKS: [1]}), tmp_path)
    assert (outcome.executed, outcome.shared, outcome.state) == (2, 0, "finished")


@pytest.mark.parametrize("point", durable.NAMES[:4])
def test_a_session_killed_while_it_copies_goes_on(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """Killed at each point of the second of four fragments, it takes over the others, each run once."""
    first = _run(make_study(axes={DISKS: [1, 2]}), tmp_path)
    monkeypatch.setattr(shared_runs, "_FRAGMENT_ROWS", 1)
    other = make_study(name="other", axes={DISKS: [1, 2]})
    passed: list[str] = []

    def kill(name: str) -> None:
        passed.append(name)
        if passed.count(point) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        for module in (fragments, durable):
            patch.setattr(module, "pass_point", kill)
        with pytest.raises(KeyboardInterrupt):
            _run(other, tmp_path)
    outcome = _run(other, tmp_path)
    kept = 2 if point == "after_rename" else 1
    assert (outcome.executed, outcome.reused, outcome.shared) == (0, 4, 4 - kept)
    assert _rows(outcome) == _rows(first)
    ids = [one for file in (outcome.path / "fragments").iterdir() for one in _ids(file)]
    assert len(ids) == len(set(ids)) == 4


def _ids(file: Path) -> list[str]:
    with fragments.open_fragment(file) as opened:
        found: list[str] = pa.table(opened.read(["run_id"]))["run_id"].to_pylist()
        return found
