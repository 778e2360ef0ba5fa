"""Bars in text: a sparkline over time, and a bar per row."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from destage.queries.findings.answer_bars import AnswerBars

_LEVELS = " ▁▂▃▄▅▆▇█"
_PARTS = " ▏▎▍▌▋▊▉"
_FULL = "█"
_WIDTH = 36
"""The width of the longest bar of a chart of answers, which fits 80 columns [characters]."""


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


def draw_answers(chart: "AnswerBars") -> str:
    """Return the answers against the size of the cache: a bar per point, with its value and hit ratio."""
    left = max(len(each.label) for each in chart.bars)
    middle = max(len(each.answer) for each in chart.bars)
    lines = [chart.title]
    for series, bars in groupby(chart.bars, key=lambda each: each.series):
        lines += ["", series] if series else [""]
        for each in bars:
            drawn = f"{bar(each.share, _WIDTH):<{_WIDTH}}  {each.answer:>{middle}}  {each.hit_ratio}"
            lines.append(f"  {each.label:>{left}}  {drawn}".rstrip())
    return "".join(f"{line}\n" for line in lines)
