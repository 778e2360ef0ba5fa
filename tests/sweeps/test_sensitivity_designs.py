"""Morris's trajectories, Saltelli's sample, and the points of a design's rows."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tests.plain_identities import point_id

from destage import sweeps
from destage.errors import ConfigError
from destage.sweeps import Study
from destage.sweeps.points.grid import tabulate_design
from destage.sweeps.reading.expansion import expand
from destage.sweeps.space.designs import combine_samples, sample_cube, sample_trajectories

MakeStudy = Callable[..., Study]
DISKS, CAPACITY = "array.disks", "controller.cache.capacity"
SAMPLED = {DISKS: {"integer": [2, 5]}, CAPACITY: {"log_uniform": ["64MiB", "1GiB"]}}


@pytest.mark.parametrize("levels", [2, 4, 8])
def test_each_step_of_a_trajectory_changes_another_axis_by_the_step(levels: int) -> None:
    step = levels / (2 * (levels - 1))
    trajectories = sample_trajectories(50, 6, 1, levels).reshape(50, 7, 6)
    assert set(np.unique(np.rint(trajectories * (levels - 1)))) == set(range(levels))
    for rows in trajectories:
        changes = np.diff(rows, axis=0)
        assert (np.count_nonzero(changes, axis=1) == 1).all()
        assert (np.count_nonzero(changes, axis=0) == 1).all()
        assert np.allclose(abs(changes[changes != 0]), step)


def test_levels_directions_and_orders_of_trajectories_are_equally_likely() -> None:
    trajectories = sample_trajectories(4000, 3, 1, 4).reshape(4000, 4, 3)
    levels = Counter(np.rint(trajectories[:, 0] * 3).ravel().tolist())
    rises = (trajectories[:, -1] > trajectories[:, 0]).mean(axis=0)
    orders = Counter(tuple(np.nonzero(np.diff(rows, axis=0))[1]) for rows in trajectories)
    # Within four standard deviations.
    assert all(abs(count - 3000) < 4 * 47 for count in levels.values())
    assert (abs(rises - 0.5) < 4 * 0.008).all()
    assert len(orders) == 6
    assert all(abs(count - 667) < 4 * 24 for count in orders.values())


def test_a_trajectory_worked_by_hand() -> None:
    """The first trajectory of seed 1, which later versions must repeat: stored sweeps have its points.

    By its digest the lower levels are 0, 0, 1 of 0 to 3, axes 0 and 2 start at the upper level, 2 above, and
    the axes change in the order 0, 2, 1.
    """
    expected = [[2, 0, 3], [0, 0, 3], [0, 0, 1], [0, 2, 1]]
    assert (np.rint(sample_trajectories(1, 3, 1, 4) * 3) == expected).all()


def test_the_rows_of_a_base_sample_worked_by_hand() -> None:
    base = np.array([[0.1, 0.2, 0.6, 0.7]])
    first = [[0.1, 0.2], [0.6, 0.2], [0.1, 0.7], [0.6, 0.7]]
    assert combine_samples(base, second_order=False).tolist() == first
    both = combine_samples(base, second_order=True).tolist()
    assert both == [*first, [0.1, 0.7], [0.6, 0.2]]


def test_saltelli_rows_are_uniform_and_a_and_b_independent() -> None:
    rows = combine_samples(sample_cube("sobol", 1024, 6, 1), second_order=False).reshape(1024, 5, 3)
    assert (abs(rows.mean(axis=0) - 0.5) < 0.001).all()
    correlation = np.corrcoef(rows[:, 0].T, rows[:, -1].T)[:3, 3:]
    assert (abs(correlation) < 0.05).all()


def test_indices_of_a_linear_function_are_exact() -> None:
    """Oracle: for y = sum c_k x_k the total index of axis k is c_k^2 / sum c^2 (Jansen's estimator)."""
    weights = np.array([1.0, 2.0, 4.0])
    rows = combine_samples(sample_cube("sobol", 4096, 6, 1), second_order=False).reshape(4096, 5, 3)
    values = rows @ weights
    total = ((values[:, :1] - values[:, 1:4]) ** 2).mean(axis=0) / 2 / values[:, [0, 4]].var()
    assert total == pytest.approx(weights**2 / (weights**2).sum(), abs=0.01)


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        ({"method": "morris", "trajectories": 3}, {"method": "morris", "trajectories": 5}),
        ({"method": "saltelli", "points": 4}, {"method": "saltelli", "points": 8}),
        ({"method": "saltelli", "points": 4}, {"method": "saltelli", "points": 4, "second_order": True}),
        ({"method": "halton", "points": 4}, {"method": "halton", "points": 7}),
    ],
)
def test_an_extended_design_runs_only_its_new_points(
    make_study: MakeStudy, tmp_path: Path, smaller: dict[str, object], larger: dict[str, object]
) -> None:
    before, after = (make_study(axes=SAMPLED, design=design, replicates=1) for design in (smaller, larger))
    assert sweeps.run(before, tmp_path, executor="inline", workers=1).executed == expand(before).count
    outcome = sweeps.run(after, tmp_path, executor="inline", workers=1)
    new = set(tabulate_design(after)["point_id"].to_pylist()) - set(
        tabulate_design(before)["point_id"].to_pylist()
    )
    assert (outcome.executed, outcome.runs) == (len(new), expand(after).count)


