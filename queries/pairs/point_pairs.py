"""Pairs of points, of one sweep or two, that differ only in what is compared, and their differences.

The replicates of both points use common random streams, which cancel what affects both alike: the variance of
the difference is Var(A) + Var(B) - 2 Cov(A, B). The variance reduction, (Var(A) + Var(B)) / Var(B - A), is
the factor by which independent streams would need more replicates for an interval of the same width (A. M.
Law, Simulation Modeling and Analysis, 11.2; the interval is the paired t-interval of 10.2.1).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from destage.engine import results_schema
from destage.errors import QueryError
from destage.queries.opening.session import Session
from destage.queries.pairs.point_choice import Choice, describe_point, list_values
from destage.queries.tables.views import list_measured_columns
from destage.queries.text.presentation import format_number, title_axis
from destage.spec.axis_names import is_minimum
from destage.spec.near_names import suggest
from destage.sql import quote
from destage.store.schemas.figure_places import LABEL
from destage.student import half_width

NEGLIGIBLE = 1e-4
"""The share of a value below which a difference is of no use to anybody; tables round to four digits."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One result of two points.

    Attributes:
        column: The result column.
        count: The number of replicates with a value at both points.
        mean_a: The mean of A over these replicates.
        low: The lower end of its 95 % t-interval; None for a single replicate.
        ratio: The mean of B over that of A; None if that of A is 0.
        variance_reduction: The variance of the difference of independent replicates over that of the pairs;
            None where the pairs do not vary, or there is one.
    """

    column: str
    count: int
    mean_a: float
    mean_b: float
    difference: float
    low: float | None
    high: float | None
    ratio: float | None
    variance_reduction: float | None

    @property
    def is_shown(self) -> bool:
        """Whether the interval shows a difference: it does not contain 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    @property
    def is_negligible(self) -> bool:
        """Whether the whole interval, or the difference of a single replicate, is below `NEGLIGIBLE`."""
        ends = (self.difference, self.low or 0.0, self.high or 0.0)
        return max(map(abs, ends)) <= NEGLIGIBLE * max(abs(self.mean_a), abs(self.mean_b))

    @property
    def verdict(self) -> str:
        """What the interval says about B."""
        if self.low is None:
            return "one value each" if is_minimum(self.column) else "one replicate"
        if self.low == self.high == 0:
            return "equal"
        if self.is_negligible:
            return f"equal within {100 * NEGLIGIBLE:g} %"
        if not self.is_shown:
            return "no difference shown"
        return "B is higher" if self.difference > 0 else "B is lower"


def compare_values(
    column: str, values_a: Mapping[int, float], values_b: Mapping[int, float]
) -> Difference | None:
    """Return the difference of two points, given the value of each replicate.

    Replicates that only one of them has are left out; None if they have none in common.
    """
    common = sorted(values_a.keys() & values_b.keys())
    if not common:
        return None
    a, b = [values_a[replicate] for replicate in common], [values_b[replicate] for replicate in common]
    differences = [after - before for before, after in zip(a, b, strict=True)]
    mean_a, mean_b, mean = _mean(a), _mean(b), _mean(differences)
    has_interval = len(common) > 1
    spread = half_width(differences)
    return Difference(
        column=column,
        count=len(common),
        mean_a=mean_a,
        mean_b=mean_b,
        difference=mean,
        low=mean - spread if has_interval else None,
        high=mean + spread if has_interval else None,
        ratio=mean_b / mean_a if mean_a else None,
        variance_reduction=_reduce(a, b, differences) if has_interval else None,
    )


def _reduce(a: Sequence[float], b: Sequence[float], differences: Sequence[float]) -> float | None:
    paired = _sum_squares(differences)
    # Below this, the sum of squares is rounding.
    least = 1e-24 * max(*map(abs, a), *map(abs, b)) ** 2
    return (_sum_squares(a) + _sum_squares(b)) / paired if paired > least else None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _sum_squares(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values)


