"""The overhead of a sweep: 10,000 runs of about 5 ms, in process and on Ray, compared with engine loops.

A loop is one call of the engine with all configurations in one process: the cost of the runs without a sweep.
A sweep also plans, submits batches, writes rows and commits them. Its share of the loop's rate is the
processor time of the loop divided by that of the sweep.

Ray runs one worker per processor. Processors share caches, so it is compared with one loop per processor, all
at the same time. Its processor time includes all its processes. The share is printed with and without Ray's
own processes (its start, control store, agents and logs), which use processor time independently of the runs.
Their share is measured with a sweep of one run per processor that takes as long. Finally, the bundled
call-centre study is run as a user runs it. Each measurement is a separate process.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from environment import print_heading
from orchestration import CALL_CENTER
from process_tree import DESTAGE, Usage, run_measured

from destage import engine, sweeps
from destage.store.state.plan import join_configs
from destage.sweeps import Study, parse_study

POINTS = 100
WINDOW = 7_000
"""Requests of a run: about 5 ms."""
INLINE, RAY = "sweep in process", "sweep on Ray less Ray itself"
FLOORS = {INLINE: 0.90, RAY: 0.80}
"""Minimum shares of the loop's rate."""
_STUDY = "call_center"


def make_study(runs: int, requests: int = WINDOW) -> Study:
    """Return a study of runs with this number of requests, in at most 100 points of different users."""
    points = min(runs, POINTS)
    text = CALL_CENTER.partition("axes:")[0].replace("replicates: 5", f"replicates: {runs // points}")
    window = f"  run: {{warm_up: none, window: {{requests: {requests}}}}}\n"
    before, after = text.split("replicates:")
    return parse_study(
        f"{before}{window}replicates:{after}axes:\n  workload.users: {{range: [41, {40 + points}, 1]}}\n"
    )


def run_loop(study: Study, store: Path) -> int:
    """Execute all runs in one call of the engine."""
    configs = join_configs(sweeps.plan(study, store).table).to_pylist()
    return len(engine.execute_canonical(configs).seconds)


def run_inline(study: Study, store: Path) -> int:
    """Run the sweep in process, one run at a time."""
    return sweeps.run(study, store, executor="inline", workers=1).executed


def run_on_ray(study: Study, store: Path) -> int:
    """Run the sweep on Ray, one worker per processor."""
    return sweeps.run(study, store, executor="ray").executed


MODES: dict[str, Callable[[Study, Path], int]] = {"loop": run_loop, "inline": run_inline, "ray": run_on_ray}


def execute(mode: str, runs: int, requests: int) -> None:
    """Execute the runs in this process and print its times as JSON."""
    with tempfile.TemporaryDirectory() as store:
        study = make_study(runs, requests)
        began, used = time.perf_counter(), time.process_time()
        executed = MODES[mode](study, Path(store))
        if executed != runs:
            raise SystemExit(f"{executed} of {runs} runs were executed")
        print(json.dumps({"wall_s": time.perf_counter() - began, "own_s": time.process_time() - used}))


def measure(mode: str, runs: int, requests: int = WINDOW) -> tuple[float, float]:
    """Return wall-clock and processor time of a mode [s]; that of all its processes counts."""
    options = ["--mode", mode, "--runs", str(runs), "--requests", str(requests)]
    usage = run_measured([sys.executable, __file__, *options])
    return usage.result["wall_s"], usage.result["own_s"] + usage.descendants_s


def measure_loops(runs: int, requests: int = WINDOW) -> tuple[float, float]:
    """Return wall-clock and processor time of one loop per processor, all at a time, over the runs [s]."""
    count = os.cpu_count() or 1
    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(partial(measure, "loop", requests=requests), [runs // count] * count))
    return max(wall_s for wall_s, _ in found), sum(processor_s for _, processor_s in found)


def measure_ray_itself(runs: int) -> float:
    """Return the processor time of Ray's own processes during the sweep [s], their start included.

    A sweep with one run per processor that takes as long has the same, and next to nothing else.
    """
    count = os.cpu_count() or 1
    requests = WINDOW * runs // count
    _, ray_s = measure("ray", count, requests)
    _, loops_s = measure_loops(count, requests)
    return ray_s - loops_s


def run_bundled() -> Usage:
    """Run the bundled call-centre study into an empty store."""
    with tempfile.TemporaryDirectory() as store:
        return run_measured([str(DESTAGE), "run", _STUDY, "--store", store, "--quiet"])


def print_row(way: str, wall_s: float | None, processor_s: float, runs: int, share: float | None) -> bool:
    """Print a row of the table; return whether its share is below its floor."""
    wall = "" if wall_s is None else f"{wall_s:.2f}"
    each = f"{1e3 * processor_s / runs:>10.2f} {runs / processor_s:>8,.0f}"
    floor = FLOORS.get(way)
    is_below = floor is not None and share is not None and share < floor
    shown = "" if share is None else f"{share:.0%}"
    limit = "" if floor is None else f"{floor:.0%}"
    below = "  below the floor" if is_below else ""
    print(f"{way:<34} {wall:>9} {processor_s:>11.2f} {each} {shown:>7} {limit:>7}{below}", flush=True)
    return is_below


def main() -> None:
    """Print the table; exit with 1 if a share is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, help="runs of the sweep (default %(default)s)")
    parser.add_argument("--requests", type=int, default=WINDOW, help="requests of a run in a --mode")
    parser.add_argument("--mode", choices=MODES, help="execute the runs only in this way, in this process")
    parser.add_argument("--no-study", action="store_true", help="leave out the bundled study")
    options = parser.parse_args()
    if options.mode:
        execute(options.mode, options.runs, options.requests)
        return
    runs: int = options.runs
    print_heading(
        "The path of a run",
        f"N = {runs:,} runs of {WINDOW:,} requests; share = of the loop's rate, in processor time",
    )
    heads = f"{'ms per run':>10} {'runs/s':>8} {'share':>7} {'floor':>7}"
    print(f"{'way':<34} {'seconds':>9} {'processor s':>11} {heads}")
    wall_s, loop_s = measure("loop", runs)
    print_row("one engine loop", wall_s, loop_s, runs, None)
    wall_s, inline_s = measure("inline", runs)
    failed = print_row(INLINE, wall_s, inline_s, runs, loop_s / inline_s)
    wall_s, loops_s = measure_loops(runs)
    print_row("one engine loop per processor", wall_s, loops_s, runs, None)
    wall_s, ray_s = measure("ray", runs)
    print_row("sweep on Ray", wall_s, ray_s, runs, loops_s / ray_s)
    own_s = measure_ray_itself(runs)
    failed |= print_row(RAY, None, ray_s - own_s, runs, loops_s / (ray_s - own_s))
    if not options.no_study:
        usage = run_bundled()
        print(f"{f'destage run {_STUDY}':<34} {usage.wall_s:>9.2f} {usage.total_s:>11.2f}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
