"""Benchmarks of the engine on one core: one table of requests, disk I/Os and events per second.

Each case is a file of `cases/`: a scenario or a list of cache accesses, the least rate that is asked of
this engine, and what a widely used simulator does on the same case, where one was run. `request_list.py`
writes the very same requests for other simulators. The median of several runs counts; a run includes
building its scenario, and ends when every dirty line is destaged. Time is what the core spent on it, so
that other work on the machine disturbs the figures little. That the cases are what their titles say is
tested in `tests/engine/test_benchmark_cases.py`.
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


def _timed(run: Callable[[], Any], runs: int) -> tuple[Any, list[float]]:
    """What `run` gives, and the seconds of processor time that each of `runs` took."""
    seconds: list[float] = []
    result = None
    for _ in range(runs):
        start = time.thread_time()
        result = run()
        seconds.append(time.thread_time() - start)
    return result, seconds


def measure(case: dict[str, Any], runs: int) -> dict[str, float]:
    """Medians over `runs` runs of one case [1/s], and their spread."""
    if "curve" in case:
        trace = block_reads(case)
        curve = case["curve"]
        _, seconds = _timed(lambda: _engine.miss_ratio_curves(trace, "lru", 8, rate=curve["rate"]), runs)
        # Each access is one of the curve of reads and one of the curve of both.
        counts = {"requests": 2 * case["accesses"]["count"]}
    elif "accesses" in case:
        keys = accesses(case).astype("<u8").tobytes()
        _, seconds = _timed(lambda: _engine.count_hits("lru", case["capacity"], keys), runs)
        counts = {"requests": case["accesses"]["count"]}
    else:
        text = canonical_json(case["scenario"])
        (row,), seconds = _timed(lambda: simulate_batch([text]).to_pylist(), runs)
        if row["status"] == "failed":
            sys.exit(row["error"])
        counts = {
            "requests": row["requests"] + row["warm_up_requests"],
            "disk_ios": row["disk_reads"] + row["disk_writes"],
            "events": row["events"],
        }
    took = statistics.median(seconds)
    rates = {name: count / took for name, count in counts.items()}
    return {**rates, "spread": (max(seconds) - min(seconds)) / took}


def main() -> None:
    """Run the cases that were asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each case, of which the median counts")
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
        found = measure(case, options.runs)
        floor, other = case["floor_requests_per_s"], case["reference_requests_per_s"]
        failed |= found["requests"] < floor
        if options.json:
            print(json.dumps({"case": path.stem, **found, "floor": floor, "reference": other}))
            continue
        rates = " ".join(f"{found[name]:>11,.0f}" if name in found else f"{'':>11}" for name in RATES)
        print(
            f"{case['title']:<58} {rates} {found['spread']:>6.0%} {floor:>11,}"
            + (f" {other:>11,} {found['requests'] / other:>8.1f}" if other else "")
        )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
