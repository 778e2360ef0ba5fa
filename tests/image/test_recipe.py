"""The image's recipe: pinned bases, a user without rights, the packages that the lock has and no tools."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "image" / "Dockerfile").read_text()


def locked(path: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9][^ ]*==\S+)", (ROOT / path).read_text(), re.MULTILINE))


def test_every_base_is_an_argument_so_that_a_digest_can_be_given() -> None:
    stages = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", DOCKERFILE, re.MULTILINE)
    own = {name for _, name in stages}
    assert {base for base, _ in stages} - own == {"${RUST_IMAGE}", "${PYTHON_IMAGE}"}


def test_the_last_stage_runs_without_rights_and_builds_nothing() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert "\nUSER 1000:1000\n" in last
    assert "\nRUN " not in last


def test_the_image_takes_its_packages_from_the_lock_and_no_tools_of_the_developers() -> None:
    image, all_ = locked("image/requirements.lock"), locked("requirements.lock")
    assert image < all_
    names = {each.partition("==")[0] for each in image}
    assert {"ray", "pyarrow", "kubernetes", "duckdb"} <= names
    assert not names & {"pytest", "ruff", "mypy", "maturin"}
