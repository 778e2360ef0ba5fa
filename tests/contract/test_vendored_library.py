"""The library of the Explore panel is the one that scripts/explore/build.sh made, with its licences."""

import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
VENDOR = ROOT / "queries" / "report" / "vendor"
RECIPE = ROOT / "scripts" / "explore"


def test_the_bundle_has_the_digest_of_its_build() -> None:
    digest, name = (VENDOR / "plot.js.sha256").read_text().split()
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest


def test_the_bundle_needs_neither_eval_nor_a_network() -> None:
    text = (VENDOR / "plot.js").read_text()
    assert not re.search(r"\beval\(|new Function|fetch\(|XMLHttpRequest|importScripts|</script", text)
    assert len(text) < 300_000


def test_every_package_is_locked_by_a_digest() -> None:
    lock = json.loads((RECIPE / "package-lock.json").read_text())["packages"]
    found = {name: package for name, package in lock.items() if name}
    assert all(package["integrity"].startswith("sha512-") for package in found.values())
    # The addresses of a registry are those of who builds it.
    assert not any("resolved" in package for package in found.values())


def test_the_licence_of_every_bundled_package_is_there() -> None:
    lock = json.loads((RECIPE / "package-lock.json").read_text())["packages"]
    licences = (VENDOR / "plot.LICENSES.txt").read_text()
    heads = re.findall(r"^(\S+) (\d+\.\d+\.\d+) \(([^)]+)\)$", licences, re.MULTILINE)
    assert {"@observablehq/plot", "d3-brush", "d3-selection"} <= {name for name, _, _ in heads}
    for name, version, licence in heads:
        assert lock[f"node_modules/{name}"]["version"] == version
        assert licence in {"ISC", "MIT", "BSD-3-Clause", "Unlicense"}
    assert "no licence file" not in licences
