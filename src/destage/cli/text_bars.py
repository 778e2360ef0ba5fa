"""Bars in text: a sparkline over time, and a bar per row."""

from collections.abc import Sequence

_LEVELS = " ▁▂▃▄▅▆▇█"
_PARTS = " ▏▎▍▌▋▊▉"
_FULL = "█"


def sparkline(values: Sequence[float]) -> str:
    """Return non-negative values as a line of bars; the largest value is a full bar, zero is blank."""
    most = max(values, default=0.0)
    if not most:
        return " " * len(values)
    top = len(_LEVELS) - 1
    return "".join(_LEVELS[0 if value <= 0 else max(1, round(value / most * top))] for value in values)


def bar(share: float, width: int) -> str:
    """Return a bar that fills a share (0 to 1) of a width [characters]."""
    eighths = round(min(max(share, 0.0), 1.0) * width * len(_PARTS))
    full, rest = divmod(eighths, len(_PARTS))
    return (_FULL * full + (_PARTS[rest] if rest else "")) or ("▏" if share > 0 else "")
