"""The folders of `sweeps/`: each is a layer of its import contract, and small enough to be seen at once."""

import subprocess
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_FILES = 15
"""Python files in a folder."""


def list_layers(container: str) -> set[str]:
    """Return the packages that the layers of an import contract name."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (one["layers"] for one in contracts if one.get("containers") == [container])
    return {package for layer in layers for package in layer.split(" | ")}


def count_files() -> Counter[str]:
    """Return the number of Python files in each folder of `sweeps/`, which itself is the empty name."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "sweeps/*.py"]
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = [Path(line) for line in listing.splitlines() if (ROOT / line).is_file()]
    return Counter(path.parent.relative_to("sweeps").as_posix().removeprefix(".") for path in paths)


def test_every_file_of_sweeps_is_in_a_folder_of_the_contract() -> None:
    counts = count_files()
    assert counts.pop("") == 1  # the package's own __init__.py
    assert {folder.partition("/")[0] for folder in counts} == list_layers("destage.sweeps")


def test_no_folder_of_sweeps_has_too_many_files() -> None:
    assert {folder: count for folder, count in count_files().items() if count > MOST_FILES} == {}
