"""Benchmarks of reading a sweep: opening it, the design space, the table and the report, as one table.

Each figure is measured in a process of its own, whose peak memory is printed, on a synthetic sweep of
`--runs` runs in fragments of about 64 MB. It is written by a further process, as the peak of a process that
starts others would count as theirs. The time of each operation includes opening the sweep. Then a sweep
of many small fragments is opened twice: the first reader copies them to one file, which the second one reads.

The first reader of the large sweep records facts about it, and `status` its counts, which later ones take.
"""

import argparse
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from environment import print_heading
from synthetic_sweep import REPLICATES, write_sweep

from destage.queries import Session, open_session
from destage.queries.report.page import render_page
from destage.queries.report.reported_kinds import compose_answer
from destage.queries.report.sentences.excerpt import MOST_LISTED, open_excerpt
from destage.queries.text.formats import encode
from destage.store.opened import recorded_progress


def list_points(session: Session) -> None:
    """Format the table that `destage run` ends with."""
    shown = open_excerpt(session, MOST_LISTED)
    encode(shown.query("design_space"), "markdown", session.units)
    compose_answer(session)


OPERATIONS: dict[str, Callable[[Session], object]] = {
    "open": lambda _: None,
    "open again": lambda _: None,
    "count": lambda session: [session.run(one) for one in session.split("SELECT count(*) FROM runs")],
    "design_space": lambda session: session.query("design_space"),
    "one column of runs": lambda session: session.sql("SELECT avg(response_p95_us) FROM runs"),
    "table and answer": list_points,
    "report": render_page,
    "status without a record": lambda session: recorded_progress.status(session.sweep.path),
    "status again": lambda session: recorded_progress.status(session.sweep.path),
}
BOUNDS_S = {
    "open": 2,
    "open again": 1,
    "count": 1,
    "design_space": 5,
    "one column of runs": 10,
    "table and answer": 40,
    "report": 50,
    "status without a record": 20,
    "status again": 1,
}
"""The most processor time for a million rows [s]."""
BOUND_MIB = 2000
"""The most memory for a million rows."""
_FIXED_S, _FIXED_MIB = 4, 500
"""What a process takes with hardly any rows."""
SMALL_FRAGMENTS, SMALL_ROWS = 1_000, 10
"""The number of small fragments, and the rows of each."""
SMALL_BOUNDS_S = {"small fragments, first": 4, "small fragments, again": 1}
"""The most processor time to open them [s]."""


def measure(name: str, sweep: Path) -> bool:
    """Print the time of an operation, opening included, its processor time and the peak memory.

    Returns whether all are within their bounds.
    """
    began, used = time.perf_counter(), time.process_time()
    with open_session(sweep) as session:
        OPERATIONS.get(name, OPERATIONS["open"])(session)
        seconds, processor = time.perf_counter() - began, time.process_time() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows: int = session.sql("SELECT count(*) AS n FROM runs")["n"][0].as_py()
    share = rows / 1e6
    bound = SMALL_BOUNDS_S[name] if name in SMALL_BOUNDS_S else _FIXED_S + share * BOUNDS_S[name]
    is_within = processor <= bound and peak <= _FIXED_MIB + share * BOUND_MIB
    above = "" if is_within else "  above the bound"
    print(f"{name:<28} {seconds:>9.2f} {processor:>11.2f} {peak:>9,.0f}{above}", flush=True)
    return is_within


def write_apart(folder: Path, *sizes: int) -> Path:
    """Write a sweep in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(write_sweep, folder, *sizes).result()


def main() -> None:
    """Write the sweep, and measure each operation in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000, help="runs of the sweep")
    parser.add_argument("--sweep", type=Path, help="measure this sweep instead of a synthetic one")
    parser.add_argument(
        "--operation",
        choices=sorted([*OPERATIONS, *SMALL_BOUNDS_S]),
        help="measure only this, in this process",
    )
    options = parser.parse_args()
    if options.operation:
        sys.exit(0 if measure(options.operation, options.sweep) else 1)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        sweep = options.sweep or write_apart(Path(folder), options.runs)
        size = sum(path.stat().st_size for path in (sweep / "fragments").iterdir()) / 1e6
        points = "" if options.sweep else f"{options.runs:,} runs, {options.runs // REPLICATES:,} points, "
        print_heading(
            "Reading a sweep",
            f"N: {points}{size:,.0f} MB of fragments; each in a process of its own, times include opening",
        )
        print(f"{'reading':<28} {'seconds':>9} {'processor s':>11} {'peak MiB':>9}", flush=True)
        measured = dict.fromkeys(OPERATIONS, sweep)
        if not options.sweep:
            small = write_apart(Path(folder), SMALL_FRAGMENTS * SMALL_ROWS, SMALL_ROWS)
            measured |= dict.fromkeys(SMALL_BOUNDS_S, small)
        for name, place in measured.items():
            command = [sys.executable, __file__, "--sweep", str(place), "--operation", name]
            failed |= subprocess.run(command, check=False).returncode != 0  # noqa: S603 - this file
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
