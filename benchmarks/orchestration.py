"""Benchmarks of what goes on round the runs: planning, driving and reading, on one core, as one table.

Planning: points of a grid expanded (resolved, judged, identified), and the same with the plan of all their
runs. Driving: batches that the driver hands out and settles, over an executor that does nothing but answer;
what the executor takes to answer is not counted, and Ray takes more. Reading: fragments read for what a
resume needs, read whole, and looked at because no index names them. Memory: what a session holds for a run.

The median of several runs counts. Time is what the process spent on it, so that other work on the machine
and slow disks disturb the figures little.
"""

import argparse
import gc
import platform
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow as pa

from destage import engine
from destage.store.adoption import adopt_fragments
from destage.store.fragments import Fragment, fragment_key, write_fragment
from destage.store.layout import SweepLayout
from destage.store.lease import FileLease
from destage.store.manifests import Manifest
from destage.store.rows import read_rows, rows_schema
from destage.sweeps import parse_study, studies
from destage.sweeps.answer_tables import list_needed_columns
from destage.sweeps.batches import Batch
from destage.sweeps.driver import Driver
from destage.sweeps.interrupts import Interrupts
from destage.sweeps.planner import PlannedRun, Planner
from destage.sweeps.points import expand
from destage.sweeps.worker import FinishedBatch, Receipt

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
"""Studies of some hundreds to thousands of points."""


@dataclass(frozen=True)
class Timed:
    """How fast something went.

    Attributes:
        count: How many of them there were.
        seconds: Processor time of each run [s].
    """

    count: int
    seconds: tuple[float, ...]

    @property
    def rate(self) -> float:
        """How many in a second, at the median [1/s]."""
        return self.count / statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """The range of the runs, as a fraction of their median."""
        return (max(self.seconds) - min(self.seconds)) / statistics.median(self.seconds)


@dataclass
class Answering:
    """An executor that answers each batch at once, as if its runs had been executed and committed.

    Attributes:
        run_s: What each run is said to have taken [s].
        columns: The result columns that the driver asks for.
        seconds: Processor time that answering took [s].
        batches: How many there were.
    """

    run_s: float
    columns: tuple[str, ...]
    seconds: float = 0.0
    batches: int = 0
    name: str = "answering"
    slots: int = 2
    _answers: list[FinishedBatch] = field(default_factory=list)

    def submit(self, batch: Batch) -> None:
        """Answer a batch."""
        began = time.process_time()
        count = len(batch.run_ids)
        facts = {
            "run_id": batch.run_ids,
            "status": ["ok"] * count,
            "error_kind": pa.nulls(count, pa.string()),
            "error": pa.nulls(count, pa.string()),
            **dict.fromkeys(self.columns, pa.array([222_000.5] * count)),
        }
        fragment = Fragment(fragment_key(batch.run_ids), count, 100_000)
        self._answers.append(FinishedBatch(batch, Receipt(fragment, count * self.run_s, pa.table(facts))))
        self.batches += 1
        self.seconds += time.process_time() - began

    def collect(self, timeout_s: float) -> list[FinishedBatch]:  # noqa: ARG002 - nothing is waited for
        """Return the answers."""
        answers, self._answers = self._answers, []
        return answers

    def close(self) -> None:
        """Hold nothing."""


def _given(executor: Answering, _: int) -> Answering:
    return executor


def timed(act: Callable[[], object], count: int, runs: int) -> Timed:
    """Return how fast `act` goes that does `count` things."""
    seconds = []
    for _ in range(runs):
        began = time.process_time()
        act()
        seconds.append(time.process_time() - began)
    return Timed(count, tuple(seconds))


def planned(text: str) -> tuple[int, list[PlannedRun]]:
    """Plan a study's first round as a session does: its points, and its runs, which are also made a table."""
    study = parse_study(text, folder=TRACES)
    expansion = expand(study)
    planner = Planner(study, expansion)
    planned_runs = planner.next_round({})
    planner.make_table(planned_runs, 0)
    return len(expansion.points), planned_runs


