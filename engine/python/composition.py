"""Canonical configurations and identities of many points at a time, as Arrow columns."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from destage.engine import _engine, scenario_schema

PARTS = tuple(sorted(name for name in scenario_schema.schema()["properties"] if name != "array"))
"""The top-level fields of a canonical configuration, in the order of its text; `host` may be missing."""


class Composer:
    """Builds the configurations of points from fragments that they share.

    A fragment is one or more top-level fields as JSON members in base units, as `prepare` returns them.
    """

    def __init__(self, axes: Sequence[str]) -> None:
        """Create a composer that reads these parameters, by dotted path, from the configurations."""
        self._engine = _engine.Composer([_canonical_path(path) for path in axes])

    def add(self, fragment: str) -> int:
        """Add a fragment and return its number; points that use a malformed one are invalid."""
        return self._engine.add(fragment)

    def compose(self, fragments: np.ndarray, replicates: int) -> tuple[pa.RecordBatch, list[tuple[int, str]]]:
        """Return the runs of points, and the points that are invalid.

        Args:
            fragments: The numbers of each point's fragments; a column per point.

        Returns:
            A row per valid point and replicate: `run_id`, `config.<part>` (dictionaries of texts) and
            `axis.<index>` (dictionaries of JSON texts). For each invalid point its position and the rules
            between its fields that it breaks, as JSON, or the number of a fragment that is malformed or out
            of bounds.
        """
        numbers = [column.astype("<u4").tobytes() for column in fragments]
        rows, invalid = self._engine.compose(numbers, replicates)
        return pa.record_batch(rows), invalid


def point_ids(members: Sequence[Sequence[str]], numbers: Sequence[np.ndarray], count: int) -> pa.Array:
    """Return the identities of the points of a grid.

    Args:
        members: For each axis, in the order of the paths, the JSON member of each of its values.
        numbers: For each axis, the number of its value at each point.
    """
    columns = [column.astype("<u4").tobytes() for column in numbers]
    return pa.record_batch(_engine.point_ids(members, columns, count)).column(0)


def _canonical_path(path: str) -> list[str]:
    """Return the segments of a path in a canonical configuration; `array` is the first of `arrays`."""
    first, *rest = path.split(".")
    return ["arrays", "0", *rest] if first == "array" else [first, *rest]
