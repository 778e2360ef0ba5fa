"""Benchmarks of orchestration on one core: planning, driving and reading, as one table.

Planning: expansion of a grid to points (resolved, validated, identified), and the same with the plan of all
runs. Driving: batches that the driver submits and collects, on an executor that returns at once; its own time
is not counted. Reading: fragments read for a resume, read whole, and inspected because no index has them.
Memory: bytes that a session keeps per run.

Each figure is the median of several runs, in processor time of the process, so that other load on the machine
and slow disks have little effect.
"""

import argparse
import gc
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow as pa
from environment import print_heading

from destage import engine
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.adoption import adopt_fragments
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.stored_rows import read_rows, rows_schema
from destage.store.locks.lease import FileLease
from destage.sweeps import parse_study, studies
from destage.sweeps.execution.driver import Driver, Interrupts, SessionEnd
from destage.sweeps.reading.expansion import expand
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.rounds.planner import Planner, list_needed_columns
from destage.sweeps.workers.batches import LONGEST_S, Batch, FinishedBatch, Receipt
from destage.sweeps.workers.executors import AHEAD

TRACES = Path(studies.__file__).parent
CACHE = """
  controller.cache.capacity: [32MiB, 64MiB, 96MiB, 128MiB, 192MiB, 256MiB, 384MiB, 512MiB]
  controller.cache.write_fraction: [0.25, 0.5, 0.75, 1.0]
  array.disks: [4, 6, 8, 10]
"""
CALL_CENTER = f"""
name: call_center
scenario:
  workload: {{use: call_center}}
  controller: {{use: smart_array_5i_plus, battery: {{state: present}}}}
  array: {{raid: "5", disks: 4, disk: {{use: u320_10k_36gb}}, stripe_unit: 64KiB}}
replicates: 5
axes:{CACHE}"""
USERS = "  workload.users: {range: [10, 400, 10]}\n"
GRIDS = {
    "call_center, four axes": CALL_CENTER + USERS,
    "call_center, a condition": f"{CALL_CENTER}{USERS}where: users > 10 * disks\n",
    "call_center, users sought": CALL_CENTER
    + "  controller.cache.write.high_water: {linspace: [0.65, 0.95, 16]}\n"
    + "seek: {maximize: workload.users, subject_to: [response_p95 <= 30ms]}\n",
    "call_center, SSDs": (CALL_CENTER + USERS).replace("use: u320_10k_36gb", "use: pm963_960gb"),
    "backups, three traces": f"""
name: backups
scenario:
  workload:
    streams:
      - {{name: backup, arrival: {{kind: trace, file: backup.parquet, mode: asap, depth: 4}}}}
  controller: {{use: smart_array_p400i_256}}
  array: {{raid: "1", disks: 2, disk: {{use: savvio_10k1_36gb}}}}
  run: {{drain: true}}
replicates: 5
axes:{CACHE.replace("[4, 6, 8, 10]", "[2]")}
  workload.streams.0.arrival.file: [backup.parquet, backup-archive.parquet, backup-copy.parquet]
  workload.streams.0.arrival.depth: [1, 2, 4, 8, 16]
""",
}
"""Studies of hundreds to thousands of points."""


@dataclass(frozen=True)
class Timing:
    """The duration of an operation on a number of items.

    Attributes:
        count: Number of items.
        seconds: Processor time of each run [s].
    """

    count: int
    seconds: tuple[float, ...]

    @property
    def rate(self) -> float:
        """Items per second at the median [1/s]."""
        return self.count / statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """The range of the runs, as a fraction of their median."""
        return (max(self.seconds) - min(self.seconds)) / statistics.median(self.seconds)


