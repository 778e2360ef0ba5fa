"""Estimators of sensitivity on functions with known indices, and their laws on random functions."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from destage.sensitivity.estimators import (
    choose_basis,
    crossed_shares,
    elementary_effects,
    factorial_shares,
    given_data_shares,
    jackknife_error,
    saltelli_shares,
    summarize_effects,
)
from destage.sensitivity.sensitivity_table import combine_replicates
from destage.student import half_width
from destage.sweeps.space.designs import combine_samples, count_rows, sample_cube, sample_trajectories

Function = Callable[[np.ndarray], np.ndarray]
ISHIGAMI_VARIANCE = 7**2 / 8 + 0.1 * np.pi**4 / 5 + 0.1**2 * np.pi**8 / 18 + 0.5
ISHIGAMI_FIRST = np.array([(1 + 0.1 * np.pi**4 / 5) ** 2 / 2, 7**2 / 8, 0.0]) / ISHIGAMI_VARIANCE
ISHIGAMI_PAIR = 0.1**2 * np.pi**8 * (1 / 18 - 1 / 50) / ISHIGAMI_VARIANCE
ISHIGAMI_TOTAL = ISHIGAMI_FIRST + np.array([ISHIGAMI_PAIR, 0.0, ISHIGAMI_PAIR])
"""T. Ishigami, T. Homma 1990, with a = 7 and b = 0.1; axes 0 and 2 interact."""
G_WEIGHTS = np.array([0.0, 1.0, 4.5, 9.0, 99.0])
"""The parameters of Sobol's g-function (A. Saltelli, I. M. Sobol 1995)."""


def ishigami(cube: np.ndarray) -> np.ndarray:
    x = np.pi * (2 * cube - 1)
    value: np.ndarray = np.sin(x[..., 0]) + 7 * np.sin(x[..., 1]) ** 2
    return value + 0.1 * x[..., 2] ** 4 * np.sin(x[..., 0])


def g_function(cube: np.ndarray) -> np.ndarray:
    value: np.ndarray = ((abs(4 * cube - 2) + G_WEIGHTS) / (1 + G_WEIGHTS)).prod(axis=-1)
    return value


def g_indices() -> tuple[np.ndarray, np.ndarray]:
    parts = 1 / (3 * (1 + G_WEIGHTS) ** 2)
    variance = (1 + parts).prod() - 1
    return parts / variance, parts * (1 + parts).prod() / (1 + parts) / variance


def sample(function: Function, axes: int, points: int, *, pairs: bool = False, seed: int = 1) -> np.ndarray:
    base = sample_cube("sobol", points, 2 * axes, seed)
    rows = combine_samples(base, second_order=pairs)
    return function(rows.reshape(1, points, count_rows(axes, second_order=pairs), axes))


def test_saltelli_finds_the_indices_of_ishigami() -> None:
    found = saltelli_shares(sample(ishigami, 3, 4096, pairs=True), 3)
    assert found.total is not None
    assert found.pairs is not None
    assert found.first == pytest.approx(ISHIGAMI_FIRST, abs=0.02)
    assert found.total == pytest.approx(ISHIGAMI_TOTAL, abs=0.01)
    expected = np.zeros((3, 3))
    expected[0, 2] = expected[2, 0] = ISHIGAMI_PAIR
    assert found.pairs == pytest.approx(expected, abs=0.02)


def test_saltelli_finds_the_indices_of_the_g_function() -> None:
    first, total = g_indices()
    found = saltelli_shares(sample(g_function, 5, 4096), 5)
    assert found.first == pytest.approx(first, abs=0.02)
    assert found.total == pytest.approx(total, abs=0.02)
    assert found.pairs is None


def test_saltelli_agrees_with_scipy() -> None:
    """Oracle: scipy.stats.sobol_indices, whose first-order estimator centres the values as ours does."""
    stats = pytest.importorskip("scipy.stats")
    values = sample(ishigami, 3, 256)[0]
    expected = stats.sobol_indices(
        func={"f_A": values[None, :, 0], "f_B": values[None, :, 4], "f_AB": values[:, 1:4].T[:, None]}, n=256
    )
    found = saltelli_shares(values[None], 3)
    assert found.first == pytest.approx(expected.first_order, abs=0.01)
    assert found.total == pytest.approx(expected.total_order, abs=0.01)


