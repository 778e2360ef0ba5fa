"""Published figures, each joined to the point of the sweep that it speaks of."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from destage.engine import quantities, scenario_schema
from destage.errors import ConfigError

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
            "point_id": point["point_id"],
            "metric": figure["metric"],
            "value": float(figure["value"]),
            "kind": figure["kind"],
            "source": figure["source"],
        }
        for figure in figures
        for point in points
        if all(_is_at(point, path, value, scenario) for path, value in figure["point"].items())
    ]
    return pa.Table.from_pylist(rows, PUBLISHED_SCHEMA)


def _is_at(point: Mapping[str, object], path: str, written: object, scenario: Mapping[str, object]) -> bool:
    here = point.get(path)
    value = written
    unit = scenario_schema.unit_at(path, scenario)
    if unit is not None and isinstance(written, str):
        try:
            value = quantities.parse(written, unit)
        except ConfigError:
            return False
    if isinstance(here, int | float) and isinstance(value, int | float):
        return math.isclose(here, value)
    return here is not None and str(here) == str(value)
