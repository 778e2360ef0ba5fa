"""A box drawn over the two axes that it limits most, with a circle per place, filled where it holds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from destage.queries.pairs.discovered_box import Discovery
from destage.queries.report.drawing.canvas import Canvas, choose_x_scale, wrap_text
from destage.queries.report.drawing.chart_labels import estimate_width
from destage.queries.text.presentation import format_axis_value, title_axis
from destage.store.schemas.axis_codes import AxisCodes

_WIDTH, _HEIGHT, _TOP, _BOTTOM = 640.0, 420.0, 16.0, 62.0
_FEW = 12
"""Values up to which each has a place and a tick of its own."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One axis of the picture.

    Attributes:
        places: By value of the axis, its place from 0 to 1.
        ticks: Place and text of each tick.
    """

    title: str
    places: np.ndarray
    ticks: Sequence[tuple[float, str]]


def draw_box(found: Discovery, units: Mapping[str, str]) -> str:
    """Return the picture as an SVG file.

    Args:
        found: A discovery with a box that has limits.
        units: The base units of axes by dotted path.
    """
    box = found.box
    if box is None or not found.limits:
        raise ValueError("a picture needs a box with limits")
    limited = [limit.axis for limit in found.limits]
    x_path, y_path = [*limited, *(path for path in found.axes if path not in limited), None][:2]
    at_x = found.axes.index(str(x_path))
    at_y = None if y_path is None else found.axes.index(y_path)
    across = _make_side(found.axes[at_x], box.axes[at_x], units)
    up = (
        _Side("", np.array([0.5]), ())
        if at_y is None
        else _make_side(found.axes[at_y], box.axes[at_y], units)
    )
    codes_y = np.zeros(len(box.is_case), int) if at_y is None else box.axes[at_y].codes
    left = 34 + max([estimate_width(text) for _, text in up.ticks], default=0.0)
    canvas = Canvas(_WIDTH)
    lines = wrap_text(found.answer, _WIDTH - 20)
    top = _TOP + 16.0 * len(lines) + 14
    for index, line in enumerate(lines):
        canvas.text(8, _TOP + 4 + 16 * index, line, "legend")
    wide, high = _WIDTH - left - 24, _HEIGHT - _TOP - _BOTTOM

    def locate(x: float, y: float) -> tuple[float, float]:
        return left + x * wide, top + (1 - y) * high

    _draw_axes(canvas, across, up, left, top, wide, high)
    x_ends = _find_ends(across.places, box.allowed[at_x])
    y_ends = (0.0, 1.0) if at_y is None else _find_ends(up.places, box.allowed[at_y])
    (low_x, high_y), (high_x, low_y) = locate(x_ends[0], y_ends[1]), locate(x_ends[1], y_ends[0])
    canvas.rectangle("area c1", low_x, high_y, high_x - low_x, low_y - high_y)
    canvas.path("line c1", f"M{low_x:.1f} {high_y:.1f}H{high_x:.1f}V{low_y:.1f}H{low_x:.1f}Z")
    codes = np.stack([box.axes[at_x].codes, codes_y])
    # A point at which one of the axes has no effect has no place.
    has_place = (codes >= 0).all(axis=0)
    cells, inverse = np.unique(codes[:, has_place], axis=1, return_inverse=True)
    points = np.bincount(inverse.ravel())
    cases = np.bincount(inverse.ravel(), box.is_case[has_place])
    for place in range(cells.shape[1]):
        x, y = locate(across.places[cells[0, place]], up.places[cells[1, place]])
        radius = 4 + 5 * math.sqrt(points[place] / points.max()) * (points.max() > 1)
        note = f"{cases[place]:.0f} of {points[place]}"
        _draw_circle(canvas, "ring c0", x, y, radius, note)
        if cases[place]:
            _draw_circle(canvas, "column c0", x, y, radius * math.sqrt(cases[place] / points[place]), note)
    bottom = top + high + 44
    canvas.text(
        left, bottom + 14, "○ does not hold   ● holds   ◐ filled area: share of the points there", "tick"
    )
    return canvas.document(found.answer, round(bottom + 26), standalone=True) + "\n"


def _make_side(path: str, axis: AxisCodes, units: Mapping[str, str]) -> _Side:
    texts = [format_axis_value(path, value, units.get(path)) for value in axis.values]
    if not axis.is_ordered or axis.count <= _FEW:
        places = (np.arange(axis.count) + 0.5) / axis.count
        return _Side(title_axis(path), places, list(zip(places.tolist(), texts, strict=True)))
    values = [float(value) for value in axis.values]  # type: ignore[arg-type]
    scale = choose_x_scale(values, is_log=_is_even_in_logs(values), at_values=False)
    places = 0.02 + 0.96 * np.array([scale.place(value) for value in values])
    ticks = [
        (0.02 + 0.96 * scale.place(tick), format_axis_value(path, _whole(tick), units.get(path)))
        for tick in scale.ticks
    ]
    return _Side(title_axis(path), places, [(place, text) for place, text in ticks if 0 <= place <= 1])


def _is_even_in_logs(values: Sequence[float]) -> bool:
    """Return whether the middle of sorted values is nearer to the middle of their logarithms' range."""
    low, high = values[0], values[-1]
    if low <= 0:
        return False
    middle = values[len(values) // 2]
    return abs(middle - math.sqrt(low * high)) < abs(middle - (low + high) / 2)


def _whole(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value


def _find_ends(places: np.ndarray, allowed: np.ndarray) -> tuple[float, float]:
    """Return where the allowed values begin and end: midway to the next ones that are not allowed."""
    inside = np.flatnonzero(allowed)
    first, last = int(inside[0]), int(inside[-1])
    low = 0.0 if first == 0 else (places[first - 1] + places[first]) / 2
    high = 1.0 if last == len(places) - 1 else (places[last] + places[last + 1]) / 2
    return float(low), float(high)


def _draw_axes(
    canvas: Canvas, across: _Side, up: _Side, left: float, top: float, wide: float, high: float
) -> None:
    canvas.path("axis", f"M{left:.1f} {top:.1f}v{high:.1f}h{wide:.1f}")
    end = -math.inf
    for place, text in across.ticks:
        x, half = left + place * wide, estimate_width(text) / 2
        if x - half > end + 6:
            canvas.path("axis", f"M{x:.1f} {top + high:.1f}v5")
            canvas.text(x, top + high + 19, text, "tick", "middle")
            end = x + half
    for place, text in up.ticks:
        y = top + (1 - place) * high
        canvas.path("grid", f"M{left:.1f} {y:.1f}h{wide:.1f}")
        canvas.text(left - 8, y + 4, text, "tick", "end")
    canvas.text(left + wide / 2, top + high + 40, across.title, "axis-title", "middle")
    canvas.text(left - 8, top - 6, up.title, "axis-title", "start")


def _draw_circle(canvas: Canvas, kind: str, x: float, y: float, radius: float, note: str) -> None:
    arc = f"a{radius:.2f} {radius:.2f} 0 1 0"
    canvas.path(kind, f"M{x - radius:.2f} {y:.2f}{arc} {2 * radius:.2f} 0{arc} {-2 * radius:.2f} 0Z", note)
