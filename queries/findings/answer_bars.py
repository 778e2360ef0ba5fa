"""The answers of a seek against the size of the cache, as rows of a bar chart in text."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from destage.queries.text.presentation import (
    begin_sentence,
    format_axis_value,
    format_number,
    format_rounded,
    name_value,
    title_column,
)

if TYPE_CHECKING:
    from destage.queries.opening.session import Session

_CAPACITY = "controller.cache.capacity"
_MOST = 32
"""Points up to which there is a chart: more than a screen does not show a shape."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One point.

    Attributes:
        series: The values of the axes but the size of the cache.
        label: The size of the cache.
        share: The answer as a share of the largest.
        answer: The answer with its interval.
        hit_ratio: The hit ratio at that load.
    """

    series: str
    label: str
    share: float
    answer: str
    hit_ratio: str


@dataclass(frozen=True, slots=True)
class AnswerBars:
    """A chart; its bars are sorted by series."""

    title: str
    bars: tuple[Bar, ...]


def draw_answer_bars(session: "Session") -> AnswerBars | None:
    """Return the chart of a study that seeks the largest load over cache sizes, if it has few points."""
    metric = session.answer
    if _CAPACITY not in session.axes or session.point_count > _MOST:
        return None
    rows = [row for row in session.query("users_against_cache").to_pylist() if row[metric] is not None]
    sizes = {row[_CAPACITY] for row in rows}
    if len(sizes) <= 1 or any(row["label"] is not None for row in rows):
        return None
    others = [path for path in session.axes if path != _CAPACITY and len({row[path] for row in rows}) > 1]
    named = [(", ".join(name_value(path, row[path], session.units) for path in others), row) for row in rows]
    order = list(dict.fromkeys(series for series, _ in named))
    named.sort(key=lambda pair: (order.index(pair[0]), pair[1][_CAPACITY] or 0))
    most = max(row[metric] for row in rows) or 1.0
    bars = []
    for series, row in named:
        answer = format_number(row[metric])
        low, high = row[f"{metric}_low"], row[f"{metric}_high"]
        if low is not None and high is not None:
            answer += f" ({format_rounded(low)} to {format_rounded(high)})"
        size = format_axis_value(_CAPACITY, row[_CAPACITY], session.units.get(_CAPACITY))
        hit_ratio = "" if row["hit_ratio"] is None else f"{row['hit_ratio']:.3f}"
        bars.append(Bar(series, size, row[metric] / most, answer, hit_ratio))
    title = f"{begin_sentence(title_column(metric))} (95 % CI) and hit ratio, by cache size"
    return AnswerBars(title, tuple(bars))
