"""Pictures of floors and of paths, as SVG files that are legible on light and dark pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

from architecture.imports import Arrows, drop_implied
from architecture.layout import place_boxes
from destage.queries.report.drawing.chart_labels import estimate_width

WIDTH = 980
_BOX = 30
_FLOOR = 74
_MARGIN = 16
_LETTERS = 1.25
"""The width of the names in boxes over that of the texts which `estimate_width` measures."""
_COLOURS = 8
_PER_ROW = 4
"""Steps of a path beside each other."""
_STEP_GAP = 26
_STEP_WIDTH = (WIDTH - 2 * _MARGIN - (_PER_ROW - 1) * _STEP_GAP) / _PER_ROW
_STEP_HEIGHT = 58
_STEP_PITCH = 84
_STYLE = Path(__file__).with_name("picture.css").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a path: the place that it enters, and by which function."""

    place: str
    file: str
    function: str


def draw_floors(title: str, floors: Sequence[Sequence[str]], arrows: Arrows) -> str:
    """Draw boxes on their floors, and the imports that no longer way implies."""
    widths = {name: _LETTERS * estimate_width(name) + 20 for floor in floors for name in floor}
    layout = place_boxes(floors, drop_implied(arrows), widths, WIDTH - 2 * _MARGIN - 24)
    left = _MARGIN + 24
    parts = []
    for at in range(len(floors)):
        top = _MARGIN + at * _FLOOR
        parts.append(f'<rect class="band" x="0" y="{top - 8}" width="{WIDTH}" height="{_BOX + 16}" rx="6"/>')
        parts.append(_text("soft", 10, top + 20, str(len(floors) - at)))
    colours = {
        name: at % _COLOURS for at, name in enumerate(sorted(layout.boxes, key=layout.boxes.__getitem__))
    }
    for arrow in layout.arrows:
        points = []
        for x, floor in arrow.places:
            top = _MARGIN + floor * _FLOOR
            points += [(x + left, top - 6.0), (x + left, top + float(_BOX))]
        # An arrow leaves the lower edge of its first box and ends above the upper edge of its last.
        points = points[1:-1]
        outline = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
        for (x1, y1), (x2, y2) in pairwise(points):
            bend = (y2 - y1) / 2
            outline += f"C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}"
        x, y = points[-1]
        parts.append(
            f'<g class="c{colours[arrow.source]}"><title>{arrow.source} imports {arrow.target}</title>'
            f'<path class="arrow" d="{outline}"/>'
            f'<path class="head" d="M{x:.1f} {y + 6:.1f}l-4.5 -8h9Z"/></g>'
        )
    for name, (middle, floor) in layout.boxes.items():
        top, width = _MARGIN + floor * _FLOOR, widths[name]
        parts.append(
            f'<g class="c{colours[name]}"><rect class="box" x="{middle + left - width / 2:.1f}" y="{top}" '
            f'width="{width:.1f}" height="{_BOX}" rx="5"/>'
            f"{_text('name', middle + left, top + 20, name, 'middle')}</g>"
        )
    return _document(title, parts, 2 * _MARGIN + (len(floors) - 1) * _FLOOR + _BOX)


def draw_paths(title: str, paths: Mapping[str, Sequence[Step]]) -> str:
    """Draw the steps of each path in rows below its heading, each step with the function that enters it."""
    parts: list[str] = []
    places = list(dict.fromkeys(step.place for steps in paths.values() for step in steps))
    top, number = 0.0, 0
    for heading, steps in paths.items():
        parts.append(_text("name", _MARGIN, top + 24, heading))
        top += 38
        for at, step in enumerate(steps):
            row, column = divmod(at, _PER_ROW)
            x, y = _MARGIN + column * (_STEP_WIDTH + _STEP_GAP), top + row * _STEP_PITCH
            number += 1
            parts.append(
                f'<g class="c{places.index(step.place) % _COLOURS}">{_draw_step(step, number, x, y)}</g>'
            )
            if at + 1 < len(steps):
                parts.append(f'<g class="c7">{_draw_transition(x, y, is_last=column + 1 == _PER_ROW)}</g>')
        top += -(-len(steps) // _PER_ROW) * _STEP_PITCH
    return _document(title, parts, top - _STEP_PITCH + _STEP_HEIGHT + _MARGIN)


def _draw_step(step: Step, number: int, x: float, y: float) -> str:
    function = step.function
    while estimate_width(function) > _STEP_WIDTH - 24:
        function = f"{function.rstrip('…')[:-1]}…"
    return (
        f'<rect class="box" x="{x:.1f}" y="{y}" width="{_STEP_WIDTH:.1f}" height="{_STEP_HEIGHT}" rx="5"/>'
        f'<circle class="badge" cx="{x + 18:.1f}" cy="{y + 19}" r="11"/>'
        f"{_text('number', x + 18, y + 23, str(number), 'middle')}"
        f"{_text('name', x + 36, y + 24, step.place)}{_text('soft', x + 12, y + 47, function)}"
    )


def _draw_transition(x: float, y: float, *, is_last: bool) -> str:
    """Draw the arrow to the next step, which is to the right or at the beginning of the next row."""
    if is_last:
        middle, end = y + (_STEP_HEIGHT + _STEP_PITCH) / 2, _MARGIN + _STEP_WIDTH / 2
        below = y + _STEP_PITCH
        return (
            f'<path class="arrow" d="M{x + _STEP_WIDTH / 2:.1f} {y + _STEP_HEIGHT}V{middle}'
            f'H{end:.1f}V{below - 6}"/>'
            f'<path class="head" d="M{end:.1f} {below}l-4.5 -8h9Z"/>'
        )
    right, middle = x + _STEP_WIDTH, y + _STEP_HEIGHT / 2
    return (
        f'<path class="arrow" d="M{right:.1f} {middle}h{_STEP_GAP - 6}"/>'
        f'<path class="head" d="M{right + _STEP_GAP:.1f} {middle}l-8 -4.5v9Z"/>'
    )


def _text(kind: str, x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _document(title: str, parts: Sequence[str], height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
        f'height="{height:g}" role="img" aria-label="{escape(title, quote=True)}"><style>{_STYLE}</style>'
        f'<rect class="ground" width="{WIDTH}" height="{height:g}"/>\n' + "\n".join(parts) + "</svg>\n"
    )
