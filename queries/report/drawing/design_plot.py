"""A picture of a design: the points of a study over two of its axes, with the values of each at the edges."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from destage.queries.report.drawing.canvas import Canvas, Scale, choose_x_scale
from destage.queries.report.drawing.chart_labels import estimate_width
from destage.queries.text.presentation import format_number

_WIDTH, _PLOT_HEIGHT = 640, 420
_TOP, _RIGHT, _BOTTOM = 58, 30, 52
_EDGE = 8
"""Length of the ticks of values at the edges [px]."""
_FEW = 9
"""Distinct values up to which each has a tick."""
_MOST_LARGE, _MOST_SYMBOLS = 200, 2_000
"""Points up to which their symbols are large, and up to which they are symbols at all."""
_MANY = 5
"""Points of one character from which on they are many."""
_SUFFIXES = {"bytes": (1024, ("B", "KiB", "MiB", "GiB", "TiB")), "ns": (1000, ("ns", "us", "ms", "s"))}
"""The units of axes in steps of a base."""


@dataclass(frozen=True, slots=True)
class PlottedAxis:
    """The values of an axis at the points of a study.

    Attributes:
        values: Numbers in the base unit, or texts.
        is_log: Whether equal ratios are equally long.
    """

    name: str
    unit: str | None
    values: Sequence[object]
    is_log: bool

    @property
    def words(self) -> list[object]:
        """The distinct values of an axis that has others than numbers; otherwise none."""
        distinct = dict.fromkeys(self.values)
        return [] if all(_is_number(value) for value in distinct) else list(distinct)

    def numbers(self) -> list[float]:
        """Return the values as places along the axis: numbers, or the positions of its words."""
        words = self.words
        if words:
            places = {value: float(place) for place, value in enumerate(words)}
            return [places[value] for value in self.values]
        return [float(value) for value in self.values if isinstance(value, int | float)]

    def is_short(self, value: float) -> bool:
        """Return whether the text of a tick is the exact value."""
        base, suffixes = _SUFFIXES.get(self.unit or "", (1, ("",)))
        unit = base ** _find_power(value, base, len(suffixes) - 1) if base > 1 else 1
        return float(f"{value / unit:.3g}") * unit == value

    def label(self, value: float) -> str:
        """Return the text of a tick."""
        words = self.words
        if words:
            return "–" if words[round(value)] is None else str(words[round(value)])
        if self.unit not in _SUFFIXES:
            return format_number(float(f"{value:.4g}"))
        # Sampled sizes and times are not round numbers.
        base, suffixes = _SUFFIXES[self.unit]
        power = _find_power(value, base, len(suffixes) - 1)
        return f"{float(f'{value / base**power:.3g}'):g} {suffixes[power]}"


def draw_design(title: str, subtitle: str, x: PlottedAxis, y: PlottedAxis) -> str:
    """Return the points of a design over two axes as an SVG file."""
    xs, ys = x.numbers(), y.numbers()
    x_scale, y_scale = _choose_scale(x, xs), _choose_scale(y, ys)
    y_texts = [y.label(tick) for tick in y_scale.ticks]
    left = 46 + max(map(estimate_width, y_texts), default=0.0)
    width, bottom = _WIDTH - left - _RIGHT, _TOP + _PLOT_HEIGHT
    canvas = Canvas(_WIDTH)
    canvas.text(16, 24, title, "title")
    canvas.text(16, 42, subtitle, "legend")
    for tick, text in zip(y_scale.ticks, y_texts, strict=True):
        level = bottom - y_scale.place(tick) * _PLOT_HEIGHT
        canvas.path("grid", f"M{left:.1f} {level:.1f}h{width:.1f}")
        canvas.text(left - 9, level + 4, text, "tick", "end")
    for tick in x_scale.ticks:
        canvas.path("grid", f"M{left + x_scale.place(tick) * width:.1f} {_TOP}v{_PLOT_HEIGHT}")
    canvas.path("axis", f"M{left:.1f} {_TOP}v{_PLOT_HEIGHT}")
    canvas.x_axis(x_scale, [x.label(tick) for tick in x_scale.ticks], left, width, bottom)
    places = [
        (left + x_scale.place(x_value) * width, bottom - y_scale.place(y_value) * _PLOT_HEIGHT)
        for x_value, y_value in zip(xs, ys, strict=True)
    ]
    # Points of one pixel are drawn once, so that a picture of any number of points is as large.
    dots = sorted({(round(2 * across) / 2, round(2 * up) / 2) for across, up in places})
    if len(dots) > _MOST_SYMBOLS:
        canvas.path("points c0", "".join(f"M{across:.1f} {up:.1f}h0" for across, up in dots))
    for across, up in dots if len(dots) <= _MOST_SYMBOLS else ():
        canvas.symbol("circle" if len(dots) <= _MOST_LARGE else "dot", "c0", across, up)
    columns, rows = sorted({across for across, _ in dots}), sorted({up for _, up in dots})
    canvas.path("bar c0", "".join(f"M{across:.1f} {_TOP - _EDGE}v{_EDGE}" for across in columns))
    canvas.path("bar c0", "".join(f"M{left + width:.1f} {up:.1f}h{_EDGE}" for up in rows))
    canvas.text(left + width / 2, bottom + 40, x.name, "axis-title", "middle")
    turned = Canvas(_PLOT_HEIGHT)
    turned.text(0, 0, y.name, "axis-title", "middle")
    middle = _TOP + _PLOT_HEIGHT / 2
    canvas.parts.append(f'<g transform="translate(20 {middle:.1f}) rotate(-90)">{"".join(turned.parts)}</g>')
    return canvas.document(title, bottom + _BOTTOM, standalone=True) + "\n"


def draw_text(x: PlottedAxis, y: PlottedAxis, width: int = 60, height: int = 16) -> list[str]:
    """Return the lines of a picture in text: a character is one point (·), up to four (∘) or more (●)."""
    xs, ys = x.numbers(), y.numbers()
    x_scale, y_scale = _choose_scale(x, xs), _choose_scale(y, ys)
    columns = [_find_cell(x_scale, value, xs, width) for value in xs]
    lines_up = [_find_cell(y_scale, value, ys, height) for value in ys]
    counts = Counter(
        dict(zip(zip(xs, ys, strict=True), zip(lines_up, columns, strict=True), strict=True)).values()
    )
    rows = [
        "".join(_mark(counts[row, column]) for column in range(width)) for row in range(height - 1, -1, -1)
    ]
    ends = [y.label(max(ys)), y.label(min(ys))]
    room = max(map(len, ends))
    names = [ends[0], *[""] * (height - 2), ends[1]]
    low, high = x.label(min(xs)), x.label(max(xs))
    lines = [y.name]
    lines += [f"{name:>{room}} │{row.rstrip()}" for name, row in zip(names, rows, strict=True)]
    lines.append(f"{'':>{room}} └{'─' * width}")
    lines.append(f"{'':>{room}}  {low}{x.name:^{max(width - len(low) - len(high), 0)}}{high}")
    return lines


def _find_cell(scale: Scale, value: float, values: Sequence[float], count: int) -> int:
    """Return in which of some characters from the smallest to the largest value a value is."""
    low, high = scale.place(min(values)), scale.place(max(values))
    share = (scale.place(value) - low) / (high - low) if high > low else 0.5
    return min(int(share * count), count - 1)


def _mark(count: int) -> str:
    return " ·∘∘∘"[count] if count < _MANY else "●"


def _choose_scale(axis: PlottedAxis, values: Sequence[float]) -> Scale:
    """Return a scale over the values, with ticks at few values or at round ones of the unit."""
    distinct = sorted(set(values))
    is_log = axis.is_log and distinct[0] > 0
    if axis.words or (len(distinct) <= _FEW and all(map(axis.is_short, distinct))):
        return choose_x_scale(distinct, is_log=is_log)
    if is_log and axis.unit == "bytes":
        first, last = math.ceil(math.log2(distinct[0])), math.floor(math.log2(distinct[-1]))
        step = max(1, math.ceil((last - first + 1) / _FEW))
        scale = choose_x_scale(distinct, is_log=True)
        return replace(scale, ticks=tuple(2.0**power for power in range(first, last + 1, step)))
    if axis.unit not in _SUFFIXES:
        return choose_x_scale(distinct, is_log=is_log, at_values=False)
    base, suffixes = _SUFFIXES[axis.unit]
    unit = float(base ** _find_power(distinct[-1], base, len(suffixes) - 1))
    scale = choose_x_scale([value / unit for value in distinct], is_log=is_log, at_values=False)
    shift = math.log2(unit) if is_log else 0.0
    factor = 1.0 if is_log else unit
    return Scale(
        scale.low * factor + shift,
        scale.high * factor + shift,
        is_log=is_log,
        ticks=tuple(tick * unit for tick in scale.ticks),
    )


def _find_power(value: float, base: int, most: int) -> int:
    """Return the power of a base up to a value, such as 2 for sizes of MiB."""
    return min(max(math.floor(math.log(value, base) + 1e-9), 0), most) if value > 0 else 0


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