RESULTS = (
    "response_mean_us",
    "response_p50_us",
    "response_p95_us",
    "response_p99_us",
    "commit_p95_us",
    "throughput_iops",
    "read_hit_ratio",
    "write_hit_ratio",
    "disk_busy_max_fraction",
    "dirty_mean_fraction",
    "dirty_high_bytes",
)
"""The results that are compared by default, after the answer of a seek or the completion time of a replay."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: some points of a sweep."""

    session: Session
    choice: Choice


@dataclass(frozen=True, slots=True)
class Pair:
    """Two points and their differences.

    Attributes:
        common: What the points have in common, in words.
        name_a: What only the first has, in words.
        name_b: The same of the second.
        shares_runs: Whether both have the same runs, as points that differ in a setting without effect do.
        differences: One per result that both have.
    """

    point_a: str
    point_b: str
    common: str
    name_a: str
    name_b: str
    shares_runs: bool
    differences: Sequence[Difference]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The pairs of points, and the names of the points without a partner."""

    pairs: Sequence[Pair]
    unmatched_a: Sequence[str]
    unmatched_b: Sequence[str]


def compare_points(a: Side, b: Side, columns: Sequence[str] = ()) -> Comparison:
    """Compare the points of two sides that are equal in all axes that no condition names.

    One point on each side is a pair, whatever its axes are.

    Args:
        columns: Result columns, with or without the suffix of their unit (default: the answer, `RESULTS`).

    Raises:
        QueryError: A column does not exist, or no two points match.
    """
    listed = _choose_columns(a.session, b.session, columns)
    values_a, values_b = list_values(a.session), list_values(b.session)
    matched, left_a, left_b = _match(a, b)
    if not matched:
        message = (
            f"no two of the {len(a.choice.points)} and {len(b.choice.points)} points are equal in the axes "
            "that no condition names; choose points with --a and --b"
        )
        raise QueryError("query.no-pairs", message)
    measured_a = _measure(a, [point for point, _ in matched], listed)
    measured_b = _measure(b, [other for _, other in matched], listed)
    pairs = []
    for point_a, other in matched:
        at_a, at_b = measured_a.get(point_a, {}), measured_b.get(other, {})
        compared = (compare_values(name, _pick(at_a, name), _pick(at_b, name)) for name in listed)
        # By default, results that are 0 at both points are left out.
        differences = [one for one in compared if one is not None and (columns or one.mean_a or one.mean_b)]
        runs = [{row["run_id"] for row in results.values()} for results in (at_a, at_b)]
        names = _name_pair(a, b, values_a[point_a], values_b[other])
        shares_runs = bool(runs[0]) and runs[0] == runs[1]
        pairs.append(Pair(point_a, other, *names, shares_runs, differences))
    unmatched = (
        [describe_point(side.session, values[point], [LABEL, *side.session.axes]) for point in left]
        for side, values, left in ((a, values_a, left_a), (b, values_b, left_b))
    )
    return Comparison(pairs, *unmatched)


def _choose_columns(a: Session, b: Session, wanted: Sequence[str]) -> list[str]:
    answers = [a.metric] if a.metric is not None and a.metric == b.metric else []
    measured = list_measured_columns()
    if not wanted:
        return [*({a.result} & {b.result} - {*RESULTS}), *RESULTS]
    # An objective has the column without its unit, as in `response_p95 <= 30ms`.
    by_name = {name.rpartition("_")[0]: name for name in measured}
    by_name |= {name: name for name in [*measured, *answers]}
    for name in wanted:
        if name not in by_name:
            message = (
                f"no result column is named {name!r}{suggest(name, list(by_name))}; "
                "see `destage catalog list columns`"
            )
            raise QueryError("query.unknown-column", message, "--columns")
    return list(dict.fromkeys(by_name[name] for name in wanted))


def _match(a: Side, b: Side) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """Return the pairs of points, and the points of each side without a partner.

    A point at which an axis has no effect is equal to those of all values that are written for it.
    """
    if len(a.choice.points) == len(b.choice.points) == 1:
        return [(a.choice.points[0], b.choice.points[0])], [], []
    # The axes of both sides, and the label, that no condition names.
    shared = [path for path in a.session.axes if path in b.session.axes]
    paths = [path for path in (LABEL, *shared) if path not in {*a.choice.named, *b.choice.named}]
    at_a, at_b = _index(a, paths), _index(b, paths)
    keys = [key for key in at_a if key in at_b and len(at_a[key]) == len(at_b[key]) == 1]
    paired_a, paired_b = ({point for key in keys for point in indexed[key]} for indexed in (at_a, at_b))
    return (
        list(dict.fromkeys((next(iter(at_a[key])), next(iter(at_b[key]))) for key in keys)),
        [point for point in a.choice.points if point not in paired_a],
        [point for point in b.choice.points if point not in paired_b],
    )


def _index(side: Side, paths: Sequence[str]) -> dict[tuple[object, ...], dict[str, None]]:
    """Return the points of each combination of values as written."""
    points_by_key: dict[tuple[object, ...], dict[str, None]] = {}
    for row in side.session.points.list_written(side.choice.points):
        key = tuple(as_key(row.get(path)) for path in paths)
        points_by_key.setdefault(key, {})[row["point_id"]] = None
    return points_by_key


def as_key(value: object) -> object:
    """Return a value such that 64 and 64.0 are equal, and so are texts of both sweeps."""
    return float(value) if isinstance(value, int | float) else None if value is None else str(value)


def _name_pair(
    a: Side, b: Side, values_a: Mapping[str, object], values_b: Mapping[str, object]
) -> tuple[str, str, str]:
    """Return what two points have in common, and what is of each alone."""
    common = [
        path
        for path in (LABEL, *a.session.axes)
        if path in values_b and as_key(values_a.get(path)) == as_key(values_b[path])
    ]
    names = []
    for side, values in ((a, values_a), (b, values_b)):
        own = [path for path in (LABEL, *side.session.axes) if path not in common]
        parts = [describe_point(side.session, values, own)]
        if side.choice.probe is not None:
            parts.append(f"{title_axis(str(side.session.seek))} {format_number(side.choice.probe)}")
        if a.session.sweep.path != b.session.sweep.path:
            parts.insert(0, side.session.sweep.path.name)
        names.append(", ".join(part for part in parts if part))
    return describe_point(a.session, values_a, common), names[0], names[1]


def _measure(
    side: Side, points: Sequence[str], columns: Sequence[str]
) -> dict[str, dict[int, dict[str, object]]]:
    """Return the results of each point by replicate; of a seek at the probe, or just below the answer."""
    session, probe = side.session, side.choice.probe
    available = {*results_schema().names, session.metric if probe is None else None}
    source, condition = "replicates", ""
    if probe is not None:
        source, condition = "runs", f" AND status = 'ok' AND {quote(str(session.seek))} = {probe}"
    wanted = [name for name in columns if name in available]
    listed = ", ".join(map(quote, ["point_id", "replicate", "run_id", *wanted]))
    rows = session.sql(
        f"SELECT {listed} FROM {source} WHERE point_id IN (SELECT unnest($ids)){condition}",  # noqa: S608
        {"ids": list(points)},
    ).to_pylist()
    by_point: dict[str, dict[int, dict[str, object]]] = {}
    for row in rows:
        by_point.setdefault(row["point_id"], {})[row["replicate"]] = row
    return by_point


def _pick(rows: Mapping[int, Mapping[str, object]], column: str) -> dict[int, float]:
    return {
        replicate: float(value)
        for replicate, row in rows.items()
        if isinstance(value := row.get(column), int | float)
    }
