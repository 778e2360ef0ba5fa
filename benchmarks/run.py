"""Benchmarks of the engine on one core: one table of requests, disk I/Os and events per second.

Each case is a file of `cases/`: a scenario, the rate asked of this engine where there is one, and what a
widely used disk-array simulator does on the same case. The median of several runs counts; a run includes
building its scenario, and ends when every dirty line is destaged. Time is what the core spent on it, so
that other work on the machine disturbs the figures little.
"""

import argparse
import json
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from destage.engine import _engine, canonical_json, simulate_batch

CASES = Path(__file__).parent / "cases"

LRU_OBJECTS, LRU_ACCESSES = 10_000_000, 5_000_000


def measure(scenario: dict[str, Any], runs: int) -> dict[str, float]:
    """Medians over `runs` runs of one scenario [1/s], with its row's write hit ratio."""
    text = canonical_json(scenario)
    seconds: list[float] = []
    row: dict[str, Any] = {}
    for _ in range(runs):
        start = time.thread_time()
        (row,) = simulate_batch([text]).to_pylist()
        seconds.append(time.thread_time() - start)
    if row["status"] == "failed":
        raise SystemExit(row["error"])
    took = statistics.median(seconds)
    return {
        "requests": (row["requests"] + row["warm_up_requests"]) / took,
        "disk_ios": (row["disk_reads"] + row["disk_writes"]) / took,
        "events": row["events"] / took,
        "spread": (max(seconds) - min(seconds)) / took,
        "write_hits": row["write_hit_ratio"] or 0.0,
    }


def measure_lru(runs: int) -> float:
    """Accesses per second of an LRU of a tenth of the objects under Zipf with exponent 1."""
    popularity = np.cumsum(1 / np.arange(1, LRU_OBJECTS + 1))
    draws = np.random.default_rng(1).random(LRU_ACCESSES) * popularity[-1]
    ranks = np.searchsorted(popularity, draws).astype("<u8")
    keys = (ranks * np.uint64(0x9E37_79B9_7F4A_7C15) >> np.uint64(16)).tobytes()
    seconds = []
    for _ in range(runs):
        start = time.thread_time()
        _engine.count_hits("lru", LRU_OBJECTS // 10, keys)
        seconds.append(time.thread_time() - start)
    return LRU_ACCESSES / statistics.median(seconds)


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
            f" {'asked':>9} {'x other':>8}"
        )
    failed = False
    for path in sorted(CASES.glob("*.json")):
        if options.only not in path.stem:
            continue
        case = json.loads(path.read_text(encoding="utf-8"))
        found = measure(case["scenario"], options.runs)
        asked, other = case["target_requests_per_s"], case["reference_requests_per_s"]
        failed |= bool(asked) and found["requests"] < asked
        if options.json:
            print(json.dumps({"case": path.stem, **found}))
            continue
        rates = " ".join(f"{found[name]:>11,.0f}" for name in ("requests", "disk_ios", "events"))
        ratio = found["requests"] / other
        print(f"{case['title']:<58} {rates} {found['spread']:>6.0%} {asked or '':>9} {ratio:>8.1f}")
    if options.only in "lru":
        rate = measure_lru(options.runs)
        title = "LRU, Zipf over 10 M objects, room for 1 M"
        print(
            json.dumps({"case": "lru", "requests": rate}) if options.json else f"{title:<58} {rate:>11,.0f}"
        )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
