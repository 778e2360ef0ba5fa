"""The wheel contains everything that the packages need at run time.

An editable install reads the packages through the links in src/destage; a wheel has only copied files.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Folders of the packages in the repository and in the wheel.
ROOMS = {
    "engine/python/": "destage/engine/",
    "engine/catalog/": "destage/engine/catalog_data/",
    "sweeps/": "destage/sweeps/",
    "cluster/": "destage/cluster/",
    "queries/": "destage/queries/",
    "examples/": "destage/examples/",
    "src/destage/": "destage/",
}
CARRIED = {
    *(".py", ".pyi", ".sql", ".yaml", ".yml", ".toml", ".json", ".html", ".css", ".js", ".typed", ".ipynb"),
    ".parquet",  # the traces of bundled studies
    ".csv",  # the bank of measured systems
    ".txt",  # licences
}


def list_tracked_files() -> list[str]:
    """Return the paths of all regular files that git tracks in the packages."""
    listing = subprocess.run(
        ["git", "ls-files", "--stage", "-z", *ROOMS],  # noqa: S607 -- git is where the user has it
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    entries = [entry.split("\t", 1) for entry in listing.split("\0") if entry]
    links = "120000"
    return [path for stage, path in entries if not stage.startswith(links)]


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """Build the wheel and return the names of the files in it."""
    if shutil.which("cargo") is None:
        pytest.fail("cargo is missing, so the wheel cannot be built")
    out = tmp_path_factory.mktemp("wheel")
    # The profile and target folder of `make engine`, so that nothing is compiled again.
    build = ["build", "--release", "--locked", "--quiet", "--compatibility", "linux", "--auditwheel", "skip"]
    subprocess.run(
        [sys.executable, "-m", "maturin", *build, "--interpreter", sys.executable, "--out", out],
        cwd=ROOT,
        check=True,
        env=os.environ | {"CARGO_TARGET_DIR": str(ROOT / "engine" / "target"), "VIRTUAL_ENV": sys.prefix},
    )
    (wheel,) = out.glob("*.whl")
    assert "-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        return frozenset(archive.namelist())


def test_every_tracked_file_of_a_package_is_in_the_wheel(wheel_names: frozenset[str]) -> None:
    missing = []
    for path in list_tracked_files():
        folder = next(folder for folder in ROOMS if path.startswith(folder))
        if Path(path).suffix in CARRIED and ROOMS[folder] + path.removeprefix(folder) not in wheel_names:
            missing.append(path)
    assert not missing


def test_the_wheel_has_one_engine_and_no_stray_files(wheel_names: frozenset[str]) -> None:
    assert [name for name in wheel_names if name.endswith(".so")] == ["destage/engine/_engine.abi3.so"]
    assert not [name for name in wheel_names if "__pycache__" in name or name.endswith((".pyc", ".rs"))]
    outside = [name for name in wheel_names if not name.startswith(("destage/", "destage-"))]
    assert not outside
