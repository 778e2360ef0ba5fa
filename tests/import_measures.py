"""Measures of the imports between the files and folders of the package."""

from graphlib import CycleError, TopologicalSorter

import grimp
from architecture.imports import Arrows


def list_file_imports(graph: grimp.ImportGraph) -> dict[str, set[str]]:
    """Return the imports of each file, without those of a package of its own modules, which are its names."""
    return {
        module: {
            target
            for target in graph.find_modules_directly_imported_by(module)
            if not target.startswith(f"{module}.")
        }
        for module in graph.modules
    }


def count_floors(arrows: Arrows) -> int:
    """Return the length of the longest path of imports, which must have no circle."""
    heights: dict[str, int] = {}
    for name in TopologicalSorter(arrows).static_order():
        heights[name] = 1 + max((heights[target] for target in arrows.get(name, ())), default=0)
    return max(heights.values())


def find_circles(arrows: Arrows) -> list[list[str]]:
    """Return circles of imports until none is left, each of which is cut at its last import."""
    left = {name: sorted(targets) for name, targets in sorted(arrows.items())}
    circles = []
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            circle = list(reversed(error.args[1]))
            left[circle[0]].remove(circle[1])
            circles.append(circle)
        else:
            return circles