@dataclass
class ImmediateExecutor:
    """An executor that returns each batch at once, as if its runs had been executed and committed.

    Attributes:
        run_s: Reported duration of a run [s].
        columns: The result columns that the driver needs.
        seconds: Processor time of this executor [s].
        batches: Number of batches.
    """

    run_s: float
    columns: tuple[str, ...]
    seconds: float = 0.0
    batches: int = 0
    name: str = "immediate"
    slots: int = 2
    ahead: int = AHEAD
    hold_s: float = 0.0
    has_more: bool = False
    left_s: float = 0.0
    _finished: list[FinishedBatch] = field(default_factory=list)

    @property
    def waiting(self) -> int:
        """The batches that have not been collected."""
        return len(self._finished)

    def submit(self, batch: Batch) -> None:
        """Finish a batch."""
        began = time.process_time()
        count = len(batch.run_ids)
        facts = {
            "run_id": batch.run_ids,
            "status": ["ok"] * count,
            "error_kind": pa.nulls(count, pa.string()),
            "error": pa.nulls(count, pa.string()),
            **dict.fromkeys(("events", *self.columns), pa.array([222_000.5] * count)),
        }
        self._finished.append(FinishedBatch(batch, Receipt(count * self.run_s, pa.table(facts))))
        self.batches += 1
        self.seconds += time.process_time() - began

    def collect(self, timeout_s: float) -> list[FinishedBatch]:  # noqa: ARG002 - nothing is waited for
        """Return the finished batches."""
        finished, self._finished = self._finished, []
        return finished

    def stop(self) -> None:
        """Stop nothing: every batch has ended."""

    def close(self) -> None:
        """Release nothing."""


def _use_executor(executor: ImmediateExecutor) -> ImmediateExecutor:
    return executor


def time_runs(act: Callable[[], object], count: int, runs: int) -> Timing:
    """Time `act`, which processes `count` items."""
    seconds = []
    for _ in range(runs):
        began = time.process_time()
        act()
        seconds.append(time.process_time() - began)
    return Timing(count, tuple(seconds))


def plan_round(text: str) -> tuple[int, pa.Table]:
    """Plan a study's first round as a session does; return the number of points, and the plan."""
    study = parse_study(text, folder=TRACES)
    expansion = expand(study)
    plan = Planner(study, expansion).next_round({})
    if plan is None:
        raise AssertionError("the first round has runs")
    return expansion.count, plan


def make_driver(
    folder: Path, executor: ImmediateExecutor, columns: tuple[str, ...], *, keeps_facts: bool
) -> Driver:
    """Return a driver of a new sweep in a folder."""
    layout = SweepLayout(folder)
    layout.make()
    return Driver(
        fragments=layout.fragments,
        ends=SessionEnd(str(layout.root), FileLease(), Interrupts()),
        start=partial(_use_executor, executor),
        report=lambda: None,
        finished=FinishedRuns(columns, keeps_facts=keeps_facts),
        committed=lambda *_: None,
        hold_s=10.0,
    )


def time_batches(
    plan: pa.Table, columns: tuple[str, ...], batch_runs: int, folder: Path, runs: int
) -> tuple[Timing, float]:
    """Time the processing of batches; return it with their mean number of runs."""
    seconds, batches = [], 0
    for _ in range(runs):
        executor = ImmediateExecutor(LONGEST_S / batch_runs, columns)
        with tempfile.TemporaryDirectory(dir=folder) as name:
            driver = make_driver(Path(name), executor, columns, keeps_facts=True)
            began = time.process_time()
            driver.drive(plan)
            seconds.append(time.process_time() - began - executor.seconds)
        if len(driver.finished) != len(plan["run_id"].unique()):
            raise AssertionError("some runs have no result")
        batches = executor.batches
    return Timing(batches, tuple(seconds)), len(driver.finished) / batches


