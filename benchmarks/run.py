"""Benchmarks of the engine on one core: one table of requests, disk I/Os and events per second.

Each case is a file of `cases/`: a scenario or a list of cache accesses, and the minimum rate of this engine.
N is the number of requests, or of accesses, each counted once. `request_list.py` writes the same requests for
other simulators. Each figure is the median of several runs; a run includes building its scenario and ends
when every dirty line is destaged. Time is processor time, so that other load has little effect.
`tests/engine/test_benchmark_cases.py` checks that the cases match their titles.

There is no rate of another disk simulator beside these. In the one that was measured, time per request grows
with the length of a RAID 5 run, so that a ratio would depend on the length, and the cache lies below the
RAID, so that it has no equal of the write-back case. `replacement.py` compares replacement policies, of which
equal models exist.
"""

import argparse
import json
import statistics
import sys
from typing import Any

from environment import find_spread, print_heading, time_thread
from request_list import CASES, accesses, block_reads, load_case

from destage.engine import _engine, canonical_json, simulate_batch

RATES = ("requests", "disk_ios", "events")


def measure(case: dict[str, Any], runs: int) -> dict[str, float]:
    """Return N, the median rates over `runs` runs of one case [1/s], and their spread."""
    if "curve" in case:
        trace = block_reads(case)
        rate = case["curve"]["rate"]
        _, seconds = time_thread(lambda: _engine.miss_ratio_curves(trace, "lru", 8, rate=rate), runs)
        counts = {"requests": case["accesses"]["count"]}
    elif "accesses" in case:
        keys = accesses(case).astype("<u8").tobytes()
        _, seconds = time_thread(lambda: _engine.count_hits("lru", case["capacity"], keys), runs)
        counts = {"requests": case["accesses"]["count"]}
    else:
        text = canonical_json(case["scenario"])
        (row,), seconds = time_thread(lambda: simulate_batch([text]).to_pylist(), runs)
        if row["status"] == "failed":
            sys.exit(row["error"])
        counts = {
            "requests": row["requests"] + row["warm_up_requests"],
            "disk_ios": row["disk_reads"] + row["disk_writes"],
            "events": row["events"],
        }
    median_s = statistics.median(seconds)
    rates = {name: count / median_s for name, count in counts.items()}
    return {"n": counts["requests"], **rates, "spread": find_spread(seconds)}


def main() -> None:
    """Run the selected cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each case; the median is printed")
    parser.add_argument("--only", default="", help="only cases whose file name contains this")
    parser.add_argument("--json", action="store_true", help="print JSON lines instead of the table")
    options = parser.parse_args()
    if not options.json:
        remark = f"one core, processor time, median of {options.runs} runs"
        print_heading("The engine", remark)
        print(
            f"{'case':<62} {'N':>9} {'requests/s':>11} {'disk I/Os/s':>11} {'events/s':>11} {'spread':>6}"
            f" {'floor':>11}"
        )
    failed = False
    for path in sorted(CASES.glob("*.json")):
        if options.only not in path.stem:
            continue
        case = load_case(path.stem)
        measured = measure(case, options.runs)
        floor = case["floor_requests_per_s"]
        is_below = measured["requests"] < floor
        failed |= is_below
        if options.json:
            print(json.dumps({"case": path.stem, **measured, "floor": floor}))
            continue
        rates = " ".join(f"{measured[name]:>11,.0f}" if name in measured else f"{'':>11}" for name in RATES)
        print(
            f"{case['title']:<62} {measured['n']:>9,} {rates} {measured['spread']:>6.0%} {floor:>11,}"
            f"{'  below the floor' if is_below else ''}",
            flush=True,
        )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
