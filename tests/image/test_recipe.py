"""The Dockerfile: pinned base images, an unprivileged user, and only the locked runtime packages."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "image" / "Dockerfile").read_text()


def read_locked_versions(path: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9][^ ]*==\S+)", (ROOT / path).read_text(), re.MULTILINE))


def test_every_base_image_is_an_argument() -> None:
    stages = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", DOCKERFILE, re.MULTILINE)
    own = {name for _, name in stages}
    assert {base for base, _ in stages} - own == {"${RUST_IMAGE}", "${PYTHON_IMAGE}"}


def test_the_last_stage_is_unprivileged_and_runs_no_build() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert "\nUSER 1000:1000\n" in last
    assert "\nRUN " not in last


def test_the_image_has_locked_packages_and_no_dev_tools() -> None:
    image, all_ = read_locked_versions("image/requirements.lock"), read_locked_versions("requirements.lock")
    assert image < all_
    names = {each.partition("==")[0] for each in image}
    assert {"ray", "pyarrow", "kubernetes", "duckdb"} <= names
    assert not names & {"pytest", "ruff", "mypy", "maturin"}


def test_what_the_package_is_made_of_is_copied() -> None:
    """A wheel cannot be built where a folder is missing that a link of the package leads to."""
    links = [path for path in (ROOT / "src" / "destage").iterdir() if path.is_symlink()]
    folders = {path.resolve().relative_to(ROOT).parts[0] for path in links}
    copied = {line.split()[1] for line in DOCKERFILE.splitlines() if line.startswith("COPY ")}
    allowed = (ROOT / ".dockerignore").read_text().splitlines()
    assert folders >= {"engine", "sweeps", "queries", "cluster"}
    assert folders <= copied
    assert {f"!{folder}" for folder in folders} <= set(allowed)
