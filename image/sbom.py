"""Print a CycloneDX bill of materials: an environment's Python packages and the engine's crates.

Usage: sbom.py CARGO_LOCK. It is run by the Python of the environment.
"""

import json
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any


def main() -> None:
    """Print the bill."""
    components = sorted(
        [*_packages(), *_crates(Path(sys.argv[1]))],
        key=lambda one: (one["purl"].partition("/")[0], one["name"]),
    )
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components}
    print(json.dumps(bill, indent=1))


def _packages() -> Iterator[dict[str, Any]]:
    for package in distributions():
        name = package.metadata["Name"]
        found = _component(
            name, package.version, f"pkg:pypi/{name.lower().replace('_', '-')}@{package.version}"
        )
        license_ = package.metadata.get("License-Expression")
        yield found | ({"licenses": [{"expression": license_}]} if license_ else {})


def _crates(lock: Path) -> Iterator[dict[str, Any]]:
    for crate in tomllib.loads(lock.read_text())["package"]:
        name, version = crate["name"], crate["version"]
        found = _component(name, version, f"pkg:cargo/{name}@{version}")
        digest = crate.get("checksum")
        yield found | ({"hashes": [{"alg": "SHA-256", "content": digest}]} if digest else {})


def _component(name: str, version: str, purl: str) -> dict[str, Any]:
    return {"type": "library", "name": name, "version": version, "purl": purl}


if __name__ == "__main__":
    main()
