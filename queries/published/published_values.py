"""Published figures, each joined to the points of the sweep that it is about."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from destage.queries.tables.point_table import PointTable
from destage.store.schemas.published_figures import PublishedFigure, read_figures

PUBLISHED_SCHEMA = pa.schema(
    [
        pa.field("point_id", pa.string()),
        pa.field("metric", pa.string()),
        pa.field("value", pa.float64()),
        pa.field("figure", pa.string()),
        pa.field("source", pa.string()),
    ]
)

_ONE_COLUMN = re.compile(
    r"""\s*"?(\w+)"?\s*\.\s*"?(\w+)"?\s*(?:([*/])\s*([\d.]+(?:e[+-]?\d+)?))?\s*""", re.IGNORECASE
)
"""A column of one place as an expression, perhaps times or over a number for its unit."""


def tabulate_published(
    study: Mapping[str, Any],
    metric: str | None,
    points: PointTable,
) -> pa.Table:
    """Return a row for each point whose answer was published; of several figures the first.

    Args:
        metric: The name of its answers, if it seeks something.
        points: The sweep's points.
    """
    rows: dict[str, dict[str, object]] = {}
    for figure, value, point_id in [] if metric is None else _figures_at(study, metric, points):
        row = {"metric": metric, "value": value, "figure": figure.name, "source": figure.source}
        rows.setdefault(point_id, {"point_id": point_id, **row})
    return pa.Table.from_pylist(list(rows.values()), PUBLISHED_SCHEMA)


def find_published_values(
    study: Mapping[str, Any],
    column: str,
    points: PointTable,
) -> dict[str, list[float]]:
    """Return the numbers published for a result column or the sought value [base unit], by point id."""
    by_point: dict[str, list[float]] = {}
    for _, value, point_id in _figures_at(study, column, points):
        by_point.setdefault(point_id, []).append(value)
    return by_point


def _figures_at(
    study: Mapping[str, Any],
    column: str,
    points: PointTable,
) -> Iterator[tuple[PublishedFigure, float, str]]:
    """Yield each figure that is a column of one place, with its value [the column's unit] and its points."""
    for figure in read_figures(study):
        quantity, value = figure.quantity, figure.value
        if quantity is None or quantity.for_each or isinstance(value, str):
            continue
        match = _ONE_COLUMN.fullmatch(quantity.expression)
        if match is None or match[2] != column or match[1] not in quantity.places:
            continue
        factor = float(match[4] or 1)
        base = float(value) * factor if match[3] == "/" else float(value) / factor
        for point_id in points.find(quantity.places[match[1]], quantity.at):
            yield figure, base, point_id
