"""A picture of a workload: its rate over time, request sizes, addresses over time, and skew."""

from collections.abc import Sequence

import numpy as np

from destage.engine.workload_profile import REFERENCE, Profile
from destage.queries.report.drawing.chart import ChartGrid, LineChart, Mark, Panel, Series, SeriesStyle
from destage.queries.report.drawing.svg import draw
from destage.queries.text.presentation import format_number, format_quantity, format_rounded

_BINS = 80
_POINTS = 4_000
_KINDS = ("reads", "writes")
_UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))
_MOST_BARS = 12
_TIME = "time [s]"


def draw_workload(profile: Profile, title: str) -> str:
    """Return a picture of a workload as an SVG file."""
    charts = (_rate(profile), _sizes(profile), _addresses(profile), _skew(profile))
    return draw(ChartGrid(title, _summary(profile), charts), standalone=True) + "\n"


def _summary(profile: Profile) -> tuple[str, ...]:
    reads = profile.read_fraction()
    facts = [
        f"{format_number(len(profile.time))} requests in {format_number(round(profile.seconds, 3))} s"
        + ("" if profile.is_whole else ", the beginning of its timeline"),
        "" if reads is None else f"{reads:.1%} reads",
        f"{profile.sequential_fraction():.0%} sequential (start where the last request of their kind ended)",
    ]
    line = "; ".join(fact for fact in facts if fact)
    if profile.is_open:
        return (line,)
    return (line, f"Arrivals of closed users and replays may depend on the array; here it is {REFERENCE}")


def _rate(profile: Profile) -> LineChart:
    middle, *rates = profile.rates(_BINS)
    points = [list(zip(middle, rate, strict=True)) if rate.any() else [] for rate in rates]
    return _chart("Rate", _TIME, "requests/s", "area", points)


def _sizes(profile: Profile) -> LineChart:
    by_kind = [profile.sizes(op) for op in range(len(_KINDS))]
    total = sum(sum(counts.values()) for counts in by_kind) or 1
    count = {size: sum(counts.get(size, 0) for counts in by_kind) for counts in by_kind for size in counts}
    # The most frequent, where there are too many to draw.
    sizes = sorted(sorted(count, key=lambda size: (-count[size], size))[:_MOST_BARS])
    shares = [
        [(index, 100 * counts[size] / total) for index, size in enumerate(sizes) if size in counts]
        for counts in by_kind
    ]
    names = tuple(format_quantity(size, "bytes") for size in sizes)
    return _chart("Sizes", "request size", "requests [%]", "bars", shares, y_most=100.0, x_names=names)


def _addresses(profile: Profile) -> LineChart:
    moved = np.flatnonzero(profile.op <= 1)
    end = float((profile.offset[moved] + profile.size[moved]).max()) if len(moved) else 1.0
    unit, factor = next((unit, factor) for unit, factor in _UNITS if end >= factor or factor == 1.0)
    # Evenly chosen, so that a picture of any number of requests is as large.
    chosen = moved[:: max(1, len(moved) // _POINTS)]
    of_kind = [chosen[profile.op[chosen] == op] for op in range(len(_KINDS))]
    points = [list(zip(profile.time[its], profile.offset[its] / factor, strict=True)) for its in of_kind]
    return _chart("Addresses", _TIME, f"address [{unit}]", "points", points)


def _skew(profile: Profile) -> LineChart:
    shares = tuple(float(share) for share in np.linspace(0.0, 1.0, 101))
    curve = tuple(Mark(100 * x, 100 * y) for x, y in zip(shares, profile.skew(shares), strict=True))
    even = Series("even", "reference", (Mark(0.0, 0.0), Mark(100.0, 100.0)))
    touched = format_rounded(profile.touched_bytes() / 2**20)
    return LineChart(
        title="Skew",
        x_title=f"busiest extents of 1 MiB [% of the {touched} MiB accessed]",
        x_unit=None,
        y_title="requests [%]",
        panels=(Panel("Skew", (even, Series("skew", "curve", curve))),),
        legend=("skew", "even"),
        y_most=100.0,
        x_log=False,
        x_at_values=False,
    )


def _chart(
    title: str,
    x_title: str,
    y_title: str,
    style: SeriesStyle,
    points: Sequence[Sequence[tuple[float, float]]],
    *,
    y_most: float | None = None,
    x_names: tuple[str, ...] = (),
) -> LineChart:
    """Return a chart with a series for reads and one for writes."""
    series = [
        Series(name, style, tuple(Mark(float(x), float(y)) for x, y in its))
        for name, its in zip(_KINDS, points, strict=True)
        if its
    ]
    return LineChart(
        title=title,
        x_title=x_title,
        x_unit=None,
        y_title=y_title,
        panels=(Panel(title, tuple(series)),),
        legend=_KINDS,
        y_most=y_most,
        x_log=False,
        x_at_values=False,
        x_names=x_names,
    )
