"""Benchmarks of the engine on one core: one table of requests, disk I/Os and events per second.

Each case is a file of `cases/`: a scenario or a list of cache accesses, the minimum rate of this engine, and
the rate of a widely used simulator on the same case, if it was measured. `request_list.py` writes the same
requests for other simulators. Each figure is the median of several runs; a run includes building its scenario
and ends when every dirty line is destaged. Time is processor time, so that other load on the machine has
little effect. `tests/engine/test_benchmark_cases.py` checks that the cases match their titles.
"""

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from request_list import CASES, accesses, block_reads, load_case

from destage.engine import _engine, canonical_json, simulate_batch

RATES = ("requests", "disk_ios", "events")


def _time_runs(run: Callable[[], Any], runs: int) -> tuple[Any, list[float]]:
    """Return the result of `run`, and the processor time of each of `runs` calls [s]."""
    seconds: list[float] = []
    result = None
    for _ in range(runs):
        start = time.thread_time()
        result = run()
        seconds.append(time.thread_time() - start)
    return result, seconds


def measure(case: dict[str, Any], runs: int) -> dict[str, float]:
    """Return the median rates over `runs` runs of one case [1/s], and their spread."""
    if "curve" in case:
        trace = block_reads(case)
        curve = case["curve"]
        _, seconds = _time_runs(lambda: _engine.miss_ratio_curves(trace, "lru", 8, rate=curve["rate"]), runs)
        # Each access counts in the curve of reads and in the curve of both.
        counts = {"requests": 2 * case["accesses"]["count"]}
    elif "accesses" in case:
        keys = accesses(case).astype("<u8").tobytes()
        _, seconds = _time_runs(lambda: _engine.count_hits("lru", case["capacity"], keys), runs)
        counts = {"requests": case["accesses"]["count"]}
    else:
        text = canonical_json(case["scenario"])
        (row,), seconds = _time_runs(lambda: simulate_batch([text]).to_pylist(), runs)
        if row["status"] == "failed":
            sys.exit(row["error"])
        counts = {
            "requests": row["requests"] + row["warm_up_requests"],
            "disk_ios": row["disk_reads"] + row["disk_writes"],
            "events": row["events"],
        }
    median_s = statistics.median(seconds)
    rates = {name: count / median_s for name, count in counts.items()}
    return {**rates, "spread": (max(seconds) - min(seconds)) / median_s}


def main() -> None:
    """Run the selected cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each case; the median is printed")
    parser.add_argument("--only", default="", help="only cases whose file name contains this")
    parser.add_argument("--json", action="store_true", help="print JSON lines instead of the table")
    options = parser.parse_args()
    if not options.json:
        print(f"{platform.machine()}, Python {platform.python_version()}, one core, {options.runs} runs each")
        print(
            f"{'case':<58} {'requests/s':>11} {'disk I/Os/s':>11} {'events/s':>11} {'spread':>6}"
            f" {'floor':>11} {'other':>11} {'x other':>8}"
        )
    failed = False
    for path in sorted(CASES.glob("*.json")):
        if options.only not in path.stem:
            continue
        case = load_case(path.stem)
        measured = measure(case, options.runs)
        floor, other = case["floor_requests_per_s"], case["reference_requests_per_s"]
        failed |= measured["requests"] < floor
        if options.json:
            print(json.dumps({"case": path.stem, **measured, "floor": floor, "reference": other}))
            continue
        rates = " ".join(f"{measured[name]:>11,.0f}" if name in measured else f"{'':>11}" for name in RATES)
        print(
            f"{case['title']:<58} {rates} {measured['spread']:>6.0%} {floor:>11,}"
            + (f" {other:>11,} {measured['requests'] / other:>8.1f}" if other else "")
        )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
