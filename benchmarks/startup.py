"""Processor time until a user sees something: help, one simulation, sweeps of one run, a finished sweep."""

import argparse
import signal
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from environment import find_spread, print_heading
from orchestration import CALL_CENTER
from process_tree import DESTAGE, run_measured

_RUN = "  run: {warm_up: none, window: {requests: 1000}}\n"
_AGAIN = "destage run of 10,000 finished runs again"
BOUNDS = {
    "destage --help": 0.3,
    "destage simulate": 0.6,
    "first row of destage run, in process": 1.5,
    "destage run of one run, with its report": 3.0,
    _AGAIN: 3.0,
}
"""The most processor time [s]."""
_FIRST_ROW = "first row"
_RUN_QUIETLY = ("run", "--executor", "inline", "--quiet")
_GRID = """\
replicates: 2
axes:
  workload.users: {range: [1, 500, 1]}
  array.raid: ["5", "10"]
  array.disks: [4, 6, 8, 10, 12]
"""


def write_study(folder: Path) -> Path:
    """Write a study with one short run."""
    text = CALL_CENTER.partition("axes:")[0].replace("replicates: 5\n", f"{_RUN}replicates: 1\n")
    place = folder / "one.yaml"
    place.write_text(f"{text}axes:\n  workload.users: [60]\n", encoding="utf-8")
    return place


def write_grid(folder: Path) -> Path:
    """Write a study with 10,000 short runs."""
    text = write_study(folder).read_text(encoding="utf-8").partition("replicates:")[0]
    place = folder / "grid.yaml"
    place.write_text(text.replace("requests: 1000", "requests: 20") + _GRID, encoding="utf-8")
    return place


def list_commands(folder: Path) -> dict[str, list[str]]:
    """Return the arguments of each command; the store of each sweep but the last is a new folder."""
    study = str(write_study(folder))
    run = [*_RUN_QUIETLY, "--store", tempfile.mkdtemp(dir=folder), study]
    again = [*_RUN_QUIETLY, "--store", str(folder / "finished"), str(write_grid(folder))]
    return dict(zip(BOUNDS, (["--help"], ["simulate", study], run, run, again), strict=True))


def measure(command: str, runs: int, folder: Path) -> list[float]:
    """Return the processor time of each of `runs` processes of a command [s]."""
    seconds = []
    for _ in range(runs):
        arguments = list_commands(folder)[command]
        # The session is killed when it has committed its first row.
        is_cut = command.startswith(_FIRST_ROW)
        env = {"DESTAGE_FAIL_POINT": "after_rename"} if is_cut else None
        usage = run_measured([str(DESTAGE), *arguments], env, code=-signal.SIGKILL if is_cut else 0)
        seconds.append(usage.processor_s)
    return seconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table; exit with 1 if a command takes more than its bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each command; the median is printed")
    options = parser.parse_args(arguments)
    print_heading(
        "Start-up", f"processor time of the process, median of {options.runs} runs, files in memory"
    )
    print(f"{'command':<42} {'processor s':>11} {'spread':>7} {'most':>6}")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for command, most in BOUNDS.items():
            measure(command, 1, Path(folder))  # brings files into memory
            seconds = measure(command, options.runs, Path(folder))
            is_above = statistics.median(seconds) > most
            failed |= is_above
            print(
                f"{command:<42} {statistics.median(seconds):>11.2f} {find_spread(seconds):>7.0%} {most:>6.1f}"
                f"{'  above the bound' if is_above else ''}",
                flush=True,
            )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
