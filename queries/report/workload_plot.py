"""Drawing what a workload does, as one SVG file: rate over time, sizes, places over time, and their skew."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from destage.engine.workload_profile import REFERENCE, Profile
from destage.queries.presentation import number, quantity
from destage.queries.report.axis import Scale, y_scale
from destage.queries.report.labels import text_width

_WIDTH = 1100
_LEFT, _RIGHT, _GAP = 78, 22, 84
_PLOT_WIDTH = (_WIDTH - _LEFT - _RIGHT - _GAP) / 2
_PLOT_HEIGHT = 230
_HEAD = 132
_ROW = _PLOT_HEIGHT + 92
_BINS = 80
_POINTS = 4_000
_KINDS = ((0, "reads", "c0"), (1, "writes", "c3"))
_UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))
_MOST_BARS = 12
_STYLE = (
    ".chart .bars { fill: var(--s); stroke: none; } "
    ".chart .dots { stroke-width: 2.6; stroke-linecap: round; stroke-opacity: .5; } "
    ".chart .sub { fill: var(--soft); } .chart .area { fill: var(--s); fill-opacity: .14; stroke: none; }"
)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where a panel's plot lies [px]."""

    left: float
    top: float

    def x(self, place: float) -> float:
        return self.left + place * _PLOT_WIDTH

    def y(self, place: float) -> float:
        return self.top + (1 - min(max(place, 0.0), 1.0)) * _PLOT_HEIGHT


def draw_workload(profile: Profile, title: str) -> str:
    """Return a picture of a workload as an SVG file.

    Args:
        profile: What was drawn from the engine.
        title: What the workload is called.
    """
    frames = [
        _Frame(_LEFT + column * (_PLOT_WIDTH + _GAP), _HEAD + row * _ROW)
        for row in (0, 1)
        for column in (0, 1)
    ]
    parts = [
        _text(_LEFT, 32, title, "title"),
        *(_text(_LEFT, 53 + 18 * line, text, "sub") for line, text in enumerate(_summary(profile))),
        *_legend(),
        *_rate(profile, frames[0]),
        *_sizes(profile, frames[1]),
        *_places(profile, frames[2]),
        *_skew(profile, frames[3]),
    ]
    height = _HEAD + 2 * _ROW - 18
    colours = (files("destage.queries.report") / "chart.css").read_text()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" aria-label="{escape(title, quote=True)}">'
        f'<style>{colours}{_STYLE}</style><rect class="ground" width="{_WIDTH}" height="{height}"/>'
        f"{''.join(parts)}</svg>\n"
    )


def _summary(profile: Profile) -> Iterator[str]:
    reads = profile.read_fraction()
    facts = [
        f"{number(len(profile.time))} requests in {number(round(profile.seconds, 3))} s"
        + ("" if profile.is_whole else ", the beginning of its timeline"),
        "" if reads is None else f"{reads:.1%} reads",
        f"{profile.sequential_fraction():.0%} go on where the last of their kind ended",
    ]
    yield "; ".join(fact for fact in facts if fact)
    if not profile.is_open:
        yield f"When closed users or a replay ask may depend on the array; here that is {REFERENCE}"


def _legend() -> Iterator[str]:
    left = float(_LEFT)
    for _, name, colour in _KINDS:
        yield f'<rect class="bars {colour}" x="{left:.1f}" y="86" width="12" height="12" rx="2"/>'
        yield _text(left + 18, 96, name, "legend")
        left += 34 + text_width(name)


def _rate(profile: Profile, frame: _Frame) -> Iterator[str]:
    middle, reads, writes = profile.rates(_BINS)
    scale = y_scale([float(value) for value in (*reads, *writes)], is_log=False)
    yield from _grid(frame, "Rate [requests/s], by time", scale, [number(tick) for tick in scale.ticks])
    yield from _time_axis(profile, frame)
    span = max(profile.seconds, 1e-9)
    for (_, name, colour), rates in zip(_KINDS, (reads, writes), strict=True):
        if rates.any():
            points = [
                f"{frame.x(at / span):.1f} {frame.y(scale.place(float(rate))):.1f}"
                for at, rate in zip(middle, rates, strict=True)
            ]
            first, last = frame.x(middle[0] / span), frame.x(middle[-1] / span)
            floor = frame.y(0.0)
            path = "L".join(points)
            yield f'<path class="area {colour}" d="M{first:.1f} {floor:.1f}L{path}L{last:.1f} {floor:.1f}Z"/>'
            yield f'<path class="line {colour}" d="M{path}"><title>{name}</title></path>'


