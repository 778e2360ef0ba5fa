"""The estimator that fits the points, and what is left out; on values that the tests choose."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from destage.sensitivity.analysis import analyse
from destage.sensitivity.point_values import MORRIS, SALTELLI, DesignRows, PointValues, collect_values
from destage.sweeps.space.designs import combine_samples, sample_cube, sample_trajectories

AXES = ("a", "b")
NAN = float("nan")


def make_values(
    axes: dict[str, Sequence[object]],
    values: Sequence[Sequence[float]] | np.ndarray,
    labels: Sequence[str | None] | None = None,
) -> PointValues:
    count = len(next(iter(axes.values())))
    names = pa.array(labels or [None] * count, pa.string())
    ids = pa.array([f"p{at}" for at in range(count)])
    points = pa.table({"point_id": ids, "label": names, **axes})
    measured = np.array(values, float)
    return PointValues("response_p95_us", points, measured, np.zeros(measured.shape, bool), np.arange(count))


def grid(function: Callable[[int, int], float], replicates: int = 3) -> PointValues:
    """Return a grid of 3 x 2 with noise that differs between replicates."""
    cells = list(product([1, 2, 4], [0, 1]))
    noise = np.random.default_rng(1).normal(size=(6, replicates)) * 0.01
    values = np.array([[function(*cell)] * replicates for cell in cells]) + noise
    return make_values({"a": [a for a, _ in cells], "b": [b for _, b in cells]}, values)


def rows_of(found: PointValues, design: DesignRows | None = None) -> dict[str, dict[str, Any]]:
    return {row["axis"]: row for row in analyse(found, AXES, design)["sensitivity"].to_pylist()}


def test_a_full_grid_is_analysed_exactly_within_each_replicate() -> None:
    rows = rows_of(grid(lambda a, b: a + 10 * b))
    assert {row["method"] for row in rows.values()} == {"factorial"}
    variances = np.array([np.var([1, 2, 4]), 25.0])
    assert rows["a"]["first_order"] == pytest.approx(variances[0] / variances.sum(), abs=0.01)
    assert rows["b"]["total_order"] == pytest.approx(variances[1] / variances.sum(), abs=0.01)
    assert rows["a"]["first_order_low"] < rows["a"]["first_order"] < rows["a"]["first_order_high"]
    assert {row["covers"] for row in rows.values()} == {"replicates"}
    assert (rows["a"]["n"], rows["a"]["points"], rows["a"]["excluded"]) == (3, 6, 0)
    # The one that matters most is first.
    assert list(rows) == ["b", "a"]


def test_noise_common_to_all_points_changes_no_index() -> None:
    """As common random numbers do: each replicate has a level of its own."""
    found = grid(lambda a, b: a * b)
    shifted = replace(found, values=found.values + np.array([0.0, 100.0, -50.0]))
    for axis, row in rows_of(shifted).items():
        assert row["total_order"] == pytest.approx(rows_of(found)[axis]["total_order"])
        assert row["total_order_low"] == pytest.approx(rows_of(found)[axis]["total_order_low"])


def test_pairs_have_the_rest_of_the_variance() -> None:
    tables = analyse(grid(lambda a, b: a * b), AXES, None)
    (pair,) = tables["interactions"].to_pylist()
    assert (pair["axis"], pair["other_axis"]) == ("a", "b")
    first = sum(tables["sensitivity"]["first_order"].to_pylist())
    assert pair["share"] == pytest.approx(1 - first)


def test_a_grid_with_a_hole_is_no_grid() -> None:
    found = grid(lambda a, b: a + 10 * b)
    found.values[0] = NAN
    rows = rows_of(found)
    assert {row["method"] for row in rows.values()} == {"given_data"}
    assert {row["total_order"] for row in rows.values()} == {None}
    assert {row["excluded"] for row in rows.values()} == {1}
    assert {row["covers"] for row in rows.values()} == {"replicates and sampling"}


def test_additional_replicates_of_some_points_are_not_used() -> None:
    found = grid(lambda a, b: a + b, replicates=4)
    found.values[2:, 3] = NAN
    assert {row["n"] for row in rows_of(found).values()} == {3}


def test_named_points_beside_a_grid_are_left_out() -> None:
    base = grid(lambda a, b: a + b)
    axes = {name: [*base.points[name].to_pylist(), 7] for name in AXES}
    labels = [*[None] * 6, "another"]
    found = make_values(axes, [*base.values, [99.0] * 3], labels)
    rows = rows_of(found)
    assert rows["a"]["method"] == "factorial"
    assert rows["a"]["first_order"] == rows_of(base)["a"]["first_order"]
    assert rows["a"]["excluded"] == 1


def test_an_axis_with_one_value_is_left_out_and_texts_are_values() -> None:
    found = make_values({"a": ["5", "10"], "b": [1, 1]}, [[1.0, 2.0], [3.0, 4.0]])
    rows = rows_of(found)
    assert list(rows) == ["a"]
    assert rows["a"]["first_order"] == 1.0


def test_nothing_varies() -> None:
    assert rows_of(make_values({"a": [1], "b": [1]}, [[1.0]])) == {}
    assert rows_of(make_values({"a": [1, 2], "b": [1, 1]}, [[NAN], [NAN]])) == {}
    equal = rows_of(make_values({"a": [1, 2], "b": [1, 1]}, [[5.0, 5.0], [5.0, 5.0]]))
    assert equal["a"]["first_order"] is None


def design_of(
    method: str, levels: np.ndarray, per_unit: int, strata: int = 1
) -> tuple[DesignRows, list[str]]:
    """Return a design whose rows are points of their own, and their ids, stratum by stratum."""
    ids = [f"p{at}" for at in range(len(levels) * strata)]
    table = pa.table(
        {
            "stratum": np.repeat(np.arange(strata), len(levels)),
            "row": np.tile(np.arange(len(levels)), strata),
            "point_id": ids,
        }
    )
    return DesignRows(method, ["a"] if levels.shape[1] == 1 else ["a", "b"], levels, per_unit, table), ids


def test_a_saltelli_design_has_first_and_total_order_with_sampling_error() -> None:
    levels = combine_samples(sample_cube("sobol", 256, 4, 1), second_order=False)
    design, _ = design_of(SALTELLI, levels, 4)
    noise = np.random.default_rng(1).normal(size=(len(levels), 2)) * 0.001
    found = make_values({"a": levels[:, 0], "b": levels[:, 1]}, (levels @ [1.0, 2.0])[:, None] + noise)
    rows = rows_of(found, design)
    assert rows["b"]["method"] == "saltelli"
    assert rows["b"]["total_order"] == pytest.approx(0.8, abs=0.02)
    assert rows["a"]["first_order"] == pytest.approx(0.2, abs=0.02)
    assert rows["a"]["total_order_low"] < 0.2 < rows["a"]["total_order_high"]
    assert rows["a"]["covers"] == "replicates and sampling"


def test_a_base_sample_that_lacks_a_value_is_left_out() -> None:
    levels = combine_samples(sample_cube("sobol", 64, 4, 1), second_order=False)
    design, _ = design_of(SALTELLI, levels, 4)
    found = make_values({"a": levels[:, 0], "b": levels[:, 1]}, (levels @ [1.0, 2.0])[:, None])
    found.values[5] = NAN
    row = rows_of(found, design)["a"]
    assert (row["method"], row["points"], row["excluded"]) == ("saltelli", 252, 4)
    assert row["covers"] == "sampling"


def test_a_saltelli_design_crossed_with_a_grid_has_all_axes() -> None:
    levels = combine_samples(sample_cube("sobol", 64, 2, 1), second_order=False)
    design, _ = design_of(SALTELLI, levels, 3, strata=2)
    b = np.repeat(["slow", "fast"], len(levels))
    a = np.tile(levels[:, 0], 2)
    found = make_values({"a": a, "b": b}, (a + (b == "slow") * 1.0)[:, None])
    rows = rows_of(found, design)
    assert rows["b"]["first_order"] == pytest.approx(0.75, abs=0.02)
    assert rows["a"]["total_order"] == pytest.approx(0.25, abs=0.02)


def test_a_morris_design_has_effects_over_all_strata() -> None:
    levels = sample_trajectories(8, 1, 1, 4)
    design, _ = design_of(MORRIS, levels, 2, strata=2)
    a = np.tile(levels[:, 0], 2)
    slope = np.repeat([1.0, -3.0], len(levels))
    found = make_values({"a": a, "b": slope}, (a * slope)[:, None])
    (row,) = rows_of(found, design).values()
    assert (row["mu"], row["mu_star"]) == (pytest.approx(-1.0), pytest.approx(2.0))
    assert row["first_order"] is None


PLAN = pa.table(
    {
        "point_id": ["p", "p", "q", "q"],
        "label": pa.nulls(4, pa.string()),
        "replicate": [0, 1, 0, 1],
        "run_id": ["r0", "r1", "r2", "r0"],
        "a": [1, 1, 2, 2],
    }
)


def test_values_of_points_that_share_runs_and_of_runs_that_failed() -> None:
    rows = pa.table(
        {"run_id": ["r2", "r0", "r1"], "status": ["ok", "ok", "overloaded"], "requests": [7, 5, 6]}
    )
    found = collect_values("requests", PLAN, ["a"], rows, None)
    assert np.array_equal(found.values, [[5.0, NAN], [7.0, 5.0]], equal_nan=True)
    assert found.points["a"].to_pylist() == [1, 2]


def test_answers_by_replicate_with_their_bounds() -> None:
    certificates = pa.table(
        {
            "point_id": ["q", "p", "p", "q"],
            "replicate": [0, 0, 1, 1],
            "n": [30.0, 10.5, 12.0, None],
            "run_id_pass": ["r2", "r0", "r1", None],
            "state": ["at_least", "certified", "certified", "failed"],
        }
    )
    found = collect_values("users_supported", PLAN, ["a"], None, certificates)
    assert np.array_equal(found.values, [[10.5, 12.0], [30.0, NAN]], equal_nan=True)
    assert found.is_bound.tolist() == [[False, False], [True, False]]
    rows = pa.table({"run_id": ["r0", "r2"], "status": ["ok", "ok"], "requests": [5, 7]})
    at_answers = collect_values("requests", PLAN, ["a"], rows, certificates)
    assert np.array_equal(at_answers.values, [[5.0, NAN], [7.0, NAN]], equal_nan=True)


def test_points_of_one_sampled_row_are_one_unit_of_the_sample() -> None:
    """Each row of the sample twice, at both values of a grid: no more is known than from the rows once."""
    cube = sample_cube("sobol", 64, 2, 1)
    values = cube @ [1.0, 0.5] + np.random.default_rng(1).normal(size=64) * 0.2
    once = make_values({"a": cube[:, 0], "b": cube[:, 1], "c": [0] * 64}, values[:, None])
    both = {name: np.repeat(cube[:, at], 2) for at, name in enumerate(AXES)}
    twice = make_values({**both, "c": np.tile([0, 1], 64)}, np.repeat(values, 2)[:, None])
    rows = [
        analyse(found, ["a", "b", "c"], None, AXES)["sensitivity"].to_pylist()[0] for found in (once, twice)
    ]
    widths = [row["first_order_high"] - row["first_order_low"] for row in rows]
    assert [row["axis"] for row in rows] == ["a", "a"]
    assert widths[1] == pytest.approx(widths[0], rel=0.15)
