"""Comparison of LRU with libCacheSim: both simulate the same cache accesses in turn.

Both are limited by the machine's memory, so compare the ratio of the rates, not the rates. libCacheSim
(github.com/1a1a11a/libCacheSim) is not a dependency of the project: pass a Python that has it.

    python -m venv /some/where && /some/where/bin/pip install libcachesim
    python benchmarks/libcachesim_comparison.py /some/where/bin/python --pairs 5
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from request_list import accesses, load_case, write_oracle_general

from destage.engine import _engine

_LIBCACHESIM = """
import sys, time
import libcachesim
reader = libcachesim.TraceReader(sys.argv[1], libcachesim.TraceType.ORACLE_GENERAL_TRACE)
cache = libcachesim.LRU(int(sys.argv[2]))
start = time.thread_time()
miss_ratio, _ = cache.process_trace(reader)
print(time.thread_time() - start, miss_ratio)
"""


def main() -> None:
    """Run both in turn and print their medians, and the median of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", help="a Python that has libcachesim")
    parser.add_argument("--pairs", type=int, default=5)
    options = parser.parse_args()
    case = load_case("6-lru-zipf")
    keys, capacity = accesses(case), case["capacity"]
    words = keys.astype("<u8").tobytes()
    ours, others = [], []
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "keys.oracleGeneral")
        write_oracle_general(keys, trace)
        for _ in range(options.pairs):
            start = time.thread_time()
            hits = _engine.count_hits("lru", capacity, words)
            ours.append(time.thread_time() - start)
            command = [options.python, "-c", _LIBCACHESIM, str(trace), str(capacity)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - the user names it
            output = done.stdout.split()
            others.append(float(output[0]))
            print(f"miss ratio {1 - hits / len(keys):.6f}, others {float(output[1]):.6f}")
    for name, seconds in (("this engine", ours), ("libCacheSim", others)):
        print(f"{name}: {len(keys) / statistics.median(seconds):,.0f} accesses/s")
    ratios = [their / our for our, their in zip(ours, others, strict=True)]
    print(f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} .. {max(ratios):.2f})")


if __name__ == "__main__":
    main()
