"""Running sweeps: first run, rerun, resume and added values take one path; inline and Ray agree."""

import errno
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from destage import sweeps
from destage.engine import results_schema
from destage.errors import ConfigError, Issue, StoreError, SweepError
from destage.store import Location, open_sweep
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.fragments import write_fragment
from destage.store.locks.lease import hold_lease
from destage.store.state.head import claim_generation, find_head, read_head
from destage.store.state.plan import write_round
from destage.sweeps import Progress, Study

MakeStudy = Callable[..., Study]

SEEK = {"maximize": "workload.users", "subject_to": ["response_p95 <= 60ms"], "max": 500}
DISKS = {"array.disks": [1, 2, 3]}


def _results(path: Path) -> pa.Table:
    return open_sweep(path).rows().select(["run_id", *results_schema().names])


def test_a_second_run_executes_nothing(make_study: MakeStudy, tmp_path: Path) -> None:
    study = make_study(axes=DISKS)
    preview = sweeps.plan(study, tmp_path)
    assert (preview.points, preview.runs, preview.present, preview.adaptive) == (3, 6, 0, False)
    assert not preview.sweep_path.exists()
    first = sweeps.run(study, tmp_path)
    assert (first.state, first.exit_code, first.runs, first.executed, first.reused) == (
        "finished",
        0,
        6,
        6,
        0,
    )
    fragments = SweepLayout(first.path).fragments
    before = {path.name: path.read_bytes() for path in fragments.iterdir()}
    plan = [place.name for place in open_sweep(first.path).plan_files()]
    again = sweeps.run(study, tmp_path)
    assert (again.runs, again.executed, again.reused, again.executor) == (6, 0, 6, "none")
    assert {path.name: path.read_bytes() for path in fragments.iterdir()} == before
    assert [place.name for place in open_sweep(first.path).plan_files()] == plan
    assert sweeps.plan(study, tmp_path).present == 6
    status = sweeps.status(first.path)
    assert (status.planned, status.present, status.failed, status.finished) == (6, 6, 0, True)


def test_added_axis_values_run_only_new_points(make_study: MakeStudy, tmp_path: Path) -> None:
    sweeps.run(make_study(axes=DISKS), tmp_path)
    more = sweeps.run(make_study(axes={"array.disks": [1, 2, 3, 4]}, replicates=3), tmp_path)
    assert (more.runs, more.executed, more.reused) == (12, 6, 6)
    fewer = sweeps.run(make_study(axes={"array.disks": [2]}), tmp_path)
    assert (fewer.runs, fewer.executed) == (2, 0)
    assert open_sweep(fewer.path).runs()["array.disks"].to_pylist() == [2, 2]


def test_a_seek_is_answered_and_certified(make_study: MakeStudy, tmp_path: Path) -> None:
    outcome = sweeps.run(make_study(axes=DISKS, seek=SEEK, replicates=5), tmp_path)
    sweep = open_sweep(outcome.path)
    answers = sweep.answers().to_pylist()
    means = [answer["answer_mean"] for answer in answers]
    assert means == sorted(means)
    assert all(answer["n"] == 5 and answer["answer_half_width"] for answer in answers)
    rows = {row["run_id"]: row for row in sweep.rows().to_pylist()}
    probes = {row["run_id"]: row for row in sweep.plan().to_pylist()}
    certificates = sweep.certificates().to_pylist()
    for answer in answers:
        assert answer["passing"] <= answer["answer_mean"] < answer["failing"]
        mine = [one for one in certificates if one["point_id"] == answer["point_id"]]
        assert [one["n"] for one in mine] == answer["answers"]
        assert {probes[one["run_id_pass"]]["workload.users"] for one in mine} == {answer["passing"]}
        assert {probes[one["run_id_fail"]]["workload.users"] for one in mine} == {answer["failing"]}
        below, above = (
            sum(rows[one[run]]["response_p95_us"] for one in mine) / len(mine)
            for run in ("run_id_pass", "run_id_fail")
        )
        # By the noise of the runs, one of them may be on the wrong side of the objective.
        assert below < above
        assert below < 1.1 * 60_000
        assert above > 0.9 * 60_000


def test_inline_and_ray_give_equal_rows(make_study: MakeStudy, tmp_path: Path) -> None:
    study = make_study(axes=DISKS, seek=SEEK)
    inline = sweeps.run(study, tmp_path / "inline", executor="inline", workers=1)
    threads = sweeps.run(study, tmp_path / "threads", executor="inline", workers=3)
    ray = sweeps.run(study, tmp_path / "ray", executor="ray", workers=2)
    assert (inline.executor, threads.executor, ray.executor) == ("inline", "inline", "ray")
    expected = _results(inline.path)
    for outcome in (threads, ray):
        # repr distinguishes any two floats.
        assert repr(_results(outcome.path).to_pylist()) == repr(expected.to_pylist())
        assert open_sweep(outcome.path).plan().equals(open_sweep(inline.path).plan())
        assert open_sweep(outcome.path).answers().equals(open_sweep(inline.path).answers())


