"""Axes that have no effect at some points, against plain computations over the grid as written."""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from destage.queries import Session
from destage.queries.pairs.discovered_box import discover
from destage.queries.pairs.point_choice import choose_points
from destage.queries.pairs.point_pairs import Side, compare_points
from destage.sweeps.execution.analyses import analyse_sweep

CAPACITY, FRACTION, RAID = "controller.cache.capacity", "controller.cache.write_fraction", "array.raid"
STATE = "controller.battery.state"
RESULT = "response_p95_us"
MIB = 2**20
REPLICATES = 3
TYPES = {CAPACITY: pa.int64(), FRACTION: pa.float64(), STATE: pa.string(), RAID: pa.string()}


class Grid:
    """A random grid in which neither write fraction nor battery has an effect without a cache."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.axes: dict[str, list[Any]] = {
            CAPACITY: [0, *(64 * MIB * (1 + np.arange(random.integers(1, 4)))).tolist()],
            FRACTION: np.linspace(0, 1, random.integers(2, 5)).tolist(),
            STATE: ["present", "failed"][: random.integers(1, 3)],
            RAID: ["10", "5", "6"][: random.integers(1, 4)],
        }
        shape = tuple(map(len, self.axes.values()))
        self.values = random.lognormal(size=(REPLICATES, *shape))
        self.values[:, 0] = self.values[:, 0, :1, :1]
        self.configurations = shape[3] * (shape[1] * shape[2] * (shape[0] - 1) + 1)

    def list_runs(self) -> list[Mapping[str, Any]]:
        """Return the runs, of which points with one configuration have the same."""
        runs = []
        for cell in product(*map(range, self.values.shape[1:])):
            shared = (0, 0, 0, cell[3]) if cell[0] == 0 else cell
            runs += [
                {
                    "point_id": str(cell),
                    "replicate": replicate,
                    "run_id": f"{shared}-{replicate}",
                    RESULT: float(self.values[(replicate, *cell)]),
                    **{path: values[at] for (path, values), at in zip(self.axes.items(), cell, strict=True)},
                }
                for replicate in range(REPLICATES)
            ]
        return runs

    def compute_share(self, axis: int) -> float:
        """Return the share of the variance that an axis explains alone, mean over replicates."""
        others = tuple(at for at in range(4) if at != axis)
        return float(np.mean([one.mean(axis=others).var() / one.var() for one in self.values]))


@pytest.fixture(params=range(5))
def grid(request: pytest.FixtureRequest) -> Grid:
    """Give a random grid."""
    return Grid(request.param)


@pytest.fixture
def session(grid: Grid, make_session: Callable[..., Session]) -> Session:
    """Give the sweep of the grid."""
    return make_session(grid.list_runs(), axes=TYPES)


def test_a_configuration_is_one_point_everywhere(grid: Grid, session: Session) -> None:
    assert session.point_count == grid.configurations
    for relation in ("points", "configurations", "design_space"):
        listed = f"write_fraction, {session.names[STATE]}, cache_capacity"
        (statement,) = session.split(f"SELECT {listed} FROM {relation}")  # noqa: S608 - names of the test
        rows = session.run(statement).to_pylist()
        assert len(rows) == grid.configurations
        for row in rows:
            assert (row["write_fraction"] is None) == (row["cache_capacity"] == 0)
            is_inert = row["cache_capacity"] == 0 and len(grid.axes[STATE]) > 1
            assert (row[session.names[STATE]] is None) == is_inert
    (statement,) = session.split("SELECT count(*) AS n, count(DISTINCT run_id) AS runs FROM runs")
    assert session.run(statement).to_pylist() == [
        {"n": grid.configurations * REPLICATES, "runs": grid.configurations * REPLICATES}
    ]


def test_shares_of_the_variance_are_those_of_the_grid_as_written(grid: Grid, session: Session) -> None:
    rows = analyse_sweep(session.sweep, [RESULT])["sensitivity"].to_pylist()
    assert {row["axis"] for row in rows} == {path for path, values in grid.axes.items() if len(values) > 1}
    for row in rows:
        assert row["method"] == "factorial"
        assert row["first_order"] == pytest.approx(grid.compute_share(list(grid.axes).index(row["axis"])))
        assert (row["points"], row["excluded"]) == (grid.configurations, 0)


def test_marginals_are_those_of_the_grid_as_written(grid: Grid, session: Session) -> None:
    found = {(row["axis"], row["value"]): row for row in session.query("marginals").to_pylist()}
    names = {path: session.names[path] for path in grid.axes}
    expected = {}
    for axis, (path, values) in enumerate(grid.axes.items()):
        for at, value in enumerate(values):
            if len(values) > 1:
                mean = grid.values.take(at, axis=axis + 1).mean()
                expected[names[path], str(value)] = mean, mean - grid.values.mean()
    assert found.keys() == expected.keys()
    for key, (mean, effect) in expected.items():
        assert found[key][RESULT] == pytest.approx(mean)
        assert found[key][f"effect_{RESULT}"] == pytest.approx(effect)


def test_no_limit_leaves_out_a_point_without_effect(grid: Grid, session: Session) -> None:
    limit = float(np.median(grid.values.mean(axis=0)))
    found = discover(session, f"{RESULT} <= {limit!r}")
    assert len(found.cases.holds) == grid.configurations
    bare = [value is None for value in found.cases.points[FRACTION].to_pylist()]
    assert sum(bare) == len(grid.axes[RAID])
    if found.box is not None and FRACTION in found.axes:
        at = found.axes.index(FRACTION)
        (codes, allowed) = found.box.axes[at].codes, found.box.allowed[at]
        assert found.box.axes[at].is_ordered
        assert all((codes[bare] < 0).tolist())
        assert len(allowed) == len(grid.axes[FRACTION])


def test_no_cache_is_compared_with_every_write_fraction(grid: Grid, session: Session) -> None:
    a, b = (
        Side(session, choose_points(session, [f"cache_capacity = '{size}'"], "--a"))
        for size in ("0", "64MiB")
    )
    found = compare_points(a, b, [RESULT])
    assert not found.unmatched_a
    assert not found.unmatched_b
    assert len(found.pairs) == len(b.choice.points)
    assert len({pair.point_a for pair in found.pairs}) == len(grid.axes[RAID])


def test_a_point_is_found_by_each_value_written_for_it(grid: Grid, session: Session) -> None:
    for fraction in grid.axes[FRACTION]:
        conditions = [f"write_fraction = {fraction}", "cache_capacity = 0"]
        assert len(choose_points(session, conditions, "--a").points) == len(grid.axes[RAID])