def test_intervals_of_saltelli_contain_the_indices_at_about_their_rate() -> None:
    """Random base samples, of which the jackknife is the exact error; 60 of them, 6 indices each."""
    random, inside = np.random.default_rng(1), 0
    for _ in range(60):
        rows = combine_samples(random.random((200, 6)), second_order=False)
        values = ishigami(rows.reshape(1, 200, 5, 3))

        def statistics(kept: np.ndarray, values: np.ndarray = values) -> np.ndarray:
            found = saltelli_shares(values[:, kept], 3)
            return np.concatenate([found.first, found.total])

        estimate = combine_replicates(statistics(np.arange(200))[None], jackknife_error(statistics, 200))
        truth = np.concatenate([ISHIGAMI_FIRST, ISHIGAMI_TOTAL])
        inside += int(((estimate.low <= truth) & (truth <= estimate.high)).sum())
    assert 0.9 * 360 < inside <= 360


def test_given_data_finds_the_first_order_of_ishigami() -> None:
    for method in ("sobol", "halton", "latin_hypercube"):
        cube = sample_cube(method, 1024, 3, 1)
        bases = [choose_basis(cube[:, axis].argsort().argsort(), is_ordered=True) for axis in range(3)]
        assert given_data_shares(ishigami(cube), bases) == pytest.approx(ISHIGAMI_FIRST, abs=0.03)


def test_given_data_is_unbiased_for_an_axis_without_effect() -> None:
    random = np.random.default_rng(1)
    shares = []
    for _ in range(300):
        codes = [random.integers(0, 5, 60), random.permutation(60)]
        bases = [choose_basis(one, is_ordered=True) for one in codes]
        shares.append(given_data_shares(random.normal(size=60), bases))
    assert np.mean(shares, axis=0) == pytest.approx([0.0, 0.0], abs=0.01)


def test_given_data_of_a_grid_is_its_analysis_of_variance_with_few_classes() -> None:
    """Worked by hand: the shares of y = 3 a + b over a in 0, 1 and b in 0, 1, 2, then corrected."""
    codes = np.array(list(itertools.product(range(2), range(3))))
    values = codes @ [3.0, 1.0]
    found = given_data_shares(values, [choose_basis(codes[:, axis], is_ordered=False) for axis in (0, 1)])
    variances = np.array([9 / 4, 2 / 3])
    shares = variances / variances.sum()
    assert found == pytest.approx([1 - (1 - shares[0]) * 5 / 4, 1 - (1 - shares[1]) * 5 / 3])


def test_a_grid_worked_by_hand() -> None:
    """The function a + b + 2 a b over a, b in -1, 1: variances 1, 1 and 4."""
    a, b = np.meshgrid([-1.0, 1.0], [-1.0, 1.0], indexing="ij")
    found = factorial_shares(10 + a + b + 2 * a * b)
    assert found.total is not None
    assert found.pairs is not None
    assert found.first == pytest.approx([1 / 6, 1 / 6])
    assert found.total == pytest.approx([5 / 6, 5 / 6])
    assert found.pairs == pytest.approx(np.array([[0, 4 / 6], [4 / 6, 0]]))


def test_a_grid_of_equal_values_has_no_shares() -> None:
    found = factorial_shares(np.full((2, 3), 0.1))
    assert np.isnan(found.first).all()
    assert np.isnan(saltelli_shares(np.full((1, 8, 4), 0.1), 2).first).all()


@st.composite
def grids(draw: Any) -> np.ndarray:
    shape = draw(st.lists(st.integers(2, 4), min_size=1, max_size=4))
    seed = draw(st.integers(0, 2**32 - 1))
    return np.random.default_rng(seed).normal(size=shape) * draw(st.sampled_from([1e-6, 1.0, 1e6]))


@given(grids())
def test_the_shares_of_all_subsets_of_axes_sum_to_one(values: np.ndarray) -> None:
    """With the shares by inclusion and exclusion of the variances of means, a naive form of the estimator."""
    axes = range(values.ndim)
    explained = {
        kept: values.mean(axis=tuple(one for one in axes if one not in kept)).var()
        for size in range(values.ndim + 1)
        for kept in itertools.combinations(axes, size)
    }
    shares = {
        kept: sum(
            (-1) ** (len(kept) - len(part)) * variance
            for part, variance in explained.items()
            if set(part) <= set(kept)
        )
        / values.var()
        for kept in explained
    }
    found = factorial_shares(values)
    assert found.total is not None
    assert found.pairs is not None
    assert sum(shares.values()) == pytest.approx(1)
    for axis in axes:
        assert found.first[axis] == pytest.approx(shares[axis,], abs=1e-9)
        total = sum(share for kept, share in shares.items() if axis in kept)
        assert found.total[axis] == pytest.approx(total, abs=1e-9)
    for pair in itertools.combinations(axes, 2):
        assert found.pairs[pair] == pytest.approx(shares[pair], abs=1e-9)


