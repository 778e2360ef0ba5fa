"""Benchmark of every replacement policy on Zipf and on a real trace; optionally against libCacheSim's C loop.

N is the number of accesses: all keys of the Zipf list, and each block that a request of the trace touches.
The real trace has many misses (`--trace` reads another, in any format of `destage trace info`).

libCacheSim (github.com/1a1a11a/libCacheSim) is not a dependency of the project: pass a Python that has it.

    python -m venv /some/where && /some/where/bin/pip install libcachesim
    python benchmarks/replacement.py --libcachesim /some/where/bin/python

`make replacement` stores the result, from which `growth_page.py` writes the tables of docs/benchmarks.md.

Both simulate the same keys with the parameters of the policy's paper, and run in turn in processor time, each
from an empty cache that is allocated before. Its hash table has a fixed size, on which its rate depends: its
default and the size that fits the capacity are both tried, and the faster one is measured. A ratio is printed
only where both have exactly the same misses, that is, where the models are equal.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from environment import describe_source, print_heading, time_thread
from request_list import Keys, accesses, load_case, write_oracle_general

from destage.engine import _engine, traces

EXAMPLE = Path(__file__).parents[1] / "examples" / "pgbench.parquet"
BLOCK_SECTORS = 8
TRACE_CAPACITY = 32_000
"""Entries of the cache for a trace."""
ENOUGH = 4_000_000
"""Accesses per timed run, about: a short trace is simulated several times, each time from an empty cache."""
NAMES = {
    "lru": "LRU",
    "clock": "Clock",
    "fifo": "FIFO",
    "slru": "SLRU",
    "arc": "ARC",
    "two_q": "TwoQ",
    "s3_fifo": "S3FIFO",
    "sieve": "Sieve",
    "lirs": "LIRS",
    "w_tiny_lfu": "WTinyLFU",
}
"""Our policies and libCacheSim's; its defaults are the parameters of the papers, as ours are."""
DIFFERENCES = {
    "lirs": "the paper leaves the number of ghosts open",
    "w_tiny_lfu": "the paper leaves the sketch of frequencies open",
}
FLOORS = {"Zipf": 3e6, "trace": 3e6}
"""Minimum accesses per second of every policy."""
_DEFAULT_POWER = 24
_SCRIPT = """
import importlib.metadata, json, sys, time
import libcachesim
trace, name = sys.argv[1:3]
capacity, power, times = map(int, sys.argv[3:])
seconds = 0.0
for _ in range(times):
    reader = libcachesim.TraceReader(trace, libcachesim.TraceType.ORACLE_GENERAL_TRACE)
    cache = getattr(libcachesim, name)(capacity, hashpower=power)
    began = time.thread_time()
    miss_ratio, _ = cache.process_trace(reader)
    seconds += time.thread_time() - began
version = importlib.metadata.version("libcachesim")
print(json.dumps({"seconds": seconds / times, "miss_ratio": miss_ratio, "version": version}))
"""


@dataclass(frozen=True, slots=True)
class Load:
    """Accesses to simulate; `kind` selects the floor."""

    kind: str
    title: str
    keys: Keys
    capacity: int


@dataclass(slots=True)
class Result:
    """Rates of one policy [1/s] and its miss ratio; those of libCacheSim are None where it was not run."""

    load: str
    n: int
    capacity: int
    policy: str
    miss_ratio: float
    rate: float
    floor: float
    peer_miss_ratio: float | None = None
    peer_rate: float | None = None
    peer_power: int | None = None
    peer_version: str | None = None
    ratio: float | None = None

    @property
    def verdict(self) -> str:
        """Whether the models are equal, with the ratio of the rates if they are."""
        if self.peer_miss_ratio is None:
            return ""
        if self.ratio is None:
            return f"models differ: {DIFFERENCES.get(self.policy, 'other misses')}"
        return f"{self.ratio:.1f}"


def load_zipf(objects: int | None = None, count: int | None = None) -> Load:
    """Return the accesses of the case of LRU, or fewer of the same kind."""
    case = load_case("6-lru-zipf")
    share = 1.0 if objects is None else objects / case["accesses"]["objects"]
    case["accesses"].update(
        objects=objects or case["accesses"]["objects"], count=count or case["accesses"]["count"]
    )
    keys = accesses(case)
    capacity = int(case["capacity"] * share)
    return Load("Zipf", f"Zipf 1.0 over {case['accesses']['objects']:,} objects", keys, capacity)


def load_trace(path: Path, capacity: int = TRACE_CAPACITY, most: int | None = None) -> Load:
    """Return every block that the requests of a trace touch, in order."""
    table = traces.table(traces.load(path))
    first, sectors, op = (table[name].to_numpy() for name in ("lba_512", "n_512", "op"))
    data = (op < 2) & (sectors > 0)  # noqa: PLR2004 - reads and writes
    begin, end = first[data] // BLOCK_SECTORS, (first[data] + sectors[data] - 1) // BLOCK_SECTORS
    counts = (end - begin + 1).astype(np.int64)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    keys = (np.repeat(begin, counts) + within.astype(np.uint64)).astype(np.uint64)[:most]
    return Load("trace", f"{path.name}, blocks of 4 KiB", keys, capacity)


