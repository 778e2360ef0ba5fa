"""How cost grows: processor time against requests, disks, cache lines, points and rows.

Each quantity is measured at several sizes. Costs and sizes are those added to the smallest size, so that
fixed costs do not count; a cost is the median of several runs. The exponent is the slope of a least-squares
line through the logarithms of size and cost, with Student's interval of 95 %: 1 is linear. The result is
stored as JSON, from which `growth_page.py` writes the tables and the picture of docs/benchmarks.md.
"""

import argparse
import copy
import json
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from environment import describe_build, describe_machine, describe_source
from orchestration import CALL_CENTER
from request_list import accesses, load_case
from synthetic_sweep import REPLICATES, write_sweep

from destage import student, sweeps
from destage.engine import _engine, canonical_json, simulate_batch
from destage.queries import open_session
from destage.sweeps import parse_study

RESULT = Path(__file__).parent / "results" / "growth.json"
LINE_BYTES = 8192
_LEAST = 3
"""Sizes that a slope with an interval needs."""

Act = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Quantity:
    """Something that a cost grows with.

    Attributes:
        title: What is done.
        unit: What a size counts.
        sizes: The sizes; the others are compared with the first.
        prepare: Makes what is timed of a size and a folder for its files.
    """

    title: str
    unit: str
    sizes: tuple[int, ...]
    prepare: Callable[[int, Path], Act]


def _simulate(scenario: dict[str, Any]) -> Act:
    text = canonical_json(scenario)

    def act() -> None:
        (row,) = simulate_batch([text]).to_pylist()
        if row["status"] == "failed":
            raise SystemExit(row["error"])

    return act


def run_requests(size: int, _: Path) -> Act:
    """Simulate this number of requests on RAID 5 of eight disks with 64 MiB of write-back cache."""
    scenario = load_case("5-raid5-write-back")["scenario"]
    return _simulate({**scenario, "run": {**scenario["run"], "window": {"requests": size}}})


def run_disks(size: int, _: Path) -> Act:
    """Simulate this number of disks as RAID 1+0, each with the same load for the same time."""
    scenario = copy.deepcopy(load_case("3-raid10")["scenario"])
    scenario["array"]["disks"] = size
    scenario["workload"]["streams"][0]["arrival"]["rate"] = 50.0 * size
    return _simulate({**scenario, "run": {**scenario["run"], "window": {"requests": 4_000 * size}}})


def run_lines(size: int, _: Path) -> Act:
    """Simulate a write-back cache of this number of lines, and one request per line."""
    scenario = copy.deepcopy(load_case("5-raid5-write-back")["scenario"])
    cache = scenario["controller"]["cache"]
    cache["capacity"] = cache["usable"] = f"{size * LINE_BYTES}B"
    scenario["workload"]["streams"][0]["operations"]["read_fraction"] = 0.0
    return _simulate({**scenario, "run": {**scenario["run"], "window": {"requests": size}}})


def count_lru(size: int, _: Path) -> Act:
    """Count the hits of an LRU with this number of entries: ten objects and five accesses per entry."""
    load = {"objects": 10 * size, "count": 5 * size, "exponent": 1.0, "seed": 1}
    keys = accesses({"accesses": load}).astype("<u8").tobytes()
    return partial(_engine.count_hits, "lru", size, keys)


