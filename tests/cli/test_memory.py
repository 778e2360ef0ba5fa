"""Files of gigabytes, or without an end, in a store or named by an option take neither memory nor minutes."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_studies import small_study

from destage.sweeps import parse_study, run

PEAK = """
import atexit, sys
def state_peak():
    [peak] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
    print("peak", peak, file=sys.stderr)
atexit.register(state_peak)
"""
"""Prints the peak of a process [KiB]; what the system adds up for its parent begins with the parent's own."""
PROGRAM = f"{PEAK}\nfrom destage.cli import app; app()"
COUNT = "SELECT count(*) FROM runs"
SESSION = f"{PEAK}\nimport destage; destage.open(sys.argv[1]).sql(sys.argv[2])"
MOST_MIB = 400
"""Peak memory; a command that opens a store takes less than half."""
LONGEST_S = 60
"""A command takes seconds; other processes may take the processors."""
HOLE = 1 << 30


@dataclass(frozen=True)
class Ended:
    """How a process ended: its code, what it printed on stderr, and its peak memory."""

    code: int
    err: str
    peak_mib: float


def measure(program: str, *arguments: str) -> Ended:
    """Run a program of Python in a process of its own."""
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LONGEST_S)
    peak = next(line.split()[1] for line in reversed(done.stderr.splitlines()) if line.startswith("peak "))
    return Ended(done.returncode, done.stderr, int(peak) / 1024)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a finished sweep."""
    text = small_study("small", "array.disks: [4, 6]", requests=100)
    outcome = run(parse_study(text), tmp_path_factory.mktemp("finished"), executor="inline")
    return Path(str(outcome.path))


@pytest.fixture
def sweep(finished: Path, tmp_path: Path) -> Path:
    """Return a copy of the sweep."""
    return shutil.copytree(finished, tmp_path / "store" / "sweeps" / finished.name)


def as_device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def as_pipe(place: Path) -> None:
    os.mkfifo(place)


def as_hole(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(HOLE)


KINDS = {
    "*.json": "store.head-restored",
    "*-study-*": "store.study-restored",
    "*-plan-0-*": "store.damaged-file",
    "*-index-*": None,
}
"""Files of a sweep, and what is printed when one is replaced; an index is not needed."""


def check(ended: Ended, code: str | None) -> None:
    assert ended.peak_mib < MOST_MIB
    assert ended.code in {0, 1}, ended.err
    assert code is None or code in ended.err


@pytest.mark.parametrize("make", [as_device, as_pipe, as_hole])
@pytest.mark.parametrize("pattern", KINDS)
def test_a_store_is_opened_in_little_memory(sweep: Path, pattern: str, make: Callable[[Path], None]) -> None:
    place = next((sweep / "generations").glob(pattern))
    place.unlink()
    make(place)
    check(measure(PROGRAM, "query", str(sweep), COUNT), KINDS[pattern])


def test_a_session_is_opened_in_little_memory(sweep: Path) -> None:
    place = next((sweep / "generations").glob("*-plan-0-*"))
    as_hole(place)
    check(measure(SESSION, str(sweep), COUNT), "store.damaged-file")


def test_a_large_fragment_is_not_in_memory(sweep: Path) -> None:
    as_hole(next((sweep / "fragments").iterdir()))
    check(measure(PROGRAM, "query", str(sweep), COUNT), "store.damaged-fragment")


@pytest.mark.parametrize(
    "command",
    [
        ("simulate", "FILE"),
        ("run", "--plan", "FILE"),
        ("workload", "import", "FILE"),
        ("measured", "import", "FILE", "--name", "a", "--array", "b", "--store", "FILE"),
        ("size", "--workload", "vdi", "--users", "2", "--prices", "FILE"),
    ],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize("make", [as_device, as_hole])
def test_a_named_file_without_end_is_refused(
    tmp_path: Path, command: tuple[str, ...], make: Callable[[Path], None]
) -> None:
    place = tmp_path / "file"
    make(place)
    ended = measure(PROGRAM, *(str(place) if word == "FILE" else word for word in command))
    assert ended.code == 2, ended.err
    assert ended.peak_mib < MOST_MIB
    codes = ("usage.too-large-file", "study.too-large", "study.unreadable")
    assert any(code in ended.err for code in codes), ended.err