def compare(load: Load, peer: str | None, runs: int) -> Iterator[Result]:
    """Measure every policy on a load, in turn with libCacheSim if `peer` names a Python that has it."""
    words = load.keys.astype("<u8").tobytes()
    count = len(load.keys)
    times = max(ENOUGH // count, 1) if runs > 1 else 1
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "keys.oracleGeneral")
        write_oracle_general(load.keys, trace)
        for policy, name in NAMES.items():
            ours: list[float] = []
            others: dict[int, list[float]] = {}
            hits, theirs = 0, None
            count_hits = partial(_engine.count_hits, policy, load.capacity, words)
            powers = _powers(load.capacity) if peer else ()
            for _ in range(runs):
                hits, seconds = time_thread(count_hits, times)
                ours.append(statistics.fmean(seconds))
                for power in powers:
                    command = [peer, "-c", _SCRIPT, trace, name, load.capacity, power, times]
                    theirs = _run_peer([str(part) for part in command])
                    others.setdefault(power, []).append(theirs["seconds"])
                powers = (min(others, key=others.__getitem__),) if others else ()
            found = Result(
                load.title,
                count,
                load.capacity,
                policy,
                1 - hits / count,
                count / statistics.median(ours),
                FLOORS[load.kind],
            )
            if theirs is not None:
                (power,) = powers
                found.peer_miss_ratio, found.peer_version = theirs["miss_ratio"], theirs["version"]
                found.peer_power, found.peer_rate = power, count / statistics.median(others[power])
                if round(theirs["miss_ratio"] * count) == count - hits:
                    pairs = zip(others[power], ours, strict=True)
                    found.ratio = statistics.median(their / our for their, our in pairs)
            yield found


def _powers(capacity: int) -> tuple[int, ...]:
    """Return the sizes of libCacheSim's table to try, as powers of two: its default, and one that fits."""
    return (_DEFAULT_POWER, min((2 * capacity - 1).bit_length(), _DEFAULT_POWER - 1))


def _run_peer(command: Sequence[str]) -> dict[str, Any]:
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - the user names it
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def print_result(found: Result) -> None:
    """Print a row of the table."""
    peer = ""
    if found.peer_rate is not None and found.peer_miss_ratio is not None:
        peer = f" {found.peer_miss_ratio:>10.6f} {found.peer_rate:>12,.0f} {f'2^{found.peer_power}':>6}"
    below = "  below the floor" if found.rate < found.floor else ""
    print(
        f"{found.policy:<12} {found.miss_ratio:>10.6f} {found.rate:>12,.0f} {found.floor:>12,.0f}{peer}"
        f"  {found.verdict}{below}",
        flush=True,
    )


def describe_command(options: argparse.Namespace) -> str:
    """Return the command of a measurement, without folders of the machine."""
    parts = ["python benchmarks/replacement.py"]
    if options.libcachesim:
        parts.append("--libcachesim PYTHON")
    if options.trace != EXAMPLE:
        parts.append(f"--trace {options.trace.name}")
    if options.capacity != TRACE_CAPACITY:
        parts.append(f"--capacity {options.capacity}")
    return " ".join([*parts, f"--runs {options.runs}"])


def main() -> None:
    """Print a table for each load; exit with 1 if a policy is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libcachesim", metavar="PYTHON", help="a Python that has libcachesim")
    parser.add_argument("--trace", type=Path, default=EXAMPLE, help="the real trace (default: %(default)s)")
    parser.add_argument("--capacity", type=int, default=TRACE_CAPACITY, help="entries of the cache for it")
    parser.add_argument("--runs", type=int, default=5, help="runs of each policy; the median is printed")
    parser.add_argument("--json", type=Path, help="write the results to this file, too")
    options = parser.parse_args()
    results = []
    for load in (load_zipf(), load_trace(options.trace, options.capacity)):
        remark = (
            f"{load.title}: N = {len(load.keys):,} accesses, {load.capacity:,} entries; "
            f"one core, processor time, median of {options.runs} runs"
        )
        print_heading("Replacement policies", remark)
        names = f"{'policy':<12} {'misses':>10} {'accesses/s':>12} {'floor':>12}"
        print(
            names
            + (f" {'its misses':>10} {'its rate':>12} {'table':>6}  ratio" if options.libcachesim else "")
        )
        for found in compare(load, options.libcachesim, options.runs):
            print_result(found)
            results.append(found)
    if options.libcachesim:
        print(f"peer: libCacheSim {results[0].peer_version}, its wheel; it does not record its build flags")
    if options.json:
        rows = [asdict(found) | {"verdict": found.verdict} for found in results]
        result = {**describe_source(describe_command(options)), "results": rows}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    sys.exit(1 if any(found.rate < found.floor for found in results) else 0)


if __name__ == "__main__":
    main()
