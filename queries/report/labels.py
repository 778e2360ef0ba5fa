"""Placing a mark's text where it covers nothing."""

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
        """Return the area common to both [px^2].

        Args:
            other: The other rectangle.
        """
        across = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        down = min(self.top + self.height, other.top + other.height) - max(self.top, other.top)
        return max(across, 0.0) * max(down, 0.0)


def estimate_width(text: str) -> float:
    """Return about how wide a text is in the chart's letters [px].

    Args:
        text: The text.
    """
    return _LETTER * len(text)


def place_label(text: str, x: float, y: float, taken: Sequence[Box], bounds: Box) -> Box:
    """Return where a text near a mark covers least of what is there.

    Args:
        text: The text.
        x: The mark's place [px].
        y: The mark's place [px].
        taken: What should stay uncovered.
        bounds: What the text should stay within.
    """
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
