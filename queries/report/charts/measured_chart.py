"""Measured figures beside simulated ones: response time against throughput, a line per mix.

Lines are simulated and points measured. A measured point has the colour of the line whose mix it has, where
there is one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from destage.measured.line import MeasuredLine
from destage.measured.sets import MeasuredSet
from destage.queries.opening.session import Session
from destage.queries.pairs.load_descriptors import name_mix
from destage.queries.pairs.measured_pairs import (
    MeasuredComparison,
    compare_measured,
    describe_line,
    has_mix,
)
from destage.queries.pairs.measured_points import SimulatedPoint, read_points
from destage.queries.pairs.point_choice import choose_points
from destage.queries.report.drawing.chart import Figure, LineChart, Mark, Panel, Series
from destage.queries.text.presentation import (
    find_scale,
    format_interval,
    format_number,
    name_value,
    scale_interval,
    split_title,
)
from destage.sql import quote, quote_text
from destage.store.schemas.figure_places import LABEL

MEASURED = "measured"
_X, _Y = "throughput_iops", "response_mean_us"
_LOADS = {"depth", "users", "rate", "ios"}
"""The ends of axes along which a line runs."""
_MIXES = {"read_fraction", "value", "size", "jump_fraction"}
"""The ends of axes that the name of a mix states."""
_MOST_LINES = 6
"""Lines above which each mix has a panel of its own; it also has one if several lines have it."""
_OTHER = "mixes that are not simulated"
_WIDE = 20.0
"""The ratio of the longest to the shortest response time above which the axis is logarithmic."""


@dataclass(frozen=True, slots=True)
class _Line:
    """The simulated points of one mix that differ in nothing but the load, in the order of the throughput."""

    mix: str
    rest: str
    points: Sequence[SimulatedPoint]


def build_measured_chart(session: Session, measured: MeasuredSet) -> Figure | None:
    """Build the chart; None where no line has both figures."""
    numbered = [
        (number, line)
        for number, line in enumerate(measured.lines, start=1)
        if getattr(line, _X) is not None and getattr(line, _Y) is not None
    ]
    if not numbered:
        return None
    lines = _find_lines(session)
    mixes = _split(lines)
    is_split = len(mixes) > 1 and (len(lines) > _MOST_LINES or len(lines) > len(mixes))
    names = {id(line): line.rest if is_split else _join(line.mix, line.rest) for line in lines}
    placed = [
        (number, line, [candidate for candidate in lines if has_mix(line, candidate.points[0])])
        for number, line in numbered
    ]
    panels = [("", lines, placed)]
    if is_split:
        panels = [
            (mix, kept, [placement for placement in placed if placement[2] and placement[2][0].mix == mix])
            for mix, kept in mixes.items()
        ]
        panels.append((_OTHER, [], [placement for placement in placed if not placement[2]]))
    drawn = [
        Panel(title, (*_draw_lines(kept, names), *_draw_measured(here, kept, names)))
        for title, kept, here in panels
        if kept or here
    ]
    legend = list(dict.fromkeys(series.name for panel in drawn for series in panel.series if series.name))
    times = [mark.y for panel in drawn for series in panel.series for mark in series.marks]
    chart = LineChart(
        title="Measured and simulated response time against throughput",
        x_title="throughput [IO/s]",
        x_unit=None,
        y_title="mean response time [ms]",
        panels=tuple(drawn),
        legend=tuple(sorted(legend, key=lambda name: name == MEASURED)),
        y_log=max(times) > _WIDE * min(times) > 0,
        x_at_values=False,
    )
    comparison = compare_measured(session, measured, choose_points(session, (), ""))
    return Figure(MEASURED, chart, _caption(measured, comparison, lines), _statement(session, measured.name))


def _find_lines(session: Session) -> list[_Line]:
    """Return the lines, in the order of the plan."""
    points = [
        point for point in read_points(session, choose_points(session, (), ""), (_X, _Y)) if point.has_result
    ]
    varying = [
        path
        for path in [LABEL, *session.axes]
        if path.rpartition(".")[2] not in _LOADS
        and len({str(point.values.get(path)) for point in points}) > 1
    ]
    by_key: dict[tuple[str, ...], list[SimulatedPoint]] = {}
    for point in points:
        load = point.load
        mix = name_mix(load.request_bytes, load.read_fraction, load.random_fraction)
        key = (mix, *(str(point.values.get(path)) for path in varying))
        by_key.setdefault(key, []).append(point)
    named = [path for path in varying if path.rpartition(".")[2] not in _MIXES]
    return [
        _Line(key[0], _name_rest(session, kept[0], named), sorted(kept, key=lambda point: point.results[_X]))
        for key, kept in by_key.items()
    ]


def _name_rest(session: Session, point: SimulatedPoint, paths: Sequence[str]) -> str:
    values = [
        str(point.values[path]) if path == LABEL else name_value(path, point.values[path], session.units)
        for path in paths
        if point.values.get(path) is not None
    ]
    return ", ".join(values) or "simulated"


def _join(mix: str, rest: str) -> str:
    return mix if rest == "simulated" and mix else ", ".join(filter(None, [mix, rest]))


def _split(lines: Sequence[_Line]) -> dict[str, list[_Line]]:
    by_mix: dict[str, list[_Line]] = {}
    for line in lines:
        by_mix.setdefault(line.mix, []).append(line)
    return by_mix


def _draw_lines(lines: Sequence[_Line], names: Mapping[int, str]) -> list[Series]:
    series = []
    for line in lines:
        marks = []
        for point in line.points:
            note = f"simulated, {point.name}: {format_interval(_X, point.results)}, "
            note += format_interval(_Y, point.results)
            marks.append(Mark(point.results[_X], *scale_interval(_Y, point.results), note))
        series.append(Series(names[id(line)], "line", tuple(marks)))
    return series


def _draw_measured(
    placed: Sequence[tuple[int, MeasuredLine, Sequence[_Line]]],
    lines: Sequence[_Line],
    names: Mapping[int, str],
) -> list[Series]:
    scale = find_scale(_Y)
    marks = []
    for number, line, matching in placed:
        own = [candidate for candidate in matching if candidate in lines]
        rate, time = getattr(line, _X), getattr(line, _Y) * scale
        figures = f"{format_number(rate)} IO/s, {format_number(time)} ms"
        note = f"measured, {describe_line(number, line)}: {figures}"
        marks.append(Mark(rate, time, note=note, line=names[id(own[0])] if len(own) == 1 else None))
    return [Series(MEASURED, "published", tuple(marks))] if marks else []


def _caption(measured: MeasuredSet, comparison: MeasuredComparison, lines: Sequence[_Line]) -> str:
    arrays = " and ".join(dict.fromkeys(line.array_label for line in measured.lines))
    what = f"Hollow diamonds are measured (set {measured.name}, array {arrays}), lines simulated"
    sentences = [f"{what}: each runs along the load of its mix."]
    if len(lines) > 1 and len(_split(lines)) == len(lines):
        sentences.append("A diamond has the colour of the line with its mix.")
    sentences += _explain_left_out(measured)
    if not comparison.pairs:
        return " ".join(sentences)
    ratios = [
        ratio.ratio
        for pair in comparison.pairs
        for ratio in pair.ratios
        if ratio.column == _X and ratio.ratio
    ]
    count = f"{len(comparison.pairs)} of {len(measured.lines)} measured lines have one simulated point"
    if ratios:
        low, high = (f"{end:.3g}" for end in (min(ratios), max(ratios)))
        between = low if low == high else f"{low} to {high}"
        count += f", whose throughput is {between} times the measured one"
    return " ".join([*sentences, f"{count}."])


def _explain_left_out(measured: MeasuredSet) -> list[str]:
    """Say which lines are not drawn, as one of the figures is unknown."""
    numbers: dict[str, list[str]] = {}
    for number, line in enumerate(measured.lines, start=1):
        column = next((name for name in (_X, _Y) if getattr(line, name) is None), None)
        if column is not None:
            title = split_title(column)[0]
            numbers.setdefault(f"{title} unknown, {line.explain(column)}", []).append(str(number))
    return [
        f"Not drawn: line{'' if len(listed) == 1 else 's'} {', '.join(listed)} ({reason})."
        for reason, listed in numbers.items()
    ]


def _statement(session: Session, name: str) -> str:
    axes = ", ".join(map(quote, [*session.axes, *session.probed]))
    shown = f"{axes}, " if axes else ""
    return (
        f"SELECT 'measured' AS source, workload, outstanding, {_X}, {_Y} FROM measured\n"  # noqa: S608 - quoted
        f"WHERE measured_set = {quote_text(name)}\n"
        f"UNION ALL BY NAME\n"
        f"SELECT 'simulated' AS source, {shown}{_X}, {_Y} FROM points"
    )
