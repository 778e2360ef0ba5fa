"""The imports between the Python files of the package, read with its directory links resolved.

Imports inside functions and those of types count, as in the import contracts of pyproject.toml.
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "destage"
Arrows = Mapping[str, Collection[str]]
"""What imports what: for each importer all that it imports."""


@dataclass(frozen=True, slots=True)
class Floors:
    """The folders and files of a package on the floors of its import contract, from the top."""

    container: str
    floors: tuple[tuple[str, ...], ...]
    arrows: Arrows


def read_graph() -> grimp.ImportGraph:
    """Return the modules of the package and their imports."""
    return grimp.build_graph(PACKAGE, cache_dir=None)


def list_contracts() -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    """Return each package whose folders are on floors, with the floors that its import contract names."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers":
            floors = tuple(tuple(layer.split(" | ")) for layer in contract["layers"])
            for container in contract["containers"]:
                yield container, floors


def list_floors(graph: grimp.ImportGraph) -> list[Floors]:
    """Return the packages whose folders are on floors, with the imports between their folders."""
    return [Floors(name, floors, join_imports(graph, name)) for name, floors in list_contracts()]


def join_imports(graph: grimp.ImportGraph, container: str) -> dict[str, set[str]]:
    """Return which folders and files of a package import which others of it."""
    arrows: dict[str, set[str]] = {
        child.rpartition(".")[2]: set() for child in graph.find_children(container)
    }
    depth = container.count(".") + 1
    within = [module for module in graph.modules if module.startswith(f"{container}.")]
    for module in within:
        importer = module.split(".")[depth]
        for target in graph.find_modules_directly_imported_by(module):
            if target.startswith(f"{container}.") and target.split(".")[depth] != importer:
                arrows[importer].add(target.split(".")[depth])
    return arrows


def drop_implied(arrows: Arrows) -> dict[str, set[str]]:
    """Return the arrows that are not implied by a longer way, so that a picture stays legible."""
    reached: dict[str, set[str]] = {}
    for name in TopologicalSorter(arrows).static_order():
        targets = arrows.get(name, ())
        reached[name] = set(targets).union(*(reached[target] for target in targets))
    return {
        name: {
            target
            for target in targets
            if not any(target in reached[other] for other in targets if other != target)
        }
        for name, targets in arrows.items()
    }
