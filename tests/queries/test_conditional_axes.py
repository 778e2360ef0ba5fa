"""Axes that only some points assign (`when`), against plain computations over the grid as written."""

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

RAID, UNIT, USERS = "array.raid", "array.stripe_unit", "workload.users"
RESULT = "response_p95_us"
KIB = 1024
REPLICATES = 3
TYPES = {RAID: pa.string(), UNIT: pa.int64(), USERS: pa.int64()}


class Grid:
    """A random grid whose stripe unit is an axis of RAID 5 alone."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.axes: dict[str, list[Any]] = {
            RAID: ["10", "5"],
            UNIT: (64 * KIB * (1 + np.arange(random.integers(2, 5)))).tolist(),
            USERS: (10 * (1 + np.arange(random.integers(2, 4)))).tolist(),
        }
        shape = tuple(map(len, self.axes.values()))
        self.values = random.lognormal(size=(REPLICATES, *shape))
        self.values[:, 0] = 5 * self.values[:, 0, :1]
        self.points = shape[2] * (1 + shape[1])

    def list_runs(self) -> list[Mapping[str, Any]]:
        """Return the runs of each point, once."""
        runs = []
        for raid, unit, users in product(*map(range, self.values.shape[1:])):
            if raid == 0 and unit > 0:
                continue
            written = {
                path: values[at]
                for (path, values), at in zip(self.axes.items(), (raid, unit, users), strict=True)
            }
            runs += [
                {
                    "point_id": f"{raid}-{unit}-{users}",
                    "replicate": replicate,
                    "run_id": f"{raid}-{unit}-{users}-{replicate}",
                    RESULT: float(self.values[replicate, raid, unit, users]),
                    **written,
                    UNIT: None if raid == 0 else written[UNIT],
                }
                for replicate in range(REPLICATES)
            ]
        return runs


@pytest.fixture(params=range(4))
def grid(request: pytest.FixtureRequest) -> Grid:
    """Give a random grid."""
    return Grid(request.param)


@pytest.fixture
def session(grid: Grid, make_session: Callable[..., Session]) -> Session:
    """Give the sweep of the grid."""
    return make_session(grid.list_runs(), axes=TYPES, when={UNIT: "raid = '5'"})


def test_an_axis_is_null_where_its_condition_is_false(grid: Grid, session: Session) -> None:
    for relation in ("points", "configurations", "design_space"):
        (statement,) = session.split(f"SELECT raid, stripe_unit FROM {relation}")  # noqa: S608 - names of the test
        rows = session.run(statement).to_pylist()
        assert len(rows) == grid.points == session.point_count
        assert all((row["stripe_unit"] is None) == (row["raid"] == "10") for row in rows)


def test_shares_of_the_variance_are_those_of_the_grid_as_written(grid: Grid, session: Session) -> None:
    rows = {row["axis"]: row for row in analyse_sweep(session.sweep, [RESULT])["sensitivity"].to_pylist()}
    assert rows.keys() == grid.axes.keys()
    for axis, path in enumerate(grid.axes):
        others = tuple(at for at in range(3) if at != axis)
        share = np.mean([one.mean(axis=others).var() / one.var() for one in grid.values])
        assert rows[path]["method"] == "factorial"
        assert rows[path]["first_order"] == pytest.approx(share)
        assert (rows[path]["points"], rows[path]["excluded"]) == (grid.points, 0)


def test_marginals_are_those_of_the_grid_as_written(grid: Grid, session: Session) -> None:
    found = {(row["axis"], row["value"]): row for row in session.query("marginals").to_pylist()}
    expected = {
        (session.names[path], str(value)): grid.values.take(at, axis=axis + 1).mean()
        for axis, (path, values) in enumerate(grid.axes.items())
        for at, value in enumerate(values)
    }
    assert found.keys() == expected.keys()
    for key, mean in expected.items():
        assert found[key][RESULT] == pytest.approx(mean)
        assert found[key][f"effect_{RESULT}"] == pytest.approx(mean - grid.values.mean())


def test_a_point_is_found_and_compared_at_every_value(grid: Grid, session: Session) -> None:
    for unit in grid.axes[UNIT]:
        conditions = [f"stripe_unit = '{unit // KIB}KiB' AND raid = '10'"]
        assert len(choose_points(session, conditions, "--a").points) == len(grid.axes[USERS])
    a, b = (Side(session, choose_points(session, [f"raid = '{raid}'"], "--a")) for raid in ("10", "5"))
    found = compare_points(a, b, [RESULT])
    assert (list(found.unmatched_a), list(found.unmatched_b)) == ([], [])
    assert len(found.pairs) == len(b.choice.points)


def test_no_limit_of_the_axis_leaves_out_a_point(grid: Grid, session: Session) -> None:
    limit = float(np.median(grid.values.mean(axis=0)))
    found = discover(session, f"{RESULT} <= {limit!r}")
    assert len(found.cases.holds) == grid.points
    bare = [value is None for value in found.cases.points[UNIT].to_pylist()]
    assert sum(bare) == len(grid.axes[USERS])
    if found.box is not None and UNIT in found.axes:
        assert found.box.axes[found.axes.index(UNIT)].is_ordered


def test_a_plan_that_was_stored_with_values_still_opens(
    grid: Grid, make_session: Callable[..., Session]
) -> None:
    """Version 0.1 wrote the value of the configuration where the condition was false."""
    runs = [{**run, UNIT: run[UNIT] or 512 * KIB} for run in grid.list_runs()]
    session = make_session(runs, axes=TYPES, when={UNIT: "raid = '5'"})
    assert session.point_count == grid.points
    assert len(analyse_sweep(session.sweep, [RESULT])["sensitivity"]) == 3
    assert session.query("marginals").num_rows > 0
