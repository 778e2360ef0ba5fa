"""Points of a plan, selected by values of axes, as people write them, and by label."""

import math
from collections.abc import Mapping, Sequence

from destage.engine import configuration
from destage.errors import ConfigError
from destage.spec import quantities

LABEL = "label"
"""The key of a point's label; all other keys are dotted paths."""


def find_points(
    points: Sequence[Mapping[str, object]],
    scenario: Mapping[str, object],
    *named: Mapping[str, object],
) -> list[str]:
    """Return the ids of the points that a place selects, in order.

    Args:
        points: The points: `point_id`, `label` and the axis columns [base units].
        scenario: A resolved configuration of the sweep, for the units of the axes.
        named: Values by dotted path, with or without units, and perhaps a `label`; all of them must hold.
    """
    wanted = [
        (path, _in_base_units(path, written, scenario)) for place in named for path, written in place.items()
    ]
    return [
        str(point["point_id"])
        for point in points
        if all(_is_equal(point.get(path), value) for path, value in wanted)
    ]


def _in_base_units(path: str, written: object, scenario: Mapping[str, object]) -> object:
    """Return a value in the unit of its axis; None, which equals no value, if it cannot be read."""
    unit = None if path == LABEL or not isinstance(written, str) else configuration.find_unit(path, scenario)
    if unit is None:
        return written
    try:
        return quantities.parse(str(written), unit)
    except ConfigError:
        return None


def _is_equal(here: object, value: object) -> bool:
    if isinstance(here, int | float) and isinstance(value, int | float):
        return math.isclose(here, value)
    return here is not None and str(here) == str(value)