def test_verify_finds_a_changed_row(make_study: MakeStudy, tmp_path: Path) -> None:
    outcome = sweeps.run(make_study(), tmp_path)
    found = sweeps.verify(outcome.path, sample=1.0)
    assert (found.planned, found.checked, found.problems) == (2, 2, ())
    (path, *_) = SweepLayout(outcome.path).fragments.iterdir()
    table = pq.read_table(path)
    path.unlink()
    index = table.schema.get_field_index("response_mean_us")
    bent = pa.array([value + 1e-9 for value in table["response_mean_us"].to_pylist()])
    write_fragment(path.parent, table.set_column(index, "response_mean_us", bent))
    codes = [issue.code for issue in sweeps.verify(outcome.path, sample=1.0).problems]
    assert codes == ["sweep.row-differs"] * table.num_rows


def test_a_row_of_a_run_that_was_executed_twice_is_counted_and_read_once(
    make_study: MakeStudy, tmp_path: Path
) -> None:
    """As where a worker is lost between its commit and its answer."""
    outcome = sweeps.run(make_study(), tmp_path)
    (fragment, *_) = SweepLayout(outcome.path).fragments.iterdir()
    table = pq.read_table(fragment)
    assert sweeps.verify(outcome.path).repeated == 0
    index = table.schema.get_field_index("prov_host")
    other = pa.array(["other"] * table.num_rows)
    twice = table.set_column(index, table.schema.field(index), other).slice(0, 1)
    write_fragment(fragment.parent, twice)
    found = sweeps.verify(outcome.path, sample=1.0)
    assert (found.planned, found.repeated, found.problems) == (2, 1, ())
    assert open_sweep(outcome.path).rows().num_rows == 2


def test_verify_finds_what_is_missing_or_does_not_fit(make_study: MakeStudy, tmp_path: Path) -> None:
    outcome = sweeps.run(make_study(axes=DISKS), tmp_path, executor="inline")
    layout = SweepLayout(outcome.path)
    fragment, *_ = sorted(layout.fragments.iterdir())
    lost = pq.read_table(fragment)["run_id"].to_pylist()
    fragment.rename(tmp_path / "aside.parquet")
    problems = sweeps.verify(outcome.path).problems
    assert [(issue.code, issue.place) for issue in problems] == [("sweep.run-missing", run) for run in lost]
    assert not sweeps.status(outcome.path).finished
    (tmp_path / "aside.parquet").rename(fragment)
    assert sweeps.verify(outcome.path, sample=1.0).problems == ()
    # A plan that its writer did not make: one axis does not fit the configuration.
    plan = open_sweep(outcome.path).plan()
    at = plan.schema.get_field_index("array.disks")
    wrong = plan.set_column(at, plan.schema.field(at), pa.array([7] * len(plan), pa.int64()))
    generation, head = claim_generation(layout), read_head(layout)
    assert head is not None
    generation.publish(replace(head, rounds=(write_round(generation, None, 0, wrong),)))
    codes = {issue.code for issue in sweeps.verify(outcome.path, sample=1.0).problems}
    assert codes == {"sweep.wrong-plan"}


def test_verify_accepts_axes_without_effect(make_study: MakeStudy, tmp_path: Path) -> None:
    """A write fraction of no cache, and an axis whose condition is false, differ from the configuration."""
    capacity, fraction = "controller.cache.capacity", "controller.cache.write_fraction"
    axes = {capacity: [0, 2**26], fraction: [0.25, 0.75], "array.stripe_unit": [2**16, 2**17]}
    study = make_study(axes=axes, when={"array.stripe_unit": "capacity > 0"}, replicates=1)
    outcome = sweeps.run(study, tmp_path, executor="inline")
    plan = open_sweep(outcome.path).plan().select(list(axes)).to_pylist()
    assert {tuple(row.values()) for row in plan if not row[capacity]} == {(0, 0.25, None), (0, 0.75, None)}
    assert len(plan) == 2 + 4
    assert sweeps.verify(outcome.path, sample=1.0).problems == ()


