"""The modules of the Rust core import downwards only, and no files import each other in a circle."""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "engine" / "core" / "src"

LAYERS = (
    ("simulation",),
    ("validation", "error", "synthesis"),
    ("workload", "disk", "battery", "miss_ratio_curve"),
    ("write_cache", "read_cache", "trace"),
    ("read_ahead",),
    ("config",),
    ("raid", "replacement", "destage", "metrics"),
    ("event", "pipe", "slab", "slot_table", "ranked_slots", "transfer_rate", "rng"),
    ("units", "divisor", "issue", "interruption", "mutation"),
)
"""The modules of the crate, from the top. A module imports modules of lower layers only."""

LEVEL = {module: level for level, layer in enumerate(LAYERS) for module in layer}

_COMMENT = re.compile(r"//.*")
_TEST = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", re.DOTALL)
_USE = re.compile(r"\b(crate|super(?:::super)*)((?:::\w+)*?)::(\{[^;]*\}|\w+\b(?!::))")


def _segments(tree: str) -> Iterator[str]:
    """The first segments of `name` or `{name::x, {..}, name}`."""
    if not tree.startswith("{"):
        yield tree
        return
    depth, previous = 0, ""
    for part in re.findall(r"[{}]|::|,|\w+", tree):
        depth += (part == "{") - (part == "}")
        if depth == 1 and re.fullmatch(r"\w+", part) and previous in {"{", ","}:
            yield part
        previous = part


def _module(file: Path, root: Path) -> tuple[str, ...]:
    parts = file.relative_to(root).with_suffix("").parts
    return parts[:-1] if parts[-1] == "mod" else parts


def imports(root: Path) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Each import between two files of a crate, tests left out, as paths of modules."""
    modules = {_module(file, root) for file in root.rglob("*.rs")}
    for file in sorted(root.rglob("*.rs")):
        module = _module(file, root)
        if module == ("lib",) or any(part.endswith("tests") for part in module):
            continue
        text = _TEST.sub("", _COMMENT.sub("", file.read_text("utf-8")))
        for match in _USE.finditer(text):
            up = match[1].count("super")
            base = (*(module[: len(module) - up] if up else ()), *match[2].split("::")[1:])
            for name in _segments(match[3]):
                target = (*base, name)
                while target and target not in modules:
                    target = target[:-1]
                if target != module:
                    yield module, target or ("lib",)


def violations(root: Path) -> list[str]:
    """Imports of a module of the same or a higher layer, and one circle of files that import each other."""
    edges = set(imports(root))
    found = {
        f"{'::'.join(importer)} imports {target[0]}"
        for importer, target in edges
        if importer[0] != target[0] and LEVEL.get(importer[0], -1) >= LEVEL.get(target[0], -1)
    }
    circles = TopologicalSorter[tuple[str, ...]]()
    for importer, target in edges:
        circles.add(importer, target)
    try:
        circles.prepare()
    except CycleError as error:
        found.add("circle: " + ", ".join(sorted({"::".join(module) for module in error.args[1]})))
    return sorted(found)


def test_every_module_has_a_layer() -> None:
    """A new module of the crate is added to `LAYERS`."""
    found = {entry.stem for entry in SOURCES.iterdir()} - {"lib"}
    assert found == set(LEVEL)


def test_imports_go_down() -> None:
    """No module imports one of its own layer or above, and no files form a circle."""
    assert violations(SOURCES) == []


@pytest.mark.parametrize(
    ("files", "violation"),
    [
        ({"units.rs": "use crate::config::Bus;", "config.rs": ""}, "units imports config"),
        (
            {"disk/mod.rs": "", "disk/seek.rs": "use crate::{units, workload::Pace};"},
            "disk::seek imports workload",
        ),
        (
            {"disk/a.rs": "use super::b::B;", "disk/b.rs": "fn f() -> super::a::A {}"},
            "circle: disk::a, disk::b",
        ),
    ],
)
def test_violations_are_found(tmp_path: Path, files: dict[str, str], violation: str) -> None:
    """An upward import and a circle are reported."""
    for name in {"units.rs", "workload.rs", *files}:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(files.get(name, ""), "utf-8")
    assert violations(tmp_path) == [violation]
