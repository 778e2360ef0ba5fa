"""Studies that replay traces: a trace as an axis, a trace missing for a while, a changed trace."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from destage import engine, sweeps
from destage.errors import ConfigError, TraceError
from destage.store import open_sweep
from destage.sweeps import Study
from destage.sweeps.execution.sweep_session import SweepSession
from destage.sweeps.reading.expansion import expand
from destage.sweeps.workers.executors import Executor

MakeStudy = Callable[..., Study]
FILE = "workload.streams.0.arrival.file"


def _write(path: Path, *, gap_ns: int = 1_000_000) -> Path:
    """Write a trace of a hundred writes."""
    columns = {"t_ns": [gap_ns * index for index in range(100)], "lba_512": [16 * i for i in range(100)]}
    constant = {"process": 1, "n_512": 16, "op": 1, "flags": 1}
    table = pa.table(columns | {name: [value] * 100 for name, value in constant.items()})
    engine.traces.write_parquet(engine.traces.from_table(table), path)
    return path


@pytest.fixture
def replay(document: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Return the smallest scenario, its stream replaying `a.parquet` of the temporary folder."""
    _write(tmp_path / "a.parquet")
    scenario: dict[str, Any] = document["scenario"]
    arrival = {"kind": "trace", "file": "a.parquet", "mode": "open"}
    scenario["workload"] = {"streams": [{"name": "replay", "arrival": arrival}]}
    scenario.pop("run")
    return scenario


@pytest.mark.usefixtures("replay")
def test_a_trace_can_be_an_axis(make_study: MakeStudy, tmp_path: Path) -> None:
    _write(tmp_path / "b.parquet", gap_ns=2_000_000)
    points = expand(make_study(axes={FILE: ["a.parquet", "b.parquet"]})).points
    assert len({point.configure(0, None).run_id for point in points}) == 2


@pytest.mark.usefixtures("replay")
def test_the_file_of_a_trace_must_be_a_string(make_study: MakeStudy) -> None:
    for keys in ({"axes": {FILE: [5]}}, {"points": [{FILE: 5}]}):
        with pytest.raises(ConfigError):
            expand(make_study(**keys))


@pytest.mark.usefixtures("replay")
def test_a_trace_missing_for_a_while_spoils_no_run(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, trace, moved = make_study(), tmp_path / "a.parquet", tmp_path / "moved"

    start = SweepSession._start

    def lose_the_trace(self: SweepSession) -> Executor:
        trace.rename(moved)
        monkeypatch.undo()
        return start(self)

    monkeypatch.setattr(SweepSession, "_start", lose_the_trace)
    stopped = sweeps.run(study, tmp_path / "store", executor="inline")
    assert (stopped.state, stopped.executed) == ("infrastructure", 0)
    assert {one.code for one in stopped.messages} == {"sweep.runs-abandoned"}
    moved.rename(trace)
    done = sweeps.run(study, tmp_path / "store", executor="inline")
    assert (done.state, done.executed) == ("finished", 2)
    assert set(open_sweep(done.path).rows()["status"].to_pylist()) <= {"ok", "not_stationary"}


@pytest.mark.usefixtures("replay")
def test_a_resume_rejects_a_changed_trace(make_study: MakeStudy, tmp_path: Path) -> None:
    outcome = sweeps.run(make_study(), tmp_path / "store", executor="inline")
    _write(tmp_path / "a.parquet", gap_ns=3_000_000)
    with pytest.raises(TraceError) as caught:
        sweeps.resume(outcome.path)
    assert (caught.value.code, caught.value.place) == ("trace.changed", str(tmp_path / "a.parquet"))


@pytest.mark.usefixtures("replay")
def test_a_run_reads_each_trace_once(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (point,) = expand(make_study()).points
    config = point.configure(0, None).text
    looks: list[object] = []
    version = engine.traces.access_places.read_version
    monkeypatch.setattr(
        engine.traces.access_places, "read_version", lambda place: looks.append(place) or version(place)
    )
    engine.simulate_canonical(config)
    assert looks == [tmp_path / "a.parquet"]
    _write(tmp_path / "a.parquet", gap_ns=3_000_000)
    with pytest.raises(TraceError) as caught:
        engine.simulate_canonical(config)
    assert caught.value.code == "trace.changed"


def test_a_trace_without_room_at_any_point_is_refused_at_once(
    replay: dict[str, Any], make_study: MakeStudy, tmp_path: Path
) -> None:
    """One error with its place, and nothing in the store; where some points have room, the others fail."""
    array = replay["array"]
    array["disk"] = {**array["disk"], "capacity": "64KiB"}
    store = tmp_path / "store"
    with pytest.raises(TraceError) as caught:
        sweeps.run(make_study(axes={"array.disks": [2, 4]}), store, executor="inline")
    (issue,) = caught.value.issues
    assert (issue.code, issue.place) == (
        "trace.beyond-array",
        "scenario.workload.streams.0.arrival.map",
    )
    assert "all 2 points" in issue.message
    assert not store.exists()
    outcome = sweeps.run(make_study(axes={"array.disks": [2, 40]}), store, executor="inline")
    assert (outcome.failed, outcome.executed) == (2, 4)
