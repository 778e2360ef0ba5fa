"""A sweep of a million runs from its plan to its answers, on a stand-in engine: time and memory of each step.

Everything but the engine is what a user runs: the planner, the driver with its threads, fragments
and heads in a folder, compaction and SQL. The stand-in returns the row of one simulated run with random
factors, and reports 5 ms per run. Each step is a process of its own, so that its peak memory is that of the
step alone; one of them is killed when a tenth of the runs are stored. In the end the rows must be exactly
the plan's, once. With `--json`, the figures are stored; `growth_page.py` writes them to docs/benchmarks.md.

A step that takes more than its bound fails the benchmark; `STEPS` has the bounds for a million runs. Time is
processor time, so that other load on the machine has little effect.
"""

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from environment import describe_source
from orchestration import CALL_CENTER
from synthetic_sweep import make_results, simulate_row

from destage import engine, sweeps
from destage.engine.batch_simulation import Execution
from destage.queries import open_session
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.merging import compact
from destage.store.fragment_files.stored_rows import read_rows
from destage.store.state.head import read_head
from destage.store.state.plan import read_plan
from destage.sweeps import Study, parse_study

REPLICATES = 5
RUN_S = 0.005
"""The duration of a run that the stand-in reports [s]; it determines the size of a batch."""
_POINTS_OF_OTHER_AXES = 128
_KILLED_AT = 0.1
"""Share of the runs after which a session is killed."""
_POLL_S = 0.05


