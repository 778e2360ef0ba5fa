"""Places of labels in charts: two labels never overlap, and a label covers no mark."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

_FONT = 12.0
_HEIGHT = 14.0
_NEAR = 10.0
"""The distance of a label from its mark [px]."""
_FAR = (22.0, 36.0, 52.0, 72.0, 96.0)
"""Distances at which a label needs a line to its mark [px]."""
_PIECE = 4.0
_DOUBTFUL = 30.0
"""What a place costs that is nearer to another mark [px of distance or of covered lines]."""
BOLD = 1.25
"""The width of a bold text of 13 px, that of titles, over the width of a plain one of 12 px."""
_WIDE = 64
_WIDTHS = {
    letter: width
    for width, letters in (
        (30, "ijlIJ'"),
        (34, " ,./:;\\|"),
        (42, "f-()[]t!r"),
        (50, '"*_`–'),
        (56, "sz?cL“”"),
        (61, "kFvxyPTYao"),
        (69, "BRXZAVK"),
        (77, "HNDGCU"),
        (84, "OQ&w#+<=>^~×≥≤←→"),
        (100, "MmW%@…"),
    )
    for letter in letters
}
"""Widths of letters in hundredths of the font size; those of DejaVu Sans, which is wider than most fonts."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle [px]."""

    left: float
    top: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        """The height of its lower side [px]."""
        return self.top + self.height

    def overlap(self, other: "Box") -> float:
        """Return the area common to both [px^2]."""
        across = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(across, 0.0) * max(down, 0.0)

    def contains(self, other: "Box") -> bool:
        """Whether another rectangle is within this one."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and other.left + other.width <= self.left + self.width
            and other.bottom <= self.bottom
        )


@dataclass(frozen=True, slots=True)
class Label:
    """A placed label; `leader` has the ends of the line to its mark, where that is not beside it [px]."""

    box: Box
    leader: tuple[float, float, float, float] | None = None

    def is_clear_of(self, other: "Label") -> bool:
        """Whether neither label overlaps the other or its line; two lines may cross."""
        return not (
            self.box.overlap(other.box)
            or any(map(self.box.overlap, other.list_pieces()))
            or any(map(other.box.overlap, self.list_pieces()))
        )

    def list_pieces(self) -> list[Box]:
        """Return small boxes along the line, without its beginning at the mark."""
        if self.leader is None:
            return []
        x0, y0, x1, y1 = self.leader
        steps = max(2, math.ceil(math.hypot(x1 - x0, y1 - y0) / _PIECE))
        return [
            Box(x0 + (x1 - x0) * step / steps - 1, y0 + (y1 - y0) * step / steps - 1, 2, 2)
            for step in range(1, steps)
            if step * _PIECE > _NEAR
        ]


def estimate_width(text: str) -> float:
    """Return the width of a text in a chart, that of a wide font [px]; a bold one is `BOLD` times as wide."""
    return sum(_WIDTHS.get(letter, _WIDE) for letter in text) * _FONT / 100


def place_label(
    text: str,
    x: float,
    y: float,
    marks: Sequence[Box],
    bounds: Box,
    *,
    labels: Sequence[Label] = (),
    lines: Sequence[Box] = (),
) -> Label | None:
    """Return a label near a mark that overlaps no mark and no other label; None if there is no place for it.

    Args:
        x: The middle of the mark [px].
        y: The middle of the mark [px].
        marks: The marks.
        bounds: What the label must be within.
        labels: Other labels.
        lines: Boxes that the label should avoid but may cover.
    """
    width = estimate_width(text)
    best: tuple[float, Label] | None = None
    for away in (_NEAR, *_FAR):
        for spot in _spots(x, y, width, away):
            if not bounds.contains(spot) or any(map(spot.overlap, marks)):
                continue
            cost = sum(map(spot.overlap, lines)) + away
            if away == _NEAR and _is_nearer_to_another(spot, x, y, marks):
                cost += _DOUBTFUL
            label = Label(spot, _lead(spot, x, y) if away > _NEAR else None)
            if (best is None or cost < best[0]) and all(map(label.is_clear_of, labels)):
                best = cost, label
        # A farther place needs a leader line; it is used only if near places cover a line of the chart.
        if best is not None and best[0] <= away + _HEIGHT:
            break
    return None if best is None else best[1]


def _is_nearer_to_another(box: Box, x: float, y: float, marks: Sequence[Box]) -> bool:
    """Whether a label would be taken for that of another mark."""
    own = _measure_gap(box, x, y)
    middles = ((mark.left + mark.width / 2, mark.top + mark.height / 2) for mark in marks)
    return any(_measure_gap(box, *middle) < own for middle in middles)


def _measure_gap(box: Box, x: float, y: float) -> float:
    _, _, near_x, near_y = _lead(box, x, y)
    return math.hypot(near_x - x, near_y - y)


def _lead(box: Box, x: float, y: float) -> tuple[float, float, float, float]:
    """Return the ends of the shortest line from a mark to a label."""
    near_x = min(max(x, box.left), box.left + box.width)
    near_y = min(max(y, box.top), box.bottom)
    return x, y, near_x, near_y


def _spots(x: float, y: float, width: float, away: float) -> list[Box]:
    """Return the places at a distance from a mark: beside it, above and below, at the corners."""
    right, left, middle = x + away, x - away - width, x - width / 2
    beside = [Box(across, y - _HEIGHT / 2, width, _HEIGHT) for across in (right, left)]
    rows = (y - away - _HEIGHT, y + away)
    near = (x + _NEAR, x - _NEAR - width)
    corners = [
        Box(across, down, width, _HEIGHT) for down, across in product(rows, (*near, middle, right, left))
    ]
    return beside + corners
