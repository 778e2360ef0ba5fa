"""The path of a study through the folders of the package, recorded while a command runs it."""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from architecture.drawing import Step
from architecture.imports import ROOT

SOURCES = ROOT / "src" / "destage"
COMMAND = ("run", "examples/first-sweep.yaml")
_LEAST_FILES = 2
"""Files that a command enters in a folder for that to be a step of its path."""


def record(*command: str, folder: Path = ROOT) -> list[tuple[str, str]]:
    """Run a command of Destage and return the files that it enters, each with the first function, in order.

    Raises:
        RuntimeError: The command has failed.
    """
    with tempfile.NamedTemporaryFile() as result:
        program = [sys.executable, str(Path(__file__).with_name("entered.py")), result.name, *command]
        done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"destage {' '.join(command)}: {done.stderr}")
        return [(file, function) for file, function in json.loads(Path(result.name).read_bytes())]


def follow_study(containers: frozenset[str]) -> tuple[list[Step], list[str]]:
    """Return the folders that a study enters, in order, and those in which it enters one file only."""
    with tempfile.TemporaryDirectory() as store:
        entered = record(*COMMAND, "--store", store, "--executor", "inline", "--workers", "1")
    steps: dict[str, Step] = {}
    counts: Counter[str] = Counter()
    for file, function in entered:
        folder = find_folder(file, containers)
        counts[folder] += 1
        steps.setdefault(folder, Step(folder, file, f"{function}()"))
    order = sorted(steps)
    return (
        [step for folder, step in steps.items() if counts[folder] >= _LEAST_FILES],
        [folder for folder in order if counts[folder] < _LEAST_FILES],
    )


def find_folder(file: str, containers: frozenset[str]) -> str:
    """Return the folder or file that is a box of a picture, such as `store` or `sweeps/points`."""
    first, *others = Path(file).with_suffix("").parts
    return f"{first}/{others[0]}" if f"destage.{first}" in containers and len(others) > 1 else first
