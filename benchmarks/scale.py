"""A sweep of a million runs on a stand-in executor: time and peak memory of planning, driving and a resume.

Each step is a process of its own, so that its peak memory is that of the step alone. `points` plans a tenth
as many points, with one run each. `plan` expands a grid, plans it and writes the plan; `drive` executes all
of its runs on an executor that returns at once; `kill` stops after a tenth of them, and `resume` plans again,
compares the plan with the stored one and executes the rest. The stand-in rows are not stored: reading a
million rows is measured by the benchmarks of queries.
"""

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from orchestration import CALL_CENTER, ImmediateExecutor, make_driver

from destage.store.digests import find_digest
from destage.store.generations import claim_generation
from destage.store.layout import SweepLayout
from destage.store.plan import write_round
from destage.sweeps import Study, parse_study
from destage.sweeps.answer_tables import list_needed_columns
from destage.sweeps.planner import Planner
from destage.sweeps.points import expand

REPLICATES = 5
_POINTS_OF_OTHER_AXES = 128


def make_study(points: int, replicates: int) -> Study:
    """Return a study of about this number of points, on four axes of three fields."""
    users = max(points // _POINTS_OF_OTHER_AXES, 1)
    text = CALL_CENTER.replace("replicates: 5", f"replicates: {replicates}")
    return parse_study(f"{text}  workload.users: {{range: [1, {users}, 1]}}\n")


def plan_study(study: Study, folder: Path) -> pa.Table:
    """Plan a study and write the plan, as a session does."""
    plan = Planner(study, expand(study)).next_round({})
    if plan is None:
        raise AssertionError("the first round has runs")
    layout = SweepLayout(folder)
    layout.make()
    write_round(claim_generation(layout), None, 0, plan)
    return plan


def drive(study: Study, folder: Path, finished: int, share: float) -> int:
    """Plan a study and execute a share of its runs, the first ones being finished; return how many."""
    plan = plan_study(study, folder)
    columns = list_needed_columns(study)
    executor = ImmediateExecutor(0.005, columns)
    driver = make_driver(folder, executor, columns, keeps_facts=study.is_adaptive)
    done = plan.slice(0, finished)
    values = dict.fromkeys(columns, pa.nulls(len(done), pa.float64()))
    status = pa.repeat(pa.scalar("ok"), len(done))
    driver.finished.add(pa.table({"run_id": done["run_id"], "status": status, **values}))
    most = finished + share * len(plan)

    def report() -> None:
        driver.interrupts.is_draining = len(driver.finished) >= most

    driver.report = report
    driver.drive(plan)
    return driver.executed


def measure(name: str, act: Callable[[], int]) -> int:
    """Run a step in a process of its own and print its time and peak memory; return its number of runs."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def step() -> None:
        began, processor = time.perf_counter(), time.process_time()
        count = act()
        used = resource.getrusage(resource.RUSAGE_SELF)
        sender.send((count, time.perf_counter() - began, time.process_time() - processor, used.ru_maxrss))

    process = context.Process(target=step)
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"{name} failed")
    count, wall, processor, peak_kib = receiver.recv()
    print(
        f"{name:<8} {count:>10,} runs {wall:>8.1f} s {processor:>8.1f} s of processor "
        f"{peak_kib / 1024:>7,.0f} MiB at most",
        flush=True,
    )
    return int(count)


def main() -> None:
    """Measure and print the steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000, help="runs of the sweep (default 1,000,000)")
    runs = parser.parse_args().runs
    study = make_study(runs // REPLICATES, REPLICATES)
    single = make_study(runs // 10, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure("nothing", lambda: 0)
        measure("points", lambda: len(plan_study(single, folder / "single")))
        planned = measure("plan", lambda: len(plan_study(study, folder / "planned")))
        measure("drive", lambda: drive(study, folder / "driven", 0, 1.0))
        (before,) = (folder / "planned" / "generations").glob("*-plan-0-*")
        written = before.stat().st_mtime_ns
        killed = measure("kill", lambda: drive(study, folder / "planned", 0, 0.1))
        measure("resume", lambda: drive(study, folder / "planned", killed, 1.0))
        print(json.dumps({"planned": planned, "plan_bytes": before.stat().st_size}))
        if before.stat().st_mtime_ns != written or any(
            find_digest(path.name) != find_digest(before.name)
            for path in (folder / "planned" / "generations").glob("*-plan-0-*")
        ):
            raise SystemExit("the plan of the resume differs from the stored one")


if __name__ == "__main__":
    main()