@given(grids())
def test_first_order_is_at_most_total_and_sums_to_at_most_one(values: np.ndarray) -> None:
    found = factorial_shares(values)
    assert found.total is not None
    assert found.first.sum() <= 1 + 1e-9
    assert (found.first <= found.total + 1e-9).all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(2, 5))
def test_of_an_additive_function_total_is_first_order(seed: int, rows: int, columns: int) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(size=rows)[:, None] + random.normal(size=columns)
    found = factorial_shares(values)
    assert found.total == pytest.approx(found.first)
    assert found.first.sum() == pytest.approx(1)
    # An axis without effect beside them has no share.
    assert factorial_shares(np.stack([values] * 3)).first[0] == pytest.approx(0, abs=1e-12)


def test_a_pure_interaction_has_no_first_order() -> None:
    found = saltelli_shares(sample(lambda cube: (cube[..., 0] - 0.5) * (cube[..., 1] - 0.5), 3, 1024), 3)
    assert found.first == pytest.approx([0, 0, 0], abs=0.01)
    assert found.total == pytest.approx([1, 1, 0], abs=0.01)
    assert found.total is not None
    assert found.total[2] == 0


def test_a_crossed_design_has_the_indices_of_the_function_with_its_grid() -> None:
    """Oracle: one of the axes of the g-function is a grid of the middles of 64 equal parts."""
    first, total = g_indices()
    base = sample_cube("sobol", 512, 8, 1)
    rows = combine_samples(base, second_order=False).reshape(512, 6, 4)
    values = np.stack(
        [
            g_function(np.concatenate([np.full((512, 6, 1), level), rows], axis=-1))
            for level in (np.arange(64) + 0.5) / 64
        ]
    )
    sampled = saltelli_shares(values, 4)
    beside = crossed_shares(values[:, :, [0, 5]].reshape(64, -1), (64,))
    assert sampled.total is not None
    assert beside.total is not None
    assert [*beside.first, *sampled.first] == pytest.approx(first, abs=0.02)
    assert [*beside.total, *sampled.total] == pytest.approx(total, abs=0.02)


def test_elementary_effects_of_a_linear_function_are_its_slopes() -> None:
    slopes = np.array([2.0, -3.0, 0.0])
    levels = sample_trajectories(10, 3, 1, 4).reshape(10, 4, 3)
    found = summarize_effects(elementary_effects((levels @ slopes)[None], levels))
    assert found.mu == pytest.approx(slopes)
    assert found.mu_star == pytest.approx(abs(slopes))
    assert found.sigma == pytest.approx([0, 0, 0], abs=1e-12)


def test_elementary_effects_of_an_interaction_worked_by_hand() -> None:
    """The function x0 x1 and twice of it: the slope along one axis is the other."""
    levels = np.array([[[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]])
    values = levels.prod(axis=-1)
    effects = elementary_effects(np.stack([values, 2 * values]), levels)
    assert effects.tolist() == [[[1.0, 1.0]], [[2.0, 2.0]]]
    assert summarize_effects(effects).sigma == pytest.approx([0.5**0.5, 0.5**0.5])


def test_the_interval_over_replicates_is_a_t_interval() -> None:
    values = [0.2, 0.3, 0.4, 0.35]
    found = combine_replicates(np.array(values)[:, None], None)
    assert found.value == pytest.approx([np.mean(values)])
    assert found.high - found.value == pytest.approx([half_width(values)])
    assert np.isnan(combine_replicates(np.array([[0.5]]), None).low).all()


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    values = np.random.default_rng(1).normal(size=40)
    error, groups = jackknife_error(lambda rows: values[rows].mean(keepdims=True), 40)
    assert groups == 40
    assert error == pytest.approx([values.std(ddof=1) / 40**0.5])
