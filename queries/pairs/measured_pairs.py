"""Measured lines paired with the points of a sweep that simulate the same load, and what they differ in."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from destage.engine import results_schema
from destage.errors import QueryError
from destage.measured.line import FIGURES, MeasuredLine
from destage.measured.sets import MeasuredSet
from destage.queries.opening.session import Session
from destage.queries.pairs.load_descriptors import DESCRIPTORS, MIX, RATE, Descriptor, read_pairing
from destage.queries.pairs.measured_points import SimulatedPoint, read_points
from destage.queries.pairs.point_choice import Choice
from destage.spec.near_names import suggest
from destage.store.schemas.figure_places import LABEL
from destage.student import quantile

RESULTS = (
    *("throughput_iops", "response_mean_us", "response_p50_us", "response_p95_us", "response_p99_us"),
    *("response_p999_us", "read_response_mean_us", "read_response_p99_us", "write_response_mean_us"),
    "write_response_p99_us",
)
"""The figures that are compared by default, where a line has them."""
MOST_WORST = 3


@dataclass(frozen=True, slots=True)
class Ratio:
    """One figure of a line and of its point [the column's unit].

    Attributes:
        simulated: The mean over replicates.
        low: The lower end of its 95 % interval; None for a single replicate.
        ratio: Simulated over measured; None if the measured value is 0.
        ratio_low: The lower end of its interval, from that of the simulated value and, for the rate, from the
            deviation and the number of samples that the tool states.
    """

    column: str
    measured: float
    simulated: float
    low: float | None
    high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None


@dataclass(frozen=True, slots=True)
class LinePair:
    """A measured line and the point that simulates its load.

    Attributes:
        skipped: Columns that are not compared, as the measured value is unknown, and why it is.
    """

    number: int
    line: MeasuredLine
    point: SimulatedPoint
    ratios: Sequence[Ratio]
    skipped: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Unpaired:
    """A line or a point without a partner, and why."""

    name: str
    reason: str
    key: int | str


@dataclass(frozen=True, slots=True)
class MeasuredComparison:
    """The pairs of a set and a sweep, and what has no partner."""

    pairs: Sequence[LinePair]
    lines: Sequence[Unpaired]
    points: Sequence[Unpaired]

    def find_worst(self) -> list[tuple[LinePair, Ratio]]:
        """Return the figures whose ratio is furthest from 1, at most three, the worst first."""
        every = [(pair, ratio) for pair in self.pairs for ratio in pair.ratios if ratio.ratio]
        every.sort(key=lambda entry: -abs(math.log(entry[1].ratio or 1.0)))
        return every[:MOST_WORST]


def compare_measured(
    session: Session,
    measured: MeasuredSet,
    choice: Choice,
    columns: Sequence[str] = (),
    on: Sequence[str] = (),
) -> MeasuredComparison:
    """Pair the lines of a set with points of a sweep, and compare their figures.

    A line's partner is the only point with the same outstanding I/Os (or rate of an open load), request size,
    share of reads and share of random requests; where several points are left, the one whose stream or label
    has the name of the line's workload.

    Args:
        columns: The figures (default: those of `RESULTS` that a line has).
        on: `COLUMN=PARAMETER`: pair by these instead; mix and name only decide what they leave open.

    Raises:
        QueryError: A column or a parameter does not exist.
    """
    wanted = _check_columns(columns) if columns else RESULTS
    points = read_points(session, choice, wanted)
    descriptors = [read_pairing(session, text) for text in on] if on else DESCRIPTORS
    pairs, left = [], []
    matched: dict[int, list[int]] = {}
    for number, line in enumerate(measured.lines, start=1):
        candidates = _find_candidates(line, points, descriptors)
        for index in candidates:
            matched.setdefault(index, []).append(number)
        if len(candidates) == 1 and points[candidates[0]].has_result:
            point = points[candidates[0]]
            skipped = _explain_skipped(line, wanted)
            pairs.append(LinePair(number, line, point, _compare(line, point, wanted), skipped))
        else:
            reason = _explain_line(session, line, points, candidates, descriptors)
            left.append(Unpaired(describe_line(number, line), reason, number))
    paired, without = {id(pair.point) for pair in pairs}, []
    for index, point in enumerate(points):
        if id(point) not in paired:
            reason = _explain_point(point, measured, matched.get(index, []), descriptors)
            without.append(Unpaired(point.name, reason, point.point_id))
    return MeasuredComparison(pairs, left, without)


def has_mix(line: MeasuredLine, point: SimulatedPoint) -> bool:
    """Return whether a line and a point may have the same kind of load."""
    return all(descriptor.fits(line, point) is not False for descriptor in MIX)


def describe_line(number: int, line: MeasuredLine) -> str:
    """Return a line in words: its number, its workload and its load."""
    parts = [line.workload or line.test or line.tool]
    for descriptor in DESCRIPTORS:
        value = descriptor.of_line(line)
        if value is not None and descriptor.title != RATE:
            parts.append(descriptor.name(value))
    return f"line {number}: {', '.join(parts)}"


def _check_columns(columns: Sequence[str]) -> list[str]:
    names = [name for name in FIGURES if name in results_schema().names]
    by_name = {name.rpartition("_")[0]: name for name in names} | {name: name for name in names}
    for name in columns:
        if name not in by_name:
            message = (
                f"{name!r} is not a figure of both{suggest(name, list(by_name))}; they are {', '.join(names)}"
            )
            raise QueryError("query.unknown-column", message, "--columns")
    return list(dict.fromkeys(by_name[name] for name in columns))


def _find_candidates(
    line: MeasuredLine, points: Sequence[SimulatedPoint], descriptors: Sequence[Descriptor]
) -> list[int]:
    """Return the places of the points that a line may be paired with."""
    matching = []
    for index, point in enumerate(points):
        fits = [(descriptor.fits(line, point), descriptor.is_load) for descriptor in descriptors]
        # Without a common load, the same mix says nothing about how much of it there is.
        if all(fit is not False for fit, _ in fits) and any(fit and is_load for fit, is_load in fits):
            matching.append(index)
    # What --on leaves open, the mix may decide, and then the name.
    same = [index for index in matching if has_mix(line, points[index])]
    named = [
        index
        for index in same
        if line.workload in {*points[index].load.names, points[index].values.get(LABEL)} - {None}
    ]
    return next((indices for indices in (matching, same, named) if len(indices) == 1), matching)


def _explain_line(
    session: Session,
    line: MeasuredLine,
    points: Sequence[SimulatedPoint],
    candidates: Sequence[int],
    descriptors: Sequence[Descriptor],
) -> str:
    """Return why a line has no partner."""
    if len(candidates) == 1:
        return f"its point has no result: {points[candidates[0]].name}"
    if candidates:
        kept = [points[index].values for index in candidates]
        differing = [
            path
            for path in kept[0]
            if path != "point_id" and len({str(values.get(path)) for values in kept}) > 1
        ]
        names = ", ".join(session.names.get(path, path) for path in differing)
        return f"{len(candidates)} points match, which differ in {names}; choose with --a, or pair with --on"
    loads = [descriptor for descriptor in descriptors if descriptor.is_load]
    if not any(descriptor.fits(line, point) is not None for descriptor in loads for point in points):
        titles = " and ".join(descriptor.title for descriptor in loads)
        return f"{titles}: not known of both the line and a point; pair with --on, as in --on threads=users"
    pairs = [(line, point) for point in points]
    return f"no point has {_name_mismatch(descriptors, pairs, lambda descriptor: descriptor.of_line(line))}"


def _explain_point(
    point: SimulatedPoint, measured: MeasuredSet, matched: Sequence[int], descriptors: Sequence[Descriptor]
) -> str:
    """Return why a point has no partner."""
    if not point.has_result:
        return "it has no result"
    if matched:
        listed = ", ".join(map(str, matched))
        return f"line{'' if len(matched) == 1 else 's'} {listed} may be of other points as well"
    pairs = [(line, point) for line in measured.lines]
    return f"no line has {_name_mismatch(descriptors, pairs, lambda descriptor: descriptor.of_point(point))}"


def _name_mismatch(
    descriptors: Sequence[Descriptor],
    pairs: Sequence[tuple[MeasuredLine, SimulatedPoint]],
    value: Callable[[Descriptor], Any],
) -> str:
    """Return the values that no partner has, or all values that none has together."""
    comparable = [
        descriptor
        for descriptor in descriptors
        if value(descriptor) is not None and any(descriptor.fits(*pair) is not None for pair in pairs)
    ]
    missing = [descriptor for descriptor in comparable if not any(descriptor.fits(*pair) for pair in pairs)]
    listed = [descriptor.name(value(descriptor)) for descriptor in missing or comparable]
    if not listed:
        return "a load that is comparable"
    return ", ".join(listed) + (" together" if not missing and len(listed) > 1 else "")


def _compare(line: MeasuredLine, point: SimulatedPoint, columns: Sequence[str]) -> list[Ratio]:
    ratios = []
    for column in columns:
        measured, simulated = getattr(line, column), point.results.get(column)
        if measured is None or simulated is None or (columns is RESULTS and _is_repeated(line, column)):
            continue
        low, high = point.results.get(f"{column}_low"), point.results.get(f"{column}_high")
        ratio = simulated / measured if measured else None
        spread = _find_spread(line, column, simulated, low, high)
        ends: tuple[float | None, float | None] = (None, None)
        if ratio is not None and spread is not None:
            ends = (ratio * (1 - spread), ratio * (1 + spread))
        ratios.append(Ratio(column, measured, simulated, low, high, ratio, *ends))
    return ratios


def _explain_skipped(line: MeasuredLine, columns: Sequence[str]) -> dict[str, str]:
    """Return why figures of a line are unknown: of those that were asked for, or that have a reason."""
    return {
        column: line.explain(column)
        for column in columns
        if getattr(line, column) is None and (columns is not RESULTS or column in line.unknown_figures)
    }


def _is_repeated(line: MeasuredLine, column: str) -> bool:
    """Return whether a figure of reads or writes is that of all requests, as there are no others."""
    return column.startswith(("read_", "write_")) and line.read_fraction in {0.0, 1.0}


def _find_spread(
    line: MeasuredLine, column: str, simulated: float, low: float | None, high: float | None
) -> float | None:
    """Return half of the relative width of a ratio's interval: those of both values, squared and added."""
    if low is None or high is None or not simulated:
        return None
    own = (high - low) / 2 / simulated
    other = 0.0
    deviation, samples = line.throughput_stddev_iops, line.samples
    if column == "throughput_iops" and deviation is not None and samples is not None and samples > 1:
        other = quantile(samples) * deviation / math.sqrt(samples) / (line.throughput_iops or math.inf)
    return math.hypot(own, other)
