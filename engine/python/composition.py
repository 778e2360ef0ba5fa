"""Canonical configurations and identities of many points at a time, as Arrow columns."""

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from destage.engine import _engine, configuration

Composer, run_id = _engine.Composer, _engine.run_id
PARTS = tuple(sorted(name for name in configuration.schema()["properties"] if name != "array"))
"""The top-level fields of a canonical configuration, in the order of its text; `host` may be missing."""


def list_columns(
    values: Mapping[str, Sequence[object]], codes: Mapping[str, np.ndarray], count: int
) -> list[tuple[str, list[str], bytes]]:
    """Return what some points assign as the columns of `Composer.compose`.

    Args:
        values: The values of each parameter.
        codes: By parameter, the position of each point's value; negative if the point does not assign it.
    """
    columns = []
    for path, positions in codes.items():
        listed, places = values[path], positions
        if len(listed) > count:
            used, inverse = np.unique(positions, return_inverse=True)
            lacking = int(np.count_nonzero(used < 0))
            listed, places = [listed[code] for code in used[lacking:]], inverse - lacking
        columns.append((path, [_write(value) for value in listed], places.astype("<i4").tobytes()))
    return columns


def point_ids(columns: Sequence[tuple[str, Sequence[str], bytes]], count: int) -> pa.Array:
    """Return the identities of points, which digest what they assign; see `list_columns`."""
    return pa.record_batch(_engine.point_ids(columns, count)).column(0)


def canonical_text(document: object) -> str:
    """Return a document as JSON text; equal documents have equal texts."""
    return _engine.canonical_text(_write(document))


def _write(value: object) -> str:
    # The representation of a number is its JSON text, and takes a tenth of the encoder's time.
    return repr(value) if type(value) in {int, float} else json.dumps(value, default=str)
