"""Published figures, each joined to the point of the sweep that it speaks of."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from destage.store.places import points_at

PUBLISHED_SCHEMA = pa.schema(
    [
        pa.field("point_id", pa.string()),
        pa.field("metric", pa.string()),
        pa.field("value", pa.float64()),
        pa.field("kind", pa.string()),
        pa.field("source", pa.string()),
    ]
)


def published_table(
    figures: Sequence[Mapping[str, Any]],
    points: Sequence[Mapping[str, object]],
    scenario: Mapping[str, object],
) -> pa.Table:
    """Return a row per published figure and point it speaks of; one that names no point has none.

    Args:
        figures: The study's `published` list.
        points: The sweep's points: `point_id`, `label` and the axis columns [base units].
        scenario: A resolved configuration of the sweep; it tells the unit of an axis.
    """
    rows = [
        {
            "point_id": point_id,
            "metric": figure["metric"],
            "value": float(figure["value"]),
            "kind": figure["kind"],
            "source": figure["source"],
        }
        for figure in figures
        if "point" in figure
        for point_id in points_at(figure["point"], points, scenario)
    ]
    return pa.Table.from_pylist(rows, PUBLISHED_SCHEMA)
