"""Published figures, each joined to the point of the sweep that it speaks of."""

import re
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

_ONE_COLUMN = re.compile(
    r"""\s*"?(\w+)"?\s*\.\s*"?(\w+)"?\s*(?:([*/])\s*([\d.]+(?:e[+-]?\d+)?))?\s*""", re.IGNORECASE
)
"""A column of one place as an expression, perhaps times or over a number for its unit."""


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
        for point_id in points_at(points, scenario, figure["point"])
    ]
    return pa.Table.from_pylist(rows, PUBLISHED_SCHEMA)


def published_at(
    spec: Mapping[str, Any],
    column: str,
    points: Sequence[Mapping[str, object]],
    scenario: Mapping[str, object],
) -> dict[str, list[float]]:
    """Return the numbers published for a column itself [its base unit], by the id of the point they speak of.

    Args:
        spec: The study.
        column: The column: a result column, or what the study seeks.
        points: The sweep's points: `point_id`, `label` and the axis columns [base units].
        scenario: A resolved configuration of the sweep; it tells the unit of an axis.
    """
    found: dict[str, list[float]] = {}
    for figure in spec.get("published", []):
        named, factor = _where(figure, column, spec.get("places", {}))
        if named is None or isinstance(figure["value"], str):
            continue
        for point_id in points_at(points, scenario, named, figure.get("at", {})):
            found.setdefault(point_id, []).append(float(figure["value"]) / factor)
    return found


def _where(
    figure: Mapping[str, Any], column: str, places: Mapping[str, Mapping[str, object]]
) -> tuple[Mapping[str, object] | None, float]:
    """Return what names a figure's point and how many of its units make one of the column."""
    if "point" in figure:
        metric = figure["metric"]
        return (figure["point"] if column == metric or column.startswith(f"{metric}_") else None), 1.0
    match = _ONE_COLUMN.fullmatch(str(figure.get("compute", "")))
    if match is None or match[2] != column or "for_each" in figure:
        return None, 1.0
    factor = float(match[4] or 1)
    return places.get(match[1]), 1 / factor if match[3] == "/" else factor
