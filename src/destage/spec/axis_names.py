"""Names of axes in a few words: the same in the headings of tables and as columns in SQL.

The name is the last segment of the dotted path, with the segment before it where the last one says too
little: `controller.cache.capacity` is `cache_capacity`. An entry of the catalogue has the name of what it is
for: `array.disk.use` is `disk`.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache

SPARES = "array.hot_spares"
"""The hot spares, which change a price, and no run in which no disk fails."""
_KEPT = 4096
"""Names kept: tables and charts ask for the same few for every cell."""
_ENTRY = "use"
_VAGUE = frozenset(
    {
        *("state", "kind", "mode", "policy", "name", "mean", "times", "capacity", "usable", "latency"),
        *("exponent", "value", "order", "window", "limit", "requests", "duration"),
    }
)
"""Last segments that need the one before."""


def list_distinct(axes: Collection[str], *, has_prices: bool) -> list[str]:
    """Return the axes whose values are always different points, even if the runs are the same.

    These are the names of the catalogue, and what has a price in a study with a price table.
    """
    return [path for path in axes if path.endswith(f".{_ENTRY}") or (has_prices and path == SPARES)]


@lru_cache(_KEPT)
def name_axis(path: str, more: int = 0) -> str:
    """Return the name of the axis at a dotted path, with `more` segments than it needs alone."""
    segments = path.split(".")
    if segments[-1] == _ENTRY and len(segments) > 1:
        segments.pop()
        count = 1
    else:
        count = 2 if segments[-1] in _VAGUE else 1
    count += more
    # A number alone says nothing: the position in a list follows the name of the list.
    while count < len(segments) and segments[-count].isdigit():
        count += 1
    return "_".join(segments[-count:])


def name_axes(paths: Sequence[str], taken: Collection[str] = ()) -> dict[str, str]:
    """Return the name of each axis by its path: unique, and none of those that are taken."""
    more = dict.fromkeys(paths, 0)
    while True:
        names = {path: name_axis(path, more[path]) for path in paths}
        counts = Counter(names.values())
        unclear = [
            path
            for path, name in names.items()
            if (counts[name] > 1 or name in taken) and name != path.replace(".", "_")
        ]
        if not unclear:
            return names
        for path in unclear:
            more[path] += 1


MAXIMIZE, MINIMIZE = "maximize", "minimize"
_ENDINGS = {MAXIMIZE: "_supported", MINIMIZE: "_needed"}


def name_answer(path: str, goal: str) -> str:
    """Return the name of a seek's answers: `users_supported` for the most `workload.users`."""
    return path.rpartition(".")[2] + _ENDINGS[goal]


def is_maximum(name: str) -> bool:
    """Return whether a column has the name of answers that are better the larger they are."""
    return name.endswith(_ENDINGS[MAXIMIZE])


def is_minimum(name: str) -> bool:
    """Return whether a column has the name of answers of searches for the smallest value."""
    return name.endswith(_ENDINGS[MINIMIZE])


def is_answer(name: str) -> bool:
    """Return whether a column has the name of answers."""
    return name.endswith(tuple(_ENDINGS.values()))
