"""The image's recipe: pinned bases, a user without rights, the packages that the lock has and no tools."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "image" / "Dockerfile").read_text()


def locked(path: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9][^ ]*==\S+)", (ROOT / path).read_text(), re.MULTILINE))


def test_every_base_is_an_argument_so_that_a_digest_can_be_given() -> None:
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert bases == ["${RUST_IMAGE}", "${PYTHON_IMAGE}", "${PYTHON_IMAGE}"]


def test_the_last_stage_runs_without_rights_and_without_a_compiler() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert "\nUSER 1000:1000\n" in last
    assert "cargo" not in last
    assert "pip install" not in last


def test_the_image_takes_its_packages_from_the_lock_and_no_tools_of_the_developers() -> None:
    image, all_ = locked("image/requirements.lock"), locked("requirements.lock")
    assert image < all_
    names = {each.partition("==")[0] for each in image}
    assert {"ray", "pyarrow", "kubernetes", "duckdb"} <= names
    assert not names & {"pytest", "ruff", "mypy", "maturin"}


def test_the_bill_of_materials_names_packages_and_crates() -> None:
    command = [sys.executable, ROOT / "image" / "sbom.py", ROOT / "engine" / "Cargo.lock"]
    bill = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    found = {component["purl"].partition("@")[0] for component in bill["components"]}
    assert {"pkg:pypi/ray", "pkg:pypi/pyarrow", "pkg:cargo/serde", "pkg:cargo/pyo3"} <= found
