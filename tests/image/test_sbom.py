"""The SBOM lists exactly the contents of the image."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from image.conftest import Image
from uv import find_uv_bin

ROOT = Path(__file__).parents[2]
VALIDATE = """\
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
print(JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read()) or "valid")
"""


def linked_crates() -> set[str]:
    listed = subprocess.run([ROOT / "image" / "crates.sh"], capture_output=True, text=True, check=True)
    return {"@".join(line.split()[:2]).replace("@v", "@") for line in listed.stdout.splitlines()}


def installed_packages() -> set[str]:
    """Return `name@version` of the installed packages; this process sees more after importing Ray."""
    listing = [find_uv_bin(), "pip", "list", "--format", "json", "--python", sys.executable]
    listed = subprocess.run(listing, capture_output=True, check=True)
    return {f"{one['name']}@{one['version']}" for one in json.loads(listed.stdout)}


def find_components(bill: dict[str, Any], kind: str) -> list[str]:
    """Return `name@version` of the components of a kind."""
    return [
        f"{one['name']}@{one['version']}"
        for one in bill["components"]
        if one["purl"].startswith(f"pkg:{kind}/")
    ]


def test_the_sbom_lists_packages_and_crates_once(tmp_path: Path) -> None:
    crates = subprocess.run([ROOT / "image" / "crates.sh"], capture_output=True, check=True)
    listed = tmp_path / "crates.txt"
    listed.write_bytes(crates.stdout)
    done = subprocess.run(
        [sys.executable, ROOT / "image" / "sbom.py", ROOT / "engine" / "Cargo.lock", listed],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    bill = json.loads(done.stdout)
    assert sorted(find_components(bill, "cargo")) == sorted(linked_crates())
    assert {"destage-core", "pyo3"} <= {name.partition("@")[0] for name in find_components(bill, "cargo")}
    assert "proptest" not in done.stdout  # a test dependency in the lock
    purls = {
        one["purl"].removeprefix("pkg:pypi/") for one in bill["components"] if "pkg:pypi/" in one["purl"]
    }
    assert purls == installed_packages()
    assert all(one["hashes"] for one in bill["components"] if one["name"] == "serde")


@pytest.mark.image
def test_the_images_sbom_is_complete(image: Image) -> None:
    bill = json.loads((image.root / "opt" / "destage" / "sbom.cdx.json").read_text())
    (packages,) = (image.root / "opt" / "destage" / "lib").glob("python3.*/site-packages")
    installed = {folder.name.removesuffix(".dist-info") for folder in packages.glob("*.dist-info")}
    assert {name.replace("-", "_").replace("@", "-").lower() for name in find_components(bill, "pypi")} == {
        name.lower() for name in installed
    }
    assert sorted(find_components(bill, "cargo")) == sorted(linked_crates())
    system = image.read("dpkg-query", "--show", "--showformat", "${Package}@${Version}\n")
    assert sorted(find_components(bill, "deb")) == sorted(system.split())
    assert len({one["purl"] for one in bill["components"]}) == len(bill["components"])
    assert (
        bill["metadata"]["component"]["version"] == image.config["Labels"]["org.opencontainers.image.version"]
    )


@pytest.mark.image
def test_the_images_sbom_is_valid_cyclonedx(image: Image) -> None:
    bill = (image.root / "opt" / "destage" / "sbom.cdx.json").read_text()
    for text, output in ((bill, "valid"), (bill.replace('"library"', '"libary"', 1), "libary")):
        done = subprocess.run(
            [os.environ["DESTAGE_SBOM_VALIDATOR"], "-c", VALIDATE],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        assert output in done.stdout