def plan_points(size: int, folder: Path) -> Act:
    """Plan this number of points of four axes with five replicates each."""
    users = max(size // 128, 1)
    study = parse_study(f"{CALL_CENTER}  workload.users: {{range: [1, {users}, 1]}}\n")
    return lambda: sweeps.plan(study, folder)


def read_rows(size: int, folder: Path) -> Act:
    """Open a finished sweep of this number of rows and answer `design_space`."""
    sweep = write_sweep(folder, size)

    def act() -> None:
        with open_session(sweep) as session:
            points = session.query("design_space").num_rows
        if points != size // REPLICATES:
            raise SystemExit(f"{points} points of {size} rows were found")

    return act


QUANTITIES = {
    "requests": Quantity(
        "RAID 5 of eight disks, 64 MiB write-back",
        "requests",
        (1_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000),
        run_requests,
    ),
    "disks": Quantity("RAID 1+0, 4,000 requests per disk", "disks", (8, 32, 64, 128, 256, 512), run_disks),
    "lines": Quantity(
        "Write-back cache, one write of 8 KiB per line",
        "cache lines",
        (1_024, 16_384, 65_536, 262_144, 1_048_576),
        run_lines,
    ),
    "entries": Quantity(
        "LRU, five accesses per entry",
        "cache entries",
        (1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
        count_lru,
    ),
    "points": Quantity(
        "Planning, five replicates per point",
        "points",
        (128, 3_200, 12_800, 51_200, 204_800),
        plan_points,
    ),
    "rows": Quantity(
        "Opening a sweep and listing its points",
        "rows",
        (1_000, 30_000, 100_000, 300_000, 1_000_000),
        read_rows,
    ),
}


def time_size(quantity: Quantity, size: int, runs: int) -> list[float]:
    """Return the processor time of each of `runs` runs at a size [s]; the first run is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        act = quantity.prepare(size, Path(folder))
        seconds = []
        for _ in range(runs + 1):
            began = time.process_time()
            act()
            seconds.append(time.process_time() - began)
    return seconds[1:]


def fit_exponent(sizes: Sequence[int], costs: Sequence[float]) -> tuple[float, float]:
    """Return the exponent of cost against size and the half-width of its 95 % interval.

    Raises:
        ValueError: There are fewer than three sizes, or a cost is not positive.
    """
    if len(sizes) < _LEAST:
        raise ValueError(f"{len(sizes)} sizes; a slope with an interval needs {_LEAST}")
    x, y = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    slope, intercept = statistics.linear_regression(x, y)
    residual = sum((v - slope * u - intercept) ** 2 for u, v in zip(x, y, strict=True))
    mean = statistics.fmean(x)
    error = math.sqrt(residual / (len(x) - 2) / sum((u - mean) ** 2 for u in x))
    # The quantile of len - 2 degrees of freedom.
    return slope, student.quantile(len(x) - 1) * error


def list_costs(measured: dict[str, Any]) -> tuple[list[int], list[float]]:
    """Return what each size adds to the smallest: the units, and the median time [s]."""
    medians = [statistics.median(seconds) for seconds in measured["seconds"]]
    least = measured["sizes"][0]
    return [size - least for size in measured["sizes"][1:]], [median - medians[0] for median in medians[1:]]


def measure(name: str, runs: int, share: float = 1.0) -> dict[str, Any]:
    """Measure a quantity at all sizes up to this share of the largest; return what is stored."""
    quantity = QUANTITIES[name]
    most = max(share * quantity.sizes[-1], quantity.sizes[_LEAST])
    sizes = [size for size in quantity.sizes if size <= most]
    seconds = [time_size(quantity, size, runs) for size in sizes]
    return {"title": quantity.title, "unit": quantity.unit, "sizes": sizes, "seconds": seconds}


def main() -> None:
    """Measure every quantity, print its exponent and store the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each size; the median counts")
    parser.add_argument(
        "--share", type=float, default=1.0, help="leave out sizes above this share of the largest"
    )
    parser.add_argument(
        "--only", default="", help="only quantities whose name contains this; stored only with --output"
    )
    parser.add_argument("-o", "--output", type=Path, help=f"the result (default: {RESULT.name})")
    options = parser.parse_args()
    command = f"python benchmarks/growth.py --runs {options.runs} --share {options.share:g}"
    if options.only:
        command += f" --only {options.only}"
    print(f"{describe_machine()}\n{describe_build()}\n{command}", flush=True)
    quantities = {}
    for name in QUANTITIES:
        if options.only in name:
            quantities[name] = measured = measure(name, options.runs, options.share)
            sizes, costs = list_costs(measured)
            slope, half = fit_exponent(sizes, costs)
            at_most = f"{1e6 * costs[-1] / sizes[-1]:,.2f} us per unit at {sizes[-1]:,}"
            print(f"{name:<10} exponent {slope:.3f} +/- {half:.3f}, {at_most}", flush=True)
    # A part of the quantities must not replace the result of all of them.
    output = options.output or (None if options.only else RESULT)
    if output is not None:
        text = json.dumps({**describe_source(command), "quantities": quantities}, indent=1)
        output.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
