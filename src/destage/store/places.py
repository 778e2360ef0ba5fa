"""Points of a plan, found by what names them: values of axes, as people write them, and a label."""

import math
from collections.abc import Mapping, Sequence

from destage.engine import quantities, scenario_schema
from destage.errors import ConfigError

LABEL = "label"
"""The key that names a point by its label, beside the dotted paths."""


def points_at(
    named: Mapping[str, object],
    points: Sequence[Mapping[str, object]],
    scenario: Mapping[str, object],
) -> list[str]:
    """Return the ids of the points that a place names, in their order.

    Args:
        named: Values by dotted path, with or without units, and perhaps a `label`.
        points: The points: `point_id`, `label` and the axis columns [base units].
        scenario: A resolved configuration of the sweep; it tells the unit of an axis.
    """
    return [
        str(point["point_id"])
        for point in points
        if all(_is_at(point, path, value, scenario) for path, value in named.items())
    ]


def _is_at(point: Mapping[str, object], path: str, written: object, scenario: Mapping[str, object]) -> bool:
    here = point.get(path)
    value = written
    unit = None if path == LABEL else scenario_schema.unit_at(path, scenario)
    if unit is not None and isinstance(written, str):
        try:
            value = quantities.parse(written, unit)
        except ConfigError:
            return False
    if isinstance(here, int | float) and isinstance(value, int | float):
        return math.isclose(here, value)
    return here is not None and str(here) == str(value)