def _sizes(profile: Profile, frame: _Frame) -> Iterator[str]:
    by_kind = [profile.sizes(op) for op, _, _ in _KINDS]
    sizes = sorted({size for counts in by_kind for size in counts})
    total = sum(sum(counts.values()) for counts in by_kind) or 1
    # The commonest, where there are too many to draw.
    sizes = sorted(
        sorted(sizes, key=lambda size: -sum(counts.get(size, 0) for counts in by_kind))[:_MOST_BARS]
    )
    shares = [[100 * counts.get(size, 0) / total for size in sizes] for counts in by_kind]
    scale = y_scale([share for kind in shares for share in kind], is_log=False, most=100.0)
    yield from _grid(frame, "Sizes [% of the requests]", scale, [number(tick) for tick in scale.ticks])
    slot = _PLOT_WIDTH / max(len(sizes), 1)
    width = min(26.0, slot / 2.6)
    texts = [quantity(size, "bytes") for size in sizes]
    is_narrow = any(text_width(text) + 6 > slot for text in texts)
    for index, size in enumerate(sizes):
        middle = frame.left + (index + 0.5) * slot
        # Every other text stands lower where there is little room.
        low = frame.top + _PLOT_HEIGHT + (35 if is_narrow and index % 2 else 19)
        yield _text(middle, low, texts[index], "tick", anchor="middle")
        for (_, name, colour), kind, side in zip(_KINDS, shares, (-1, 0), strict=True):
            top = frame.y(scale.place(kind[index]))
            height = frame.top + _PLOT_HEIGHT - top
            if height > 0:
                yield (
                    f'<rect class="bars {colour}" x="{middle + side * width + (1 if side == 0 else -1):.1f}" '
                    f'y="{top:.1f}" width="{width:.1f}" height="{height:.1f}">'
                    f"<title>{quantity(size, 'bytes')}: {number(kind[index])} % {name}</title></rect>"
                )


def _places(profile: Profile, frame: _Frame) -> Iterator[str]:
    moved = np.flatnonzero(profile.op <= 1)
    end = float((profile.offset[moved] + profile.size[moved]).max()) if len(moved) else 1.0
    unit, factor = next((unit, factor) for unit, factor in _UNITS if end >= factor or factor == 1.0)
    scale = y_scale([end / factor], is_log=False)
    yield from _grid(frame, f"Places [{unit}], by time", scale, [number(tick) for tick in scale.ticks])
    yield from _time_axis(profile, frame)
    # Evenly taken, so that the picture of any number is as large.
    chosen = moved[:: max(1, len(moved) // _POINTS)]
    span = max(profile.seconds, 1e-9)
    for op, _, colour in _KINDS:
        its = chosen[profile.op[chosen] == op]
        across, up = profile.time[its] / span, profile.offset[its] / factor
        path = "".join(
            f"M{frame.x(float(x)):.1f} {frame.y(scale.place(float(y))):.1f}h0"
            for x, y in zip(across, up, strict=True)
        )
        if path:
            yield f'<path class="line dots {colour}" d="{path}"/>'


def _skew(profile: Profile, frame: _Frame) -> Iterator[str]:
    shares = tuple(float(share) for share in np.linspace(0.0, 1.0, 101))
    scale = Scale(0.0, 100.0, is_log=False, ticks=(0.0, 20.0, 40.0, 60.0, 80.0, 100.0))
    ticks = [number(tick) for tick in scale.ticks]
    yield from _grid(frame, "Requests [%] to the busiest extents [% of those touched]", scale, ticks)
    for tick, text in zip(scale.ticks, ticks, strict=True):
        yield _text(frame.x(tick / 100), frame.top + _PLOT_HEIGHT + 19, text, "tick", anchor="middle")
    corner = f"M{frame.x(0):.1f} {frame.y(0):.1f}L{frame.x(1):.1f} {frame.y(1):.1f}"
    yield f'<path class="line reference" d="{corner}"/>'
    path = "L".join(
        f"{frame.x(share):.1f} {frame.y(part):.1f}"
        for share, part in zip(shares, profile.skew(shares), strict=True)
    )
    yield f'<path class="line labelled" d="M{path}"/>'
    touched = f"{number(float(f'{profile.touched_bytes() / 2**20:.3g}'))} MiB touched, in extents of 1 MiB"
    yield _text(frame.x(0.98), frame.y(0.06), touched, "tick", anchor="end")


def _grid(frame: _Frame, title: str, scale: Scale, texts: Sequence[str]) -> Iterator[str]:
    yield _text(frame.left, frame.top - 12, title, "panel-title")
    for tick, text in zip(scale.ticks, texts, strict=True):
        y = frame.y(scale.place(tick))
        yield f'<path class="grid" d="M{frame.left:.1f} {y:.1f}h{_PLOT_WIDTH:.1f}"/>'
        yield _text(frame.left - 8, y + 4, text, "tick", anchor="end")
    floor = frame.top + _PLOT_HEIGHT
    yield f'<path class="axis" d="M{frame.left:.1f} {floor:.1f}h{_PLOT_WIDTH:.1f}"/>'


def _time_axis(profile: Profile, frame: _Frame) -> Iterator[str]:
    scale = y_scale([max(profile.seconds, 1e-9)], is_log=False)
    floor = frame.top + _PLOT_HEIGHT
    for tick in scale.ticks:
        if tick <= profile.seconds:
            x = frame.x(tick / profile.seconds)
            yield f'<path class="axis" d="M{x:.1f} {floor:.1f}v5"/>'
            yield _text(x, floor + 19, f"{number(tick)} s", "tick", anchor="middle")


def _text(x: float, y: float, text: Any, kind: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(str(text))}</text>'
