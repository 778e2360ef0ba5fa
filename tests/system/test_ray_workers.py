"""Workers on Ray that hold the rows of several batches, and end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
from small_studies import small_study
from system.ray_machines import process_tree

from destage import sweeps
from destage.engine import results_schema
from destage.store import open_sweep

RUNS = 80
_PROGRAM = """
import sys
from destage import sweeps
from destage.store import locate
from destage.sweeps.execution import driver
driver.EAGER = 0
outcome = sweeps.run(sweeps.load_study(sys.argv[1]), locate(sys.argv[2]), executor="ray", workers=2)
print(outcome.executed, outcome.state, *outcome.messages)
"""


def _start(study: Path, store: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", _PROGRAM, str(study), str(store)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _find_worker(driver: "subprocess.Popen[str]", other_than: int = 0) -> int:
    """Return a worker that executes a batch, and is not another one."""
    while driver.poll() is None:
        for pid in process_tree(driver.pid):
            try:
                name = Path(f"/proc/{pid}/cmdline").read_bytes()
            except FileNotFoundError:
                continue
            if pid != other_than and name.startswith(b"ray::RayWorker.execute"):
                return pid
        time.sleep(0.02)
    raise AssertionError(driver.communicate())


def _stored(store: Path) -> list[str]:
    """Return the run of each row in the store, also of rows stored twice."""
    fragments = store.glob("sweeps/*/fragments/[!.]*.parquet")
    return [run for path in fragments for run in pq.read_table(path)["run_id"].to_pylist()]


def _rows(sweep: Path) -> str:
    return repr(open_sweep(sweep).rows().select(["run_id", *results_schema().names]).to_pylist())


def test_workers_that_end_cost_no_row(tmp_path: Path) -> None:
    """One is killed, and then another one is asked to end: what they hold is executed again."""
    study = tmp_path / "held.yaml"
    axis = "workload.users: {range: [1, 20, 1]}"
    study.write_text(small_study("held", axis, requests=60_000, replicates=RUNS // 20))
    reference = sweeps.run(sweeps.load_study(study), tmp_path / "reference", executor="inline", workers=2)
    driver = _start(study, tmp_path / "store")
    worker = 0
    for number in (signal.SIGKILL, signal.SIGTERM):
        worker = _find_worker(driver, other_than=worker)
        time.sleep(0.5)
        os.kill(worker, number)
    out, errors = driver.communicate(timeout=300)
    # Ray prints lines of its own when a worker dies.
    assert out.splitlines()[-1].split() == [str(RUNS), "finished"], errors
    (sweep,) = (tmp_path / "store" / "sweeps").iterdir()
    stored = _stored(tmp_path / "store")
    assert len(set(stored)) == RUNS
    assert _rows(sweep) == _rows(Path(str(reference.path)))
