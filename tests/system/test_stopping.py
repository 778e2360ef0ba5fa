"""Signals, the budget and the time limit of a run stop what runs, also inside one long run."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.stored_rows import read_rows

LIMIT_S = 120.0
"""Bound of a stop on any machine [s]: the runs would take hours."""
SCENARIO = """
workload:
  users: 10
  streams:
    - name: orders
      arrival: {kind: closed, think_time: {kind: exponential, mean: 1s}, ios: 5, order: serial}
      operations: {read_fraction: 0.5, size: {kind: constant, value: 8KiB}}
      address: {kind: uniform}
controller: {cache: {capacity: 0}}
array:
  raid: "0"
  disks: 2
  stripe_unit: 64KiB
  disk: {kind: server, servers: 1, service: {kind: exponential, mean: 5ms}, capacity: 10GB}
"""
_HOURS = {"warm_up": "none", "window": {"requests": 10**12}, "max_requests": 10**12}
_SHORT = {"warm_up": "none", "window": {"requests": 300}}
Start = Callable[..., "subprocess.Popen[str]"]


def write_study(folder: Path, window: object = _HOURS, **keys: object) -> Path:
    """Write a study, by default of runs that take hours; `window` is the scenario's `run`."""
    scenario = yaml.safe_load(SCENARIO) | {"run": window}
    file = folder / "long.yaml"
    file.write_text(yaml.safe_dump({"name": "long", "scenario": scenario, "replicates": 3, **keys}))
    return file


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a starter of `destage ARGS...` with a store in the test's folder."""
    started = []

    def start(*args: object) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", "from destage.cli import app; app()", *map(str, args)]
        started.append(
            subprocess.Popen(
                command,
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def _await_line(process: "subprocess.Popen[str]", text: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    pytest.fail(f"no line with {text!r}")


def _layout(store: Path) -> SweepLayout:
    (sweep,) = (store / "sweeps").iterdir()
    return SweepLayout(sweep)


@pytest.mark.parametrize(
    ("executor", "number"),
    [
        ("inline", signal.SIGINT),
        ("inline", signal.SIGTERM),
        ("ray", signal.SIGINT),
        pytest.param("ray", signal.SIGTERM, marks=pytest.mark.chaos),
    ],
)
def test_a_second_signal_aborts_a_long_run(
    tmp_path: Path, start: Start, executor: str, number: signal.Signals
) -> None:
    store = tmp_path / "store"
    process = start("run", write_study(tmp_path), "--store", store, "--executor", executor)
    _await_line(process, "running")
    time.sleep(1)
    process.send_signal(number)
    _await_line(process, "interrupt again")
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(number)
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    assert "sweep.aborted" in err
    assert "Traceback" not in err
    assert read_rows(_layout(store)).num_rows == 0


def test_one_signal_stops_a_simulation(tmp_path: Path, start: Start) -> None:
    process = start("simulate", write_study(tmp_path))
    time.sleep(3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, out, err) == (130, "", "")


@pytest.mark.parametrize("executor", ["inline", "ray"])
def test_the_budget_holds_inside_a_long_run(tmp_path: Path, start: Start, executor: str) -> None:
    store, wall_s = tmp_path / "store", 15 if executor == "ray" else 2
    study = write_study(tmp_path, budget={"wall": f"{wall_s}s"})
    process = start("run", study, "--store", store, "--executor", executor, "--workers", 1, "--json")
    out, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 5
    outcome = yaml.safe_load(out)["outcome"]
    assert outcome["state"] == "budget"
    assert outcome["seconds"] >= wall_s
    assert read_rows(_layout(store)).num_rows == 0


@pytest.mark.parametrize("executor", ["inline", pytest.param("ray", marks=pytest.mark.chaos)])
def test_a_run_beyond_its_time_limit_is_a_timeout_row(tmp_path: Path, start: Start, executor: str) -> None:
    store = tmp_path / "store"
    axes = {"run.window": [{"requests": 10**12}, {"requests": 100}]}
    window = {"warm_up": "none", "max_requests": 10**12}
    study = write_study(tmp_path, window, axes=axes, replicates=1, run={"timeout": "1s"})
    process = start("run", study, "--store", store, "--executor", executor)
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 3, err
    rows = read_rows(_layout(store)).sort_by("status").to_pylist()
    assert [(row["status"], row["error_kind"]) for row in rows] == [("failed", "timeout"), ("ok", None)]
    assert rows[0]["error"].startswith("run.timeout")
    plan = start("run", "--plan", study, "--store", store, "--json")
    out, _ = plan.communicate(timeout=LIMIT_S)
    assert yaml.safe_load(out)["present"] == 1, "a resume executes the run again"


def test_the_time_limit_is_not_part_of_a_run(tmp_path: Path, start: Start) -> None:
    seen = []
    for keys in ({}, {"run": {"timeout": "1h"}}):
        study = write_study(tmp_path, _SHORT, **keys)
        out, _ = start("run", "--plan", study, "--store", tmp_path / "store", "--json").communicate(
            timeout=LIMIT_S
        )
        found = yaml.safe_load(out)
        seen.append((found["sweep"], [row["run_id"] for row in found["rows"]]))
    assert seen[0] == seen[1]