def measure_memory(text: str, columns: tuple[str, ...], folder: Path, *, keeps_facts: bool) -> float:
    """Return the memory that a session keeps per planned run once all have finished [bytes].

    It includes Python's and Arrow's memory, and the run's share of the points.

    Args:
        keeps_facts: Whether planning needs the runs' results, as where a value is sought.
    """
    gc.collect()
    arrow = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        study = parse_study(text, folder=TRACES)
        planner = Planner(study, expand(study))
        plan = planner.next_round({})
        if plan is None:
            raise AssertionError("the first round has runs")
        with tempfile.TemporaryDirectory(dir=folder) as name:
            executor = ImmediateExecutor(0.1, columns)
            driver = make_driver(Path(name), executor, columns, keeps_facts=keeps_facts)
            driver.drive(plan)
        gc.collect()
        python, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return float(python + pa.total_allocated_bytes() - arrow) / len(driver.finished)


def write_fragments(folder: Path, fragments: int, rows: int) -> SweepLayout:
    """Return a sweep with this number of fragments and rows per fragment; no index has them."""
    layout = SweepLayout(folder)
    layout.make()
    # A row of the call centre, so that it has the width of a real one.
    scenario = parse_study(CALL_CENTER).scenario
    short = {**scenario, "run": {"window": {"requests": 1000}, "warm_up": "none"}}
    row = engine.simulate_batch([short])
    table = pa.concat_tables([row] * rows).combine_chunks()
    for name in rows_schema().names:
        if name not in (*table.column_names, "run_id"):
            table = table.append_column(name, pa.nulls(rows, rows_schema().field(name).type))
    for number in range(fragments):
        run_ids = [f"{number * rows + index:032x}" for index in range(rows)]
        write_fragment(layout.fragments, table.add_column(0, "run_id", pa.array(run_ids)))
    return layout


def print_row(operation: str, of: str, timing: Timing) -> None:
    """Print a row of the table."""
    print(
        f"{operation:<28} {of:<44} {timing.count:>7,} {timing.rate:>9,.0f} {timing.spread:>7.0%}", flush=True
    )


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each case; the median is printed")
    parser.add_argument("--fragments", type=int, default=500, help="fragments to read")
    options = parser.parse_args()
    remark = f"one core, processor time, median of {options.runs} runs; N of each row is its count"
    print_heading("Planning, driving and reading back", remark)
    print(f"{'operation':<28} {'of':<44} {'count':>7} {'per s':>9} {'spread':>7}")
    plan: pa.Table | None = None
    for name, text in GRIDS.items():
        study = parse_study(text, folder=TRACES)
        points, planned_runs = plan_round(text)
        plan = planned_runs if plan is None else plan
        print_row("points expanded", name, time_runs(partial(expand, study), points, options.runs))
        how = f"{name}, {len(planned_runs):,} runs"
        print_row("points planned", how, time_runs(partial(plan_round, text), points, options.runs))
    if plan is None:
        raise AssertionError("there are studies")
    with tempfile.TemporaryDirectory() as folder:
        columns = list_needed_columns(parse_study(GRIDS["call_center, users sought"]))
        for batch_runs in (76, 13):
            timing, mean = time_batches(plan, columns, batch_runs, Path(folder), options.runs)
            print_row("batches finished", f"{mean:.0f} runs on average", timing)
        for keeps_facts, what in ((False, "a finished run"), (True, "a finished run, results needed")):
            grid = GRIDS["call_center, four axes"]
            each = measure_memory(grid, columns, Path(folder), keeps_facts=keeps_facts)
            print(f"{'memory kept':<28} {what:<44} {each:>7,.0f} bytes", flush=True)
        rows = 10
        layout = write_fragments(Path(folder, "sweep"), options.fragments, rows)
        cases: dict[str, Callable[[], object]] = {
            "checked": lambda: adopt_fragments(layout),
            "columns that a resume needs": lambda: read_rows(layout, columns),
            "all columns": lambda: read_rows(layout),
        }
        for how, act in cases.items():
            timing = time_runs(act, options.fragments, 1 if how == "checked" else options.runs)
            print_row("fragments read", f"{how}, {rows} rows each", timing)


if __name__ == "__main__":
    main()