def test_every_row_names_its_point_also_a_repeated_one(make_study: MakeStudy) -> None:
    axes = {**SAMPLED, "workload.users": [10, 20]}
    study = make_study(
        axes=axes, design={"method": "morris", "trajectories": 20}, where="users = 10 or disks > 2"
    )
    rows = tabulate_design(study)
    assert study.design is not None
    sampled = study.design.sample()
    count = 20 * 3
    assert rows["row"].to_pylist() == [*range(count), *range(count)]
    assert rows["stratum"].to_pylist() == [0] * count + [1] * count
    for stratum, row, found in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        values = {path: sampled[path][row] for path in SAMPLED} | {"workload.users": [10, 20][stratum]}
        is_kept = stratum == 0 or values[DISKS] > 2
        assert found == (point_id(values) if is_kept else None)
    ids = [one for one in rows["point_id"].to_pylist() if one is not None]
    assert len(set(ids)) < len(ids)
    assert set(ids) == {point.id for point in expand(study).points}


def test_the_rows_of_a_trajectory_are_neighbours(make_study: MakeStudy) -> None:
    study = make_study(axes=SAMPLED, design={"method": "morris", "trajectories": 4, "levels": 8})
    ids = tabulate_design(study)["point_id"].to_pylist()
    found = {point.id: point.axes for point in expand(study).points}
    for first in range(0, len(ids), 3):
        for one, other in pairwise(found[identity] for identity in ids[first : first + 3]):
            assert sum(one[path] != other[path] for path in one) <= 1


@pytest.mark.parametrize(
    ("design", "place", "message"),
    [
        ({"method": "morris", "points": 4}, "design.points", "not used by the method morris; set `traj"),
        ({"method": "morris"}, "design.trajectories", "required by the method morris"),
        ({"method": "morris", "trajectories": 4, "levels": 5}, "design.levels", "must be even"),
        ({"method": "sobol", "points": 4, "levels": 4}, "design.levels", "not used by the method sobol"),
        ({"method": "saltelli", "trajectories": 4}, "design.trajectories", "set `points`"),
        ({}, "design.points", "required by the method sobol"),
    ],
)
def test_keys_that_a_method_lacks(
    make_study: MakeStudy, design: dict[str, object], place: str, message: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        make_study(axes=SAMPLED, design=design)
    assert [issue.place for issue in raised.value.issues] == [place]
    assert message in raised.value.issues[0].message