def test_an_invalid_point_is_rejected_before_any_write(make_study: MakeStudy, tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        sweeps.run(make_study(axes={"array.disks": [3], "array.raid": ["10"]}), tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_a_sweep_with_a_writer_is_locked(make_study: MakeStudy, tmp_path: Path) -> None:
    study = make_study()
    path = sweeps.sweep_path(study, tmp_path)
    with hold_lease(SweepLayout(path).lease):
        with pytest.raises(StoreError) as caught:
            sweeps.run(study, tmp_path)
        assert caught.value.code == "store.locked"
        assert f"process {os.getpid()}" in str(sweeps.status(path).writer)


def test_an_exhausted_budget_can_be_resumed(make_study: MakeStudy, tmp_path: Path) -> None:
    stopped = sweeps.run(make_study(axes=DISKS, budget={"wall": "1us"}), tmp_path)
    assert (stopped.state, stopped.exit_code, stopped.executed) == ("budget", 5, 0)
    assert not sweeps.status(stopped.path).finished
    assert sweeps.run(make_study(axes=DISKS), tmp_path).executed == 6


@pytest.mark.parametrize("executor", ["inline", "ray"])
def test_a_request_to_terminate_drains_and_can_be_resumed(
    make_study: MakeStudy, tmp_path: Path, executor: Literal["inline", "ray"]
) -> None:
    study = make_study(axes=DISKS, replicates=120)
    handler = signal.getsignal(signal.SIGTERM)
    asked: list[Progress] = []

    def ask_once(progress: Progress) -> None:
        if not asked and progress.phase == "run" and progress.done:
            asked.append(progress)
            signal.raise_signal(signal.SIGTERM)

    outcome = sweeps.run(study, tmp_path, executor=executor, workers=2, progress=ask_once)
    assert signal.getsignal(signal.SIGTERM) is handler
    assert (outcome.state, outcome.exit_code) == ("interrupted", 130)
    assert 0 < outcome.executed < 360
    assert sweeps.resume(outcome.path, executor="inline").runs == 360


def test_a_session_that_fails_to_start_leaves_the_sweep_as_it_was(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = sweeps.run(make_study(axes=DISKS), tmp_path)

    def die(*_: object) -> list[Issue]:
        raise StoreError("store.not-writable", "the disk went away")

    monkeypatch.setattr("destage.sweeps.execution.sweep_session.adopt_fragments", die)
    before = open_sweep(done.path).spec(), open_sweep(done.path).plan()
    with pytest.raises(StoreError):
        sweeps.run(make_study(axes={"array.disks": [1]}), tmp_path)
    # Readers see the earlier study with its plan and answers until the new plan replaces all of them.
    assert sweeps.status(done.path).finished
    assert (open_sweep(done.path).spec(), open_sweep(done.path).plan()) == before


def test_ctrl_c_once_drains_and_can_be_resumed(make_study: MakeStudy, tmp_path: Path) -> None:
    assert threading.current_thread() is threading.main_thread()
    study = make_study(axes=DISKS, replicates=60)
    handler = signal.getsignal(signal.SIGINT)

    pressed: list[Progress] = []

    def press_once(progress: Progress) -> None:
        if not pressed and progress.phase == "run" and progress.done:
            pressed.append(progress)
            signal.raise_signal(signal.SIGINT)

    outcome = sweeps.run(study, tmp_path, executor="inline", progress=press_once)
    assert signal.getsignal(signal.SIGINT) is handler
    assert (outcome.state, outcome.exit_code) == ("interrupted", 130)
    assert 0 < outcome.executed < 180
    with pytest.raises(KeyboardInterrupt):
        sweeps.run(study, tmp_path / "other", progress=lambda _: signal.raise_signal(signal.SIGINT))
    assert sweeps.resume(outcome.path).runs == 180


def test_an_invalid_probe_is_a_failed_run(
    make_study: MakeStudy, document: dict[str, Any], tmp_path: Path
) -> None:
    array = {**document["scenario"]["array"], "raid": "10", "disks": 4}
    scenario = {**document["scenario"], "array": array}
    seek = {
        "maximize": "array.disks",
        "subject_to": ["disk_busy_mean >= 100%"],
        "start": 4,
        "min": 3,
        "max": 8,
    }
    outcome = sweeps.run(make_study(scenario=scenario, seek=seek), tmp_path, executor="inline")
    assert (outcome.state, outcome.failed) == ("failed_runs", 2)
    assert sweeps.status(outcome.path) == _count_status(outcome.path)
    sweep = open_sweep(outcome.path)
    assert sweep.answers()["failed"].to_pylist() == [2]
    assert "configuration" in sweep.rows()["error_kind"].to_pylist()
    assert {one.code for one in outcome.messages} == {"sweep.run-failed"}


def _count_status(path: Location) -> sweeps.Status:
    """Return a sweep's status by its rows alone."""
    place = _progress_file(path)
    recorded = place.read_bytes()
    place.unlink()
    status = sweeps.status(path)
    place.write_bytes(recorded)
    return status


def _progress_file(path: Location) -> Path:
    found = find_head(SweepLayout(path))
    assert found is not None
    return Path(str(SweepLayout(path).generations)) / f"{found[0]}.progress"


def test_recorded_progress_equals_the_counted_rows(make_study: MakeStudy, tmp_path: Path) -> None:
    for keys in (
        {"axes": DISKS},
        {"axes": DISKS, "replicates": 5},
        {"axes": {"array.disks": [1]}},
        {"seek": {"maximize": "workload.users", "subject_to": ["response_p95 <= 60ms"], "max": 200}},
    ):
        path = sweeps.run(make_study(**keys), tmp_path).path
        assert sweeps.status(path) == _count_status(path)


def test_the_status_of_a_finished_sweep_reads_no_rows(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sweeps.run(make_study(axes=DISKS), tmp_path).path
    first, *_ = Path(str(SweepLayout(path).fragments)).iterdir()
    with monkeypatch.context() as blind:
        blind.setattr(
            "destage.store.fragment_files.stored_rows.open_fragment", lambda _: pytest.fail("a row was read")
        )
        assert sweeps.status(path).finished
    first.unlink()
    status = sweeps.status(path)
    assert not status.finished
    assert status.present < status.planned


@pytest.mark.parametrize("is_lost", [True, False])
def test_rows_without_a_valid_record_are_counted_once(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_lost: bool
) -> None:
    """The first reader records its counts, whether the record is lost or of other fragments."""
    path = sweeps.run(make_study(axes=DISKS), tmp_path).path
    first, *_ = Path(str(SweepLayout(path).fragments)).iterdir()
    _progress_file(path).unlink() if is_lost else first.unlink()
    status = sweeps.status(path)
    assert status.finished == is_lost
    with monkeypatch.context() as blind:
        blind.setattr("destage.store.opened.sweep.read_rows", lambda *_, **__: pytest.fail("a row was read"))
        assert sweeps.status(path) == status


def test_a_reader_that_may_not_write_counts_each_time(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sweeps.run(make_study(axes=DISKS), tmp_path).path
    status = sweeps.status(path)
    place = _progress_file(path)
    place.unlink()

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("destage.store.files.durable._write", refuse)
    assert sweeps.status(path) == status
    assert not place.exists()


def test_a_reader_does_not_record_beside_a_writer(make_study: MakeStudy, tmp_path: Path) -> None:
    path = sweeps.run(make_study(axes=DISKS), tmp_path).path
    place = _progress_file(path)
    place.unlink()
    with hold_lease(SweepLayout(path).lease):
        assert sweeps.status(path).writer is not None
    assert not place.exists()


def test_damaged_progress_is_ignored(make_study: MakeStudy, tmp_path: Path) -> None:
    path = sweeps.run(make_study(axes=DISKS), tmp_path).path
    status = sweeps.status(path)
    _progress_file(path).write_bytes(b'{"planned": 3, "pre')
    assert sweeps.status(path) == status


def test_the_status_of_a_running_sweep_is_its_recorded_progress(
    make_study: MakeStudy, tmp_path: Path
) -> None:
    study = make_study(axes=DISKS, replicates=30)
    statuses: list[tuple[int, bool, bool]] = []

    def look(progress: Progress) -> None:
        if progress.phase == "run" and progress.planned:
            status = sweeps.status(sweeps.sweep_path(study, tmp_path))
            statuses.append((status.planned, status.writer is not None, status.finished))

    sweeps.run(study, tmp_path, executor="inline", progress=look)
    assert set(statuses) == {(90, True, False)}


def test_the_first_rows_are_recorded_soon(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without waiting for the interval: the record has at least half of the rows."""
    study = make_study(axes=DISKS, replicates=30)
    monkeypatch.setattr("destage.sweeps.execution.progress_report._RECORD_S", 1e9)
    monkeypatch.setattr("destage.sweeps.execution.progress_report._SOON_S", 0.0)
    seen: list[tuple[int, int]] = []

    def look(progress: Progress) -> None:
        if progress.phase == "run" and progress.planned:
            seen.append((progress.done, sweeps.status(sweeps.sweep_path(study, tmp_path)).present))

    sweeps.run(study, tmp_path, executor="inline", progress=look)
    assert max(done for done, _ in seen) == 90
    assert all(2 * present >= done for done, present in seen)


def test_a_sweep_whose_study_changed_cannot_be_resumed(make_study: MakeStudy, tmp_path: Path) -> None:
    path = sweeps.run(make_study(), tmp_path).path
    text = open_sweep(path).study_text.replace("name: quick", "name: other")
    generation, head = claim_generation(SweepLayout(path)), read_head(SweepLayout(path))
    assert head is not None
    generation.publish(replace(head, study=generation.write("study", ".yaml", text.encode())))
    with pytest.raises(SweepError) as caught:
        sweeps.resume(path)
    assert (caught.value.code, caught.value.place) == ("sweep.study-changed", str(path))
    with pytest.raises(StoreError) as missing:
        sweeps.resume(tmp_path / "nothing")
    assert missing.value.code == "store.not-a-sweep"
