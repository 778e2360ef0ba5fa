"""Print a CycloneDX SBOM of the environment's Python packages, the engine's crates and Debian's packages.

Usage: sbom.py CARGO_LOCK CRATES, with the Python of the environment in the image; CRATES is the output of
`crates.sh`.
"""

import json
import platform
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any
from urllib.parse import quote

_SYSTEM = Path("/var/lib/dpkg/status")


def main() -> None:
    """Print the SBOM."""
    lock, crates = (Path(argument).read_text(encoding="utf-8") for argument in sys.argv[1:])
    python = platform.python_version()
    found = [
        _component("python", python, f"pkg:generic/python@{python}"),
        *_packages(),
        *_crates(lock, crates),
        *_system(_SYSTEM.read_text(encoding="utf-8") if _SYSTEM.exists() else ""),
    ]
    (itself,) = (one for one in found if one["purl"].startswith("pkg:pypi/destage@"))
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "container", "name": "destage", "version": itself["version"]}},
        "components": sorted(found, key=lambda one: one["purl"]),
    }
    print(json.dumps(bill, indent=1))


def _packages() -> Iterator[dict[str, Any]]:
    for package in distributions():
        name = package.metadata["Name"]
        purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{package.version}"
        license_ = package.metadata.get("License-Expression")
        known = {"licenses": [{"expression": license_}]} if license_ else {}
        yield _component(name, package.version, purl) | known


def _crates(lock: str, crates: str) -> Iterator[dict[str, Any]]:
    linked = {tuple(line.split()[:2]) for line in crates.splitlines()}
    for crate in tomllib.loads(lock)["package"]:
        name, version = crate["name"], crate["version"]
        if (name, f"v{version}") in linked:
            digest = crate.get("checksum")
            known = {"hashes": [{"alg": "SHA-256", "content": digest}]} if digest else {}
            yield _component(name, version, f"pkg:cargo/{name}@{version}") | known


def _system(status: str) -> Iterator[dict[str, Any]]:
    """Yield Debian's packages from the text of dpkg's status file."""
    release = platform.freedesktop_os_release()
    for entry in status.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in entry.splitlines() if line[:1] != " " and ": " in line)
        if fields.get("Status") == "install ok installed":
            name, version, architecture = fields["Package"], fields["Version"], fields["Architecture"]
            distribution = f"{release['ID']}-{release.get('VERSION_ID', 'sid')}"
            purl = f"pkg:deb/{release['ID']}/{quote(name, safe='')}@{quote(version, safe='~')}"
            yield _component(name, version, f"{purl}?arch={architecture}&distro={distribution}")


def _component(name: str, version: str, purl: str) -> dict[str, Any]:
    return {"type": "library", "name": name, "version": version, "purl": purl}


if __name__ == "__main__":
    main()
