"""PRIM finds planted boxes; its figures equal a count by brute force; only the order of values counts."""

import itertools
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from destage.discovery.boxes import LEAST_MASS, LEAST_POINTS, Box, list_expanded, peel, whole_box
from destage.discovery.choice import Rule, binomial_tail, choose_box, quasi_p_value
from destage.store.schemas.axis_codes import encode_axis


def make_box(columns: dict[str, Any], is_case: np.ndarray) -> Box:
    return whole_box([encode_axis(pa.chunked_array([pa.array(one)])) for one in columns.values()], is_case)


def find(columns: dict[str, Any], is_case: np.ndarray, rule: Rule | None = None) -> Box | None:
    return choose_box(peel(make_box(columns, is_case)), rule or Rule())


def values_of(box: Box, axis: int) -> list[Any]:
    one = box.axes[axis]
    return [one.values[code] for code in np.flatnonzero(box.allowed[axis])]


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_box_is_found_and_other_axes_stay_free(seed: int) -> None:
    random = np.random.default_rng(seed)
    columns = {name: random.random(1000) for name in "abcde"}
    planted = (columns["a"] < 0.4) & (columns["c"] > 0.3) & (columns["c"] < 0.8)
    box = find(columns, planted)
    assert box is not None
    assert set(box.restricted) >= {0, 2}
    assert (box.density, box.coverage) >= (0.95, 0.9)
    assert max(values_of(box, 0)) == pytest.approx(0.4, abs=0.04)
    assert (min(values_of(box, 2)), max(values_of(box, 2))) == (
        pytest.approx(0.3, abs=0.05),
        pytest.approx(0.8, abs=0.05),
    )
    assert all(quasi_p_value(box, axis) < 1e-6 for axis in (0, 2))


def test_a_planted_box_is_found_through_noise_on_grids_and_categories() -> None:
    """A tenth of the points says the opposite; the axes have few values, or no order."""
    random = np.random.default_rng(1)
    columns = {
        "raid": random.choice(["0", "5", "6", "10"], 2000),
        "disks": random.choice([4, 6, 8, 10, 12], 2000),
        "other": random.integers(0, 4, 2000),
    }
    planted = np.isin(columns["raid"], ["5", "6"]) & (columns["disks"] >= 8)
    box = find(columns, planted ^ (random.random(2000) < 0.1))
    assert box is not None
    assert set(values_of(box, 0)) == {"5", "6"}
    assert values_of(box, 1) == [8, 10, 12]
    assert box.restricted == [0, 1]
    assert box.density == pytest.approx(0.9, abs=0.03)


def test_one_value_in_the_middle_of_an_axis_is_found() -> None:
    columns = {"a": np.tile([1, 2, 3, 4], 50), "b": np.repeat([1, 2], 100)}
    box = find(columns, columns["a"] == 3)
    assert box is not None
    assert (values_of(box, 0), box.restricted) == ([3], [0])
    assert (box.density, box.coverage, box.mass) == (1.0, 1.0, 0.25)


@st.composite
def samples(draw: Any) -> tuple[dict[str, Any], np.ndarray]:
    points = draw(st.integers(30, 120))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = {
        "a": random.random(points),
        "b": random.integers(0, draw(st.integers(1, 6)), points),
        "c": random.choice(["x", "y", "z"], points),
    }
    is_case = random.random(points) < 0.2 + 0.6 * (columns["a"] > 0.5)
    is_case[:2] = [True, False]
    return columns, is_case


@settings(max_examples=40)
@given(samples())
def test_the_figures_of_every_box_equal_a_count(sample: tuple[dict[str, Any], np.ndarray]) -> None:
    columns, is_case = sample
    trajectory = peel(make_box(columns, is_case))
    rows = list(zip(*columns.values(), is_case.tolist(), strict=True))
    for box in trajectory:
        allowed = [set(values_of(box, axis)) for axis in range(3)]
        inside = [case for *row, case in rows if all(map(set.__contains__, allowed, row))]
        assert (box.points, box.cases) == (len(inside), sum(inside))
        assert box.density == sum(inside) / len(inside)
        assert box.coverage == sum(inside) / sum(is_case)
        assert box.mass == len(inside) / len(rows)
    assert trajectory[0].mass == 1
    for before, after in itertools.pairwise(trajectory):
        assert after.points < before.points
        assert (before.is_inside >= after.is_inside).all()
    assert trajectory[-1].points >= max(LEAST_POINTS, round(LEAST_MASS * len(rows)))


@settings(max_examples=40)
@given(samples())
def test_a_monotone_transform_of_an_axis_changes_nothing(sample: tuple[dict[str, Any], np.ndarray]) -> None:
    columns, is_case = sample
    other = {**columns, "a": np.exp(5 * columns["a"]), "b": columns["b"] ** 3 - 7}
    found, same = find(columns, is_case), find(other, is_case)
    assert found is not None
    assert same is not None
    assert (found.is_inside == same.is_inside).all()


@settings(max_examples=40)
@given(samples())
def test_the_chosen_box_meets_its_rule_and_no_expansion_is_better(
    sample: tuple[dict[str, Any], np.ndarray],
) -> None:
    columns, is_case = sample
    trajectory = peel(make_box(columns, is_case))
    for rule in (Rule(density=0.6), Rule(coverage=0.7)):
        box = choose_box(trajectory, rule)
        if box is None:
            assert not any(map(rule.is_met, trajectory))
            continue
        assert rule.is_met(box)
        assert all(rule.rank(other)[0] <= rule.rank(box)[0] for other in list_expanded(box))
    box = choose_box(trajectory, Rule(density=0.6))
    if box is not None:
        # Limits moved outwards can only add cases.
        assert box.coverage >= max(one.coverage for one in trajectory if one.density >= 0.6)


@pytest.mark.parametrize(("least", "trials", "share"), [(0, 5, 0.3), (3, 5, 0.3), (5, 5, 0.3), (40, 60, 0.5)])
def test_the_binomial_tail_is_the_sum_of_its_terms(least: int, trials: int, share: float) -> None:
    expected = sum(
        math.comb(trials, count) * share**count * (1 - share) ** (trials - count)
        for count in range(least, trials + 1)
    )
    assert binomial_tail(least, trials, share) == pytest.approx(expected)


def test_a_limit_that_is_likely_chance_is_removed() -> None:
    """Cases do not depend on the axis: of 20 such samples, most boxes have no limit."""
    free = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        box = find({"a": random.integers(0, 3, 100)}, random.random(100) < 0.5)
        assert box is not None
        free += not box.restricted
    assert free >= 15


def test_points_without_a_value_are_a_category() -> None:
    columns = {"a": [None, 1, 2] * 20}
    box = find(columns, np.array([True, False, False] * 20))
    assert box is not None
    assert values_of(box, 0) == [None]
