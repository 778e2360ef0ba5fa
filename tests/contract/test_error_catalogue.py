"""The catalogue of codes and the sources agree: every code that can be printed is explained, and no other."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from destage.spec.validation import GENERIC_KINDS

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "src" / "destage" / "error_codes"
DOCUMENTS = {"catalog", "scenario", "settings", "study"}
"""The namespaces whose documents are validated by a schema, which composes their codes."""
NAMESPACES = DOCUMENTS | {
    *("bucket", "cluster", "disk", "diskspd", "export", "fio", "import", "iometer"),
    *("measured", "query", "run", "store", "sweep", "sysbench", "system", "trace", "usage", "vdbench"),
}
CODE = re.compile(rf"({'|'.join(sorted(NAMESPACES))})\.([a-z][a-z0-9]*(?:-[a-z0-9]+)*)")
KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
FIELDS = {
    *("disk.capacity", "disk.geometry", "disk.page", "disk.seek"),
    *("run.replicate", "run.window", "store.secret", "store.url"),
    "study.yaml",
}
"""Paths of fields and names of files that have the form of a code."""
COMPOSED_IN = "src/destage/spec/"
"""Where codes may be composed of a namespace and a generic kind."""


def list_tracked_files(*patterns: str) -> list[Path]:
    """Return the files that git tracks, or would track, by patterns."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / path for path in listing.split() if (ROOT / path).is_file()]


PYTHON = ("src/destage/*.py", "engine/python/*.py", "sweeps/*.py", "queries/*.py", "cluster/*.py")
RUST = ("engine/core/src/*.rs", "engine/bindings/src/*.rs")


@cache
def parse_sources() -> dict[Path, ast.Module]:
    """Return the syntax trees of the Python sources, which not every worker of the tests needs."""
    return {path: ast.parse(path.read_text()) for path in list_tracked_files(*PYTHON)}


def read_catalogue() -> dict[str, dict[str, str]]:
    """Return the entries of the catalogue by code."""
    return {
        f"{file.stem}.{name}": entry
        for file in CATALOGUE.glob("*.toml")
        for name, entry in tomllib.loads(file.read_text()).items()
    }


def find_error_classes() -> set[str]:
    """Return the names of all classes below `DestageError`, and of `Issue`."""
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for tree in parse_sources().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    known = {"DestageError", "Issue"}
    while more := {name for name, above in bases.items() if above & known} - known:
        known |= more
    return known


def find_raised_codes() -> Iterator[tuple[str, ast.expr]]:
    """Yield the place and the code of each issue or error that the Python sources make."""
    classes = find_error_classes()
    for path, tree in parse_sources().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            first = next(iter(node.args), None)
            given = next((each.value for each in node.keywords if each.arg == "code"), first)
            if name in classes and given is not None:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", given


def find_literal_codes() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each string literal that has the form of a code."""
    for path, tree in parse_sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value
    for path in list_tracked_files(*RUST):
        for match in re.finditer(rf'"({CODE.pattern})(?:"|: )', path.read_text()):
            yield str(path.relative_to(ROOT)), match[1]


CATALOGUED = read_catalogue()
COMPOSED = {f"{namespace}.{kind}" for namespace in DOCUMENTS for kind in GENERIC_KINDS}


def test_every_namespace_has_its_file() -> None:
    assert {file.stem for file in CATALOGUE.glob("*.toml")} == NAMESPACES


@pytest.mark.parametrize("file", sorted(CATALOGUE.glob("*.toml")), ids=lambda file: file.stem)
def test_entries_are_complete_and_sorted(file: Path) -> None:
    entries = tomllib.loads(file.read_text())
    assert list(entries) == sorted(entries)
    for name, entry in entries.items():
        assert KEBAB.fullmatch(name), name
        assert entry.keys() - {"level"} == {"cause", "fix"}, name
        assert entry.get("level", "warning") == "warning", name
        assert all(text.strip() and text.endswith(".") for text in (entry["cause"], entry["fix"])), name


def test_every_code_in_the_sources_is_in_the_catalogue() -> None:
    known = CATALOGUED.keys() | FIELDS
    assert not sorted(f"{place}: {code}" for place, code in find_literal_codes() if code not in known)


def test_every_code_in_the_catalogue_is_in_the_sources() -> None:
    assert not sorted(CATALOGUED.keys() - {code for _, code in find_literal_codes()} - COMPOSED)


def test_every_composed_code_is_in_the_catalogue() -> None:
    assert not sorted(COMPOSED - CATALOGUED.keys())


def test_each_error_has_a_code() -> None:
    """A code is a literal of a known namespace, or it is passed on from another error or a table."""
    wrong = []
    for place, code in find_raised_codes():
        is_composed = isinstance(code, ast.JoinedStr)
        is_text = isinstance(code, ast.Constant) and not CODE.fullmatch(str(code.value))
        if is_text or (is_composed and not place.startswith(COMPOSED_IN)):
            wrong.append(f"{place}: {ast.unparse(code)}")
    assert not wrong


def test_no_field_in_the_list_is_obsolete() -> None:
    assert not FIELDS - {text for _, text in find_literal_codes()}
