"""Where a statement holds: the box of a sweep's points that has most of the cases and few others.

A statement may also compare each point with another one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from destage.discovery.boxes import Box, peel, whole_box
from destage.discovery.choice import Rule, choose_box, quasi_p_value
from destage.errors import QueryError
from destage.queries.opening.session import Session
from destage.queries.pairs.point_choice import choose_points, evaluate, list_values, write_points
from destage.queries.pairs.point_pairs import as_key
from destage.queries.text.presentation import (
    format_axis_value,
    format_count,
    format_number,
    format_rounded,
    title_axis,
)
from destage.sql import find_columns, find_qualifiers
from destage.store.schemas.axis_codes import encode_bound
from destage.store.schemas.figure_places import LABEL

BASE = "base"
"""The name of the compared point in a statement."""


@dataclass(frozen=True, slots=True)
class Cases:
    """The points for which a statement is true or false.

    Attributes:
        points: Their axes, by dotted path.
        unknown: The number of points for which it is null: without a result, or compared with one.
        unmatched: The number of points without a point to compare with.
    """

    points: pa.Table
    holds: np.ndarray
    unknown: int
    unmatched: int


def collect_cases(session: Session, statement: str, against: Sequence[str] = ()) -> Cases:
    """Return the points for which a statement is true or false.

    Args:
        statement: An SQL condition over the columns of `answers` and `points`; `base.` before a column means
            that of the compared point.
        against: SQL conditions that choose the compared points. Each other point is compared with the one
            that is equal in all axes that they do not name.

    Raises:
        QueryError: The statement cannot be evaluated, or the conditions choose no point.
    """
    if not against and find_qualifiers(statement, [BASE]):
        message = f"{BASE}. is a column of the compared point, which --against chooses"
        raise QueryError("query.unknown-name", message, "--where")
    every = session.sql_of_named_columns(write_points(session, find_columns(statement)))
    table = session.name_columns(every)
    unmatched = 0
    if against:
        pairs, unmatched = _match(session, every["point_id"].to_pylist(), against)
        compared = table.take(pa.array([other for _, other in pairs], pa.int64()))
        places = pa.array([place for place, _ in pairs], pa.int64())
        every, table = every.take(places), table.take(places)
        # One chunk: a struct array has no chunks.
        columns = [compared[name].combine_chunks() for name in compared.column_names]
        table = table.append_column(BASE, pa.StructArray.from_arrays(columns, compared.column_names))
    holds = evaluate(session, table, statement, "--where")
    return Cases(
        every.select(session.axes).filter(holds.is_valid()),
        holds.drop_null().to_numpy(),
        holds.null_count,
        unmatched,
    )


def _match(session: Session, ids: Sequence[str], against: Sequence[str]) -> tuple[list[tuple[int, int]], int]:
    """Return the places of points and of those that they are compared with, and how many have none."""
    chosen = choose_points(session, against, "--against")
    values = list_values(session)
    compared = set(chosen.points)
    # An axis that has no effect at the compared points, such as the split of no cache, has no value there.
    has_value = {path for point in compared for path, value in values[point].items() if value is not None}
    paths = [path for path in session.axes if path in has_value and path not in chosen.named]
    if LABEL in has_value and LABEL not in chosen.named:
        paths.append(LABEL)

    def key(point: str) -> tuple[object, ...]:
        return tuple(as_key(values[point].get(path)) for path in paths)

    place_by_key = {key(point): place for place, point in enumerate(ids) if point in compared}
    others = [
        (place, place_by_key.get(key(point))) for place, point in enumerate(ids) if point not in compared
    ]
    pairs = [(place, other) for place, other in others if other is not None]
    if not pairs:
        message = (
            "no point is equal to one of these in all axes that the conditions do not name; name more axes"
        )
        raise QueryError("query.no-pairs", message, "--against")
    return pairs, len(others) - len(pairs)


FEWEST_POINTS = 20
FEWEST_CASES = 5
"""Points, cases and other points below which a box would be chance."""
_MANY_VALUES = 20
"""Values of an axis from which on a limit is shown in three digits."""
_BINARY = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


@dataclass(frozen=True, slots=True)
class Limit:
    """The limits of a box on one axis.

    Attributes:
        low: The smallest value inside; None without a lower limit, or for an axis without order.
        high: The largest value inside, in the same way.
        values: The values inside, of an axis without order.
        quasi_p: The probability of as many cases in the box without them.
        density: The density of the box without them.
        coverage: The coverage of the box without them.
    """

    axis: str
    low: object
    high: object
    values: tuple[object, ...] | None
    text: str
    quasi_p: float
    density: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Discovery:
    """Where a statement holds.

    Attributes:
        axes: The dotted paths of the axes that vary.
        box: The box; None if there is none, for the reason in `answer`.
        limits: Its limits, those that matter most first.
        trajectory: The boxes of the peeling steps.
        answer: What was found, in a sentence.
    """

    statement: str
    cases: Cases
    axes: Sequence[str]
    box: Box | None
    limits: Sequence[Limit]
    trajectory: Sequence[Box]
    answer: str


def discover(
    session: Session, statement: str, against: Sequence[str] = (), rule: Rule | None = None
) -> Discovery:
    """Find where a statement holds.

    Args:
        statement: See `collect_cases`, as for `against`.
        rule: How the box is chosen (default: by the largest F-measure).

    Raises:
        QueryError: See `collect_cases`.
    """
    rule = rule or Rule()
    cases = collect_cases(session, statement, against)
    codes = {path: encode_bound(cases.points[path]) for path in session.axes}
    codes = {path: coded for path, coded in codes.items() if coded.count > 1}
    axes = list(codes)
    reason = _explain_none(cases, statement)
    if reason is not None:
        return Discovery(statement, cases, axes, None, (), (), reason)
    trajectory = peel(whole_box(list(codes.values()), cases.holds))
    box = choose_box(trajectory, rule)
    if box is None:
        best = max(trajectory, key=lambda candidate: (candidate.density, candidate.coverage))
        message = (
            f"no box meets the demand; the densest one has a density of {_percent(best.density)} "
            f"and a coverage of {_percent(best.coverage)}"
        )
        return Discovery(statement, cases, axes, None, (), trajectory, message)
    limits = sorted(
        (_describe(session, path, box, index) for index, path in enumerate(axes) if index in box.restricted),
        key=lambda limit: (limit.quasi_p, limit.density),
    )
    return Discovery(statement, cases, axes, box, limits, trajectory, _answer(statement, box, limits))


def _explain_none(cases: Cases, statement: str) -> str | None:
    """Return why no box is sought, if none is."""
    points, true = len(cases.holds), int(cases.holds.sum())
    if not points:
        return "no point has a result that the statement can be judged by"
    if true in {0, points}:
        holds = "holds at all" if true else "holds at none of"
        return f"{statement}: {holds} {format_count(points, 'point')}"
    if points < FEWEST_POINTS or min(true, points - true) < FEWEST_CASES:
        return (
            f"{statement}: holds at {format_number(true)} of {format_count(points, 'point')}; too few for a "
            f"box; it needs {FEWEST_POINTS} points, {FEWEST_CASES} where it holds and {FEWEST_CASES} others"
        )
    return None


def _answer(statement: str, box: Box, limits: Sequence[Limit]) -> str:
    counted = f"{format_number(box.cases)} of {format_count(box.points, 'point')}"
    if not limits:
        return (
            f"{statement}: at {_percent(box.density)} of all points ({counted}); no range of an axis has more"
        )
    ranges = " and ".join(limit.text for limit in limits)
    every = format_count(int(box.is_case.sum()), "case")
    return (
        f"{statement} where {ranges}: at {_percent(box.density)} of the points inside ({counted}), which are "
        f"{_percent(box.coverage)} of all {every}"
    )


def _percent(share: float) -> str:
    return f"{format_rounded(share * 100)} %"


def _describe(session: Session, path: str, box: Box, index: int) -> Limit:
    coded, allowed = box.axes[index], box.allowed[index]
    without = box.replace(index, np.ones_like(allowed))
    inside = np.flatnonzero(allowed)
    facts: Mapping[str, Any] = {
        "quasi_p": quasi_p_value(box, index),
        "density": without.density,
        "coverage": without.coverage,
    }
    unit, name = session.units.get(path), title_axis(path)
    if not coded.is_ordered:
        values = tuple(coded.values[code] for code in inside)
        text = " or ".join(format_axis_value(path, value, unit) for value in values)
        return Limit(path, None, None, values, f"{name} is {text}", **facts)

    def show(value: object) -> str:
        return (
            _approximate(value, unit) if coded.count > _MANY_VALUES else format_axis_value(path, value, unit)
        )

    low = coded.values[inside[0]] if inside[0] > 0 else None
    high = coded.values[inside[-1]] if inside[-1] < coded.count - 1 else None
    if low is not None and high is not None:
        text = f"{name} = {show(low)}" if low == high else f"{name} from {show(low)} to {show(high)}"
    else:
        text = f"{name} ≥ {show(low)}" if low is not None else f"{name} ≤ {show(high)}"
    return Limit(path, low, high, None, text, **facts)


def _approximate(value: Any, unit: str | None) -> str:
    """Return a sampled value in three digits."""
    if unit == "bytes":
        size, name = next(((size, name) for size, name in _BINARY if value >= size), (1, "B"))
        return f"{format_rounded(value / size)} {name}"
    return format_axis_value("", type(value)(float(f"{value:.3g}")), unit)
