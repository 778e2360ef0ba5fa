"""Places of labels where they cover nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

_LETTER = 6.6
_HEIGHT = 14.0
_AWAY = 10.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle [px]."""

    left: float
    top: float
    width: float
    height: float

    def overlap(self, other: "Box") -> float:
        """Return the area common to both [px^2]."""
        across = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        down = min(self.top + self.height, other.top + other.height) - max(self.top, other.top)
        return max(across, 0.0) * max(down, 0.0)


def estimate_width(text: str) -> float:
    """Return the approximate width of a text in a chart [px]."""
    return _LETTER * len(text)


def place_label(text: str, x: float, y: float, taken: Sequence[Box], bounds: Box) -> Box:
    """Return the box near a mark [px] where a text covers least of `taken`, within `bounds` if possible."""
    width = estimate_width(text)
    spots = [
        Box(left, y + down, width, _HEIGHT)
        for down in (-_HEIGHT / 2, -_HEIGHT - _AWAY, _AWAY - 4, -_HEIGHT - 2.4 * _AWAY, 2 * _AWAY)
        for left in (x + _AWAY, x - _AWAY - width, x - width / 2)
        if down != -_HEIGHT / 2 or left != x - width / 2
    ]

    def cost(spot: Box) -> float:
        outside = width * _HEIGHT - spot.overlap(bounds)
        return round(4 * outside + sum(spot.overlap(other) for other in taken))

    # The first of the cheapest: the nearer spots come first.
    return min(spots, key=cost)
