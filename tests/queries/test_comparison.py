"""Comparisons of points: the statistics of pairs, and which points are pairs."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from destage.errors import QueryError
from destage.queries import Session
from destage.queries.pairs.point_choice import choose_points
from destage.queries.pairs.point_pairs import Side, compare_points, compare_values

CAPACITY, RAID, USERS = "controller.cache.capacity", "array.raid", "workload.users"
MIB = 2**20


def _pairs(count: int, seed: int, correlation: float) -> tuple[dict[int, float], dict[int, float]]:
    """Return values of variance 4 at A and 9 at B, with a correlation, and means 10 and 12."""
    draw = np.random.default_rng(seed)
    a, b = {}, {}
    for replicate in range(count):
        common, own = draw.standard_normal(2).tolist()
        a[replicate] = 10 + 2 * common
        b[replicate] = 12 + 3 * (correlation * common + math.sqrt(1 - correlation**2) * own)
    return a, b


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.6, 0.95])
def test_variance_reduction_is_that_of_the_covariance(correlation: float) -> None:
    found = compare_values("x", *_pairs(50_000, 1, correlation))
    assert found is not None
    expected = (4 + 9) / (4 + 9 - 2 * correlation * 2 * 3)
    assert found.variance_reduction == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_interval_contains_the_difference_in_95_of_100(correlation: float) -> None:
    trials = 2_000
    hits = 0
    for seed in range(trials):
        found = compare_values("x", *_pairs(5, seed, correlation))
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 2 <= found.high
    assert hits / trials == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / trials))


def test_pairs_worked_by_hand() -> None:
    """Differences 1, 2, 3: mean 2, variance 1, and t(2) = 4.3027."""
    found = compare_values("x", {0: 10, 1: 20, 2: 30, 7: 99}, {0: 11, 1: 22, 2: 33, 8: 99})
    assert found is not None
    assert (found.count, found.mean_a, found.mean_b, found.difference) == (3, 20, 22, 2)
    assert found.low == pytest.approx(2 - 4.302653 / math.sqrt(3), rel=1e-6)
    assert found.high == pytest.approx(2 + 4.302653 / math.sqrt(3), rel=1e-6)
    assert found.ratio == pytest.approx(1.1)
    assert found.variance_reduction == pytest.approx(100 + 121)
    assert found.verdict == "no difference shown"


def test_equal_values_show_no_difference() -> None:
    values = {0: 3.1, 1: 2.7, 2: 9.9}
    found = compare_values("x", values, dict(values))
    assert found is not None
    assert (found.difference, found.low, found.high, found.ratio) == (0, 0, 0, 1)
    assert found.variance_reduction is None
    assert found.verdict == "equal"


def test_a_difference_that_no_table_shows_is_none() -> None:
    """Hit ratios of 1 and of 3 in a million less; the interval is far from 0 and means nothing."""
    found = compare_values(
        "read_hit_ratio", dict.fromkeys(range(3), 1.0), {0: 0.999997, 1: 0.999996, 2: 0.999997}
    )
    assert found is not None
    assert (found.is_shown, found.is_negligible, found.verdict) == (True, True, "equal within 0.01 %")


def test_a_small_mean_with_a_wide_interval_is_not_equal() -> None:
    found = compare_values("x", {0: 1.0, 1: 1.0, 2: 1.0}, {0: 1.1, 1: 0.9, 2: 1.000001})
    assert found is not None
    assert (found.is_negligible, found.verdict) == (False, "no difference shown")


def test_one_replicate_has_no_interval() -> None:
    found = compare_values("x", {0: 1.0}, {0: 4.0})
    assert found is not None
    assert (found.difference, found.low, found.is_shown, found.verdict) == (3, None, False, "one replicate")
    assert compare_values("x", {0: 1.0}, {1: 1.0}) is None


def test_swapped_sides_have_the_opposite_difference() -> None:
    a, b = _pairs(6, 3, 0.5)
    one, other = compare_values("x", a, b), compare_values("x", b, a)
    assert one is not None
    assert other is not None
    assert one.difference == pytest.approx(-other.difference)
    assert one.low == pytest.approx(-other.high)  # type: ignore[operator]
    assert one.variance_reduction == pytest.approx(other.variance_reduction)


def _run(point: str, replicate: int, capacity: int, raid: str, response: float) -> dict[str, Any]:
    return {
        "point_id": point,
        "replicate": replicate,
        "run_id": f"{point}-{replicate}",
        CAPACITY: capacity,
        RAID: raid,
        "response_p95_us": response,
    }


@pytest.fixture
def grid(make_session: Callable[..., Session]) -> Session:
    """Two capacities at two RAID levels, and a third capacity at one of them."""
    points = [(0, "5"), (64 * MIB, "5"), (0, "10"), (64 * MIB, "10"), (128 * MIB, "10")]
    runs = [
        _run(f"p{place}", replicate, capacity, raid, 1000.0 * (place + 1) + replicate)
        for place, (capacity, raid) in enumerate(points)
        for replicate in range(3)
    ]
    return make_session(runs, axes={CAPACITY: pa.int64(), RAID: pa.string()})


def _side(session: Session, *conditions: str) -> Side:
    return Side(session, choose_points(session, conditions, "--a"))


def _found(points: Sequence[Any]) -> list[tuple[str, str]]:
    return [(pair.point_a, pair.point_b) for pair in points]


def test_points_match_in_the_axes_that_no_condition_names(grid: Session) -> None:
    found = compare_points(_side(grid, "cache_capacity = 0"), _side(grid, "cache_capacity = '64MiB'"))
    assert _found(found.pairs) == [("p0", "p1"), ("p2", "p3")]
    (one,) = found.pairs[0].differences
    assert (one.column, one.difference, one.low, one.high) == ("response_p95_us", 1000, 1000, 1000)
    assert (found.pairs[0].common, found.pairs[0].name_b) == ("RAID 5", "cache capacity 64 MiB")


def test_a_point_without_a_partner_is_named(grid: Session) -> None:
    found = compare_points(_side(grid, "raid = '5'"), _side(grid, "raid = '10'"))
    assert _found(found.pairs) == [("p0", "p2"), ("p1", "p3")]
    assert found.unmatched_a == []
    assert found.unmatched_b == ["cache capacity 128 MiB, RAID 1+0"]


def test_one_point_of_each_side_is_a_pair(grid: Session) -> None:
    found = compare_points(
        _side(grid, "capacity = 0 AND raid = '5'"),
        _side(grid, "\"array.raid\" = '10'", "capacity >= '128MiB'"),
    )
    assert _found(found.pairs) == [("p0", "p4")]


def test_a_point_with_several_partners_is_no_pair(grid: Session) -> None:
    """Which of them is meant is not said; it is as without a partner, from either side."""
    one, several = _side(grid, "capacity = 0 AND raid = '5'"), _side(grid, "raid = '10'")
    assert len(several.choice.points) > 1
    for sides in ((one, several), (several, one)):
        with pytest.raises(QueryError) as caught:
            compare_points(*sides)
        assert caught.value.code == "query.no-pairs"


def test_a_sweep_equals_itself(grid: Session) -> None:
    found = compare_points(_side(grid), _side(grid))
    assert len(found.pairs) == 5
    assert all(one.difference == 0 and not one.is_shown for pair in found.pairs for one in pair.differences)


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("cache_capacity", "query.bad-condition"),
        ("colour = 'red'", "query.unknown-name"),
        ("cache_capacity = '63MiB'", "query.no-such-point"),
        ("cache_capacity = '128MiB' AND raid = '5'", "query.no-such-point"),
    ],
)
def test_mistakes_in_conditions_have_codes(grid: Session, condition: str, code: str) -> None:
    with pytest.raises(QueryError) as caught:
        choose_points(grid, [condition], "--a")
    assert (caught.value.code, caught.value.issues[0].place) == (code, "--a")


def test_unknown_columns_and_no_pairs_have_codes(grid: Session) -> None:
    with pytest.raises(QueryError) as caught:
        compare_points(_side(grid, "raid = '5'"), _side(grid, "raid = '10'"), ["response_p96"])
    assert caught.value.code == "query.unknown-column"
    with pytest.raises(QueryError) as caught:
        compare_points(
            _side(grid, "cache_capacity = 0"), _side(grid, "cache_capacity = '64MiB' AND raid = '5'"), []
        )
    assert caught.value.code == "query.no-pairs"


def test_a_seek_is_compared_at_its_answers_or_at_one_load(seek_session: Session) -> None:
    a, b = _side(seek_session, "label = 'no cache'"), _side(seek_session, "cache_capacity = '64MiB'")
    (pair,) = compare_points(a, b, ["users_supported"]).pairs
    assert pair.differences[0].difference == 10
    at_60 = _side(seek_session, "label = 'no cache' AND users = 60")
    (pair,) = compare_points(at_60, at_60, ["response_p95"]).pairs
    assert (pair.name_a, pair.differences[0].count, pair.differences[0].mean_a) == ("users 60", 1, 90_000)