def make_study(runs: int) -> Study:
    """Return a study of about this number of runs, on four axes of three fields."""
    users = max(runs // REPLICATES // _POINTS_OF_OTHER_AXES, 1)
    text = CALL_CENTER.replace("replicates: 5", f"replicates: {REPLICATES}")
    return parse_study(f"{text}  workload.users: {{range: [1, {users}, 1]}}\n")


class StandInEngine:
    """Returns rows at once for `execute_canonical`."""

    def __init__(self) -> None:
        self._template = simulate_row()
        self._random = np.random.default_rng(1)

    def __call__(self, configs: Sequence[str], **_: object) -> Execution:
        """Return a row for each configuration."""
        rows = make_results(len(configs), self._template, self._random)
        return Execution(rows, [RUN_S] * len(configs), stopped=False)


def _plan(study: Study, store: Path) -> int:
    return sweeps.plan(study, store).runs


def _run(study: Study, store: Path) -> int:
    engine.execute_canonical = StandInEngine()
    return sweeps.run(study, store, executor="inline").executed


def _check(study: Study, store: Path) -> int:
    """Compare the stored runs with the plan; return their number."""
    layout = SweepLayout(sweeps.sweep_path(study, store))
    plan = read_plan(layout, read_head(layout))
    stored = read_rows(layout, columns=[])["run_id"].combine_chunks()
    if plan is None or not stored.sort().equals(pc.unique(plan["run_id"]).sort()):
        raise SystemExit("the stored runs are not those of the plan")
    count: int = len(stored)
    return count


def _compact(study: Study, store: Path) -> int:
    return compact(SweepLayout(sweeps.sweep_path(study, store))).rows


def _ask(study: Study, store: Path) -> int:
    with open_session(sweeps.sweep_path(study, store)) as session:
        count: int = session.query("design_space").num_rows
    return count


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes:
        title: What it does.
        unit: What it counts.
        seconds: The bound of its processor time for a million runs [s].
        memory_mib: The bound of its peak memory for a million runs [MiB].
    """

    title: str
    act: Callable[[Study, Path], int]
    unit: str
    seconds: float
    memory_mib: float


STEPS = {
    "plan": Step("plan", _plan, "runs", 10, 2000),
    "kill": Step("run, killed", _run, "runs", 300, 2000),
    "resume": Step("resume after the kill", _run, "runs", 300, 2000),
    "check": Step("compare the rows with the plan", _check, "runs", 60, 4000),
    "run again": Step("run again, no run missing", _run, "runs", 30, 2000),
    "ask": Step("`design_space`, before compaction", _ask, "rows", 30, 2000),
    "compact": Step("compact", _compact, "rows", 300, 4000),
    "ask again": Step("`design_space`, after compaction", _ask, "rows", 3, 1000),
}
_FIXED_S, _FIXED_MIB = 3.0, 400
"""What a process takes that does nothing."""


def take(name: str, runs: int, store: Path) -> None:
    """Take a step in this process and print its figures as JSON."""
    study = make_study(runs)
    began, used = time.perf_counter(), time.process_time()
    count = STEPS[name].act(study, store)
    print(
        json.dumps(
            {
                "count": count,
                "wall_s": time.perf_counter() - began,
                "processor_s": time.process_time() - used,
                "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


def take_apart(name: str, runs: int, store: Path) -> dict[str, Any]:
    """Take a step in a process of its own; return its figures, which are printed too."""
    step = STEPS[name]
    command = [sys.executable, __file__, "--runs", str(runs), "--store", str(store), "--step", name]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: S603 - this file
        if name == "kill":
            _kill(process, runs, store)
        text, _ = process.communicate()
    if name == "kill":
        count = count_stored(store, {})
        print(f"{name:<10} {count:>10,} {step.unit:<9} when it was killed", flush=True)
        return {"title": step.title, "count": count, "unit": step.unit}
    if process.returncode:
        raise SystemExit(f"{name} failed")
    found: dict[str, Any] = {"title": step.title, "unit": step.unit, **json.loads(text)}
    print(
        f"{name:<10} {found['count']:>10,} {step.unit:<9} {found['wall_s']:>8.1f} "
        f"{found['processor_s']:>12.1f} {found['peak_mib']:>9,.0f}"
        f"{'' if is_within(name, runs, found) else '  more than its bound'}",
        flush=True,
    )
    return found


def is_within(name: str, runs: int, found: dict[str, Any]) -> bool:
    """Return whether the figures of a step are within its bounds; a killed one has none."""
    step, share = STEPS[name], runs / 1e6
    most_s = _FIXED_S + share * step.seconds
    most_mib = _FIXED_MIB + share * step.memory_mib
    return bool(found.get("processor_s", 0.0) <= most_s and found.get("peak_mib", 0.0) <= most_mib)


def _kill(process: "subprocess.Popen[bytes]", runs: int, store: Path) -> None:
    known: dict[Path, int] = {}
    while process.poll() is None and count_stored(store, known) < _KILLED_AT * runs:
        time.sleep(_POLL_S)
    if process.poll() is not None:
        raise SystemExit("the session ended before it was killed")
    process.send_signal(signal.SIGKILL)


def count_stored(store: Path, known: dict[Path, int]) -> int:
    """Return the number of rows in all fragments; `known` keeps those of fragments that were read."""
    for path in store.glob("sweeps/*/fragments/*.parquet"):
        if path not in known:
            known[path] = pq.read_metadata(path).num_rows
    return sum(known.values())


def main() -> None:
    """Take all steps, or one in this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000, help="runs of the sweep (default 1,000,000)")
    parser.add_argument("--step", choices=sorted(STEPS), help="take only this step, in this process")
    parser.add_argument("--store", type=Path, help="the store of the step")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument("--note", help="what to know about the measurement, stored with it")
    options = parser.parse_args()
    if options.step:
        take(options.step, options.runs, options.store)
        return
    print(f"{'step':<10} {'count':>20} {'seconds':>8} {'processor s':>12} {'peak MiB':>9}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        steps = {name: take_apart(name, options.runs, Path(folder)) for name in STEPS}
        stored = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        print(f"{stored / 1e6:,.0f} MB stored")
    if options.json:
        head = describe_source(f"python benchmarks/scale.py --runs {options.runs}")
        if options.note:
            head["note"] = options.note
        result = {**head, "runs": options.runs, "stored_mb": round(stored / 1e6), "steps": steps}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    sys.exit(0 if all(is_within(name, options.runs, found) for name, found in steps.items()) else 1)


if __name__ == "__main__":
    main()