def _driver(folder: Path, executor: Answering, columns: tuple[str, ...]) -> Driver:
    layout = SweepLayout(folder)
    layout.make()
    return Driver(
        layout=layout,
        manifest=Manifest(layout),
        lease=FileLease(),
        start=partial(_given, executor),
        columns=columns,
        interrupts=Interrupts(),
        deadline=None,
        report=lambda: None,
    )


def driving(
    plan: list[PlannedRun], columns: tuple[str, ...], batch_runs: int, folder: Path, runs: int
) -> tuple[Timed, float]:
    """Return how fast batches are settled, and how many runs they had."""
    seconds, batches = [], 0
    for _ in range(runs):
        executor = Answering(5 / batch_runs, columns)
        with tempfile.TemporaryDirectory(dir=folder) as name:
            driver = _driver(Path(name), executor, columns)
            began = time.process_time()
            driver.drive(plan)
            seconds.append(time.process_time() - began - executor.seconds)
        if len(driver.rows) != len({run.run_id for run in plan}):
            raise AssertionError("some runs were never settled")
        batches = executor.batches
    return Timed(batches, tuple(seconds)), len(driver.rows) / batches


def held(text: str, columns: tuple[str, ...], folder: Path) -> float:
    """Return what a session holds for each planned run, once all are settled [bytes].

    Python's memory and Arrow's are counted, and the run's share of the points.
    """
    gc.collect()
    arrow = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        study = parse_study(text, folder=TRACES)
        planner = Planner(study, expand(study))
        plan = planner.next_round({})
        with tempfile.TemporaryDirectory(dir=folder) as name:
            driver = _driver(Path(name), Answering(0.1, columns), columns)
            driver.drive(plan)
        gc.collect()
        python, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return (python + pa.total_allocated_bytes() - arrow) / len(driver.rows)


def written(folder: Path, fragments: int, rows: int) -> SweepLayout:
    """Return a sweep with so many fragments of so many rows; no index names them."""
    layout = SweepLayout(folder)
    layout.make()
    # Wide as a real row: one of a second of the call centre.
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


def show(what: str, how: str, found: Timed) -> None:
    """Print a line of the table."""
    print(f"{what:<28} {how:<44} {found.count:>7,} {found.rate:>9,.0f} {found.spread:>7.0%}", flush=True)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each case, of which the median counts")
    parser.add_argument("--fragments", type=int, default=500, help="fragments that are read")
    options = parser.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}, one core, {options.runs} runs each")
    print(f"{'what':<28} {'of':<44} {'count':>7} {'a second':>9} {'spread':>7}")
    plan: list[PlannedRun] = []
    for name, text in GRIDS.items():
        study = parse_study(text, folder=TRACES)
        points, planned_runs = planned(text)
        plan = plan or planned_runs
        show("points expanded", name, timed(partial(expand, study), points, options.runs))
        how = f"{name}, {len(planned_runs):,} runs"
        show("points planned", how, timed(partial(planned, text), points, options.runs))
    with tempfile.TemporaryDirectory() as folder:
        columns = list_needed_columns(parse_study(GRIDS["call_center, users sought"]))
        for batch_runs in (76, 13):
            found, mean = driving(plan, columns, batch_runs, Path(folder), options.runs)
            show("batches settled", f"{mean:.0f} runs on average", found)
        each = held(GRIDS["call_center, four axes"], columns, Path(folder))
        print(f"memory held                  a planned run, settled {each:>30,.0f} bytes", flush=True)
        rows = 10
        layout = written(Path(folder, "sweep"), options.fragments, rows)
        cases: dict[str, Callable[[], object]] = {
            "that no index names": lambda: adopt_fragments(layout, Manifest(layout)),
            "what a resume needs": lambda: read_rows(layout, columns),
            "all columns": lambda: read_rows(layout),
        }
        for how, act in cases.items():
            found = timed(act, options.fragments, 1 if how == "that no index names" else options.runs)
            show("fragments read", f"{how}, {rows} rows each", found)


if __name__ == "__main__":
    main()
