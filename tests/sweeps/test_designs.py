"""Sampled axes: their distributions, and designs that extend, repeat and combine with a grid."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from destage import sweeps
from destage.errors import ConfigError
from destage.sweeps import Study
from destage.sweeps.points import configurations
from destage.sweeps.points.configurations import Configurations
from destage.sweeps.reading.expansion import expand
from destage.sweeps.space.designs import SEQUENCES, sample_cube

MakeStudy = Callable[..., Study]
DISKS, CAPACITY = "array.disks", "controller.cache.capacity"


@pytest.mark.parametrize("method", SEQUENCES)
def test_a_design_is_nearer_to_uniform_than_random_points(method: str) -> None:
    means = [abs(sample_cube(method, 256, 5, seed).mean(axis=0) - 0.5).max() for seed in range(10)]
    random = [
        abs(np.random.default_rng(seed).random((256, 5)).mean(axis=0) - 0.5).max() for seed in range(10)
    ]
    assert np.median(means) < np.median(random) / 4


@pytest.mark.parametrize("method", ["sobol", "halton"])
def test_a_sequence_begins_with_the_points_of_a_shorter_one(method: str) -> None:
    longer = sample_cube(method, 96, 4, seed=3)
    assert (longer[:32] == sample_cube(method, 32, 4, seed=3)).all()
    assert not (sample_cube(method, 32, 4, seed=4) == longer[:32]).any()


def test_a_choice_occurs_by_its_weight_and_whole_numbers_equally(make_study: MakeStudy) -> None:
    axes = {"array.raid": {"choice": {"0": 3, "10": 1}}, DISKS: {"integer": [4, 7]}}
    study = make_study(axes=axes, design={"points": 64})
    assert study.design is not None
    sampled = study.design.sample()
    assert Counter(sampled["array.raid"]) == {"0": 48, "10": 16}
    assert Counter(sampled[DISKS]) == {4: 16, 5: 16, 6: 16, 7: 16}


def test_a_log_uniform_axis_has_as_many_values_in_each_doubling(make_study: MakeStudy) -> None:
    study = make_study(axes={CAPACITY: {"log_uniform": ["64MiB", "1GiB"]}}, design={"points": 64})
    assert study.design is not None
    doublings = Counter(int(np.log2(value / 2**26)) for value in study.design.sample()[CAPACITY])
    assert doublings == {0: 16, 1: 16, 2: 16, 3: 16}


MIB, FRACTION = 2**20, "controller.cache.write_fraction"


@pytest.mark.parametrize(
    ("axis", "values"),
    [
        ({"uniform": ["64MiB", "256MiB", "64MiB"]}, [64, 128, 192, 256]),
        ({"integer": ["64MiB", "300MiB", "64MiB"]}, [64, 128, 192, 256]),
    ],
)
def test_steps_are_equally_likely(make_study: MakeStudy, axis: object, values: list[int]) -> None:
    design = make_study(axes={CAPACITY: axis}, design={"points": 64}).design
    assert design is not None
    assert Counter(design.sample()[CAPACITY]) == {value * MIB: 16 for value in values}


def test_a_log_uniform_step_is_the_nearest_to_the_plain_value(make_study: MakeStudy) -> None:
    ends = ["64MiB", "1GiB"]
    plain, stepped = (
        make_study(axes={CAPACITY: {"log_uniform": [*ends, *step]}}, design={"points": 128}).design
        for step in ([], ["8MiB"])
    )
    assert plain is not None
    assert stepped is not None
    pairs = list(zip(plain.sample()[CAPACITY], stepped.sample()[CAPACITY], strict=True))
    assert all(value % (8 * MIB) == 0 for _, value in pairs)
    assert max(abs(value - other) for other, value in pairs) <= 4 * MIB
    assert min(pairs)[1] == 64 * MIB


def test_steps_of_fractions_are_exact(make_study: MakeStudy) -> None:
    design = make_study(axes={FRACTION: {"uniform": [0, 1, 0.1]}}, design={"points": 128}).design
    assert design is not None
    found = set(design.sample()[FRACTION])
    assert found == {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0}
    assert {type(value) for value in found} == {float}


def test_a_repeated_point_is_one_and_a_design_is_combined_with_the_grid(make_study: MakeStudy) -> None:
    axes = {DISKS: {"integer": [1, 3]}, "workload.users": [10, 20]}
    points = expand(make_study(axes=axes, design={"points": 32})).points
    found = [(point.axes[DISKS], point.axes["workload.users"]) for point in points]
    assert sorted(found) == [(disks, users) for disks in (1, 2, 3) for users in (10, 20)]


def test_an_extended_sobol_design_runs_only_its_new_points(make_study: MakeStudy, tmp_path: Path) -> None:
    axes = {CAPACITY: {"log_uniform": ["64MiB", "1GiB"]}}
    for count, executed in ((4, 4), (8, 4), (8, 0)):
        study = make_study(axes=axes, design={"points": count}, replicates=1)
        outcome = sweeps.run(study, tmp_path, executor="inline", workers=1)
        assert (outcome.runs, outcome.executed) == (count, executed)


def test_more_combinations_than_a_whole_number_can_count(
    make_study: MakeStudy, document: dict[str, Any]
) -> None:
    streams = document["scenario"]["workload"]["streams"]
    streams.append({**streams[0], "name": "more"})
    axes: dict[str, object] = {"workload.users": {"integer": [1, 1_000_000]}}
    for stream in range(2):
        axes[f"workload.streams.{stream}.operations.read_fraction"] = {"uniform": [0, 1]}
        axes[f"workload.streams.{stream}.arrival.think_time.mean"] = {"uniform": ["1s", "9s"]}
    study = make_study(axes=axes, design={"points": 8192}, replicates=1)
    assert study.design is not None
    expansion, sampled = expand(study), study.design.sample()
    assert expansion.count == 8192
    for point, row in zip(expansion.points[::1000], range(0, 8192, 1000), strict=True):
        assert point.axes == {path: values[row] for path, values in sampled.items()}


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ({"uniform": ["1GiB", "64MiB"]}, "first number below its second"),
        ({"log_uniform": [0, "64MiB"]}, "both numbers above 0"),
        ({"integer": [1.5, 4]}, "requires whole numbers"),
        ({"uniform": ["64MiB", "1GiB", 1.5]}, "requires whole numbers"),
        ({"uniform": ["64MiB", "1GiB", "0MiB"]}, "a step above 0"),
        ({"log_uniform": ["64MiB", "1GiB", "1GiB"]}, "a step above 0"),
        ({"integer": [1, 4, 2, 3]}, "at most 3 entries"),
        ({"choice": {"64MiB": 0}}, "a weight above 0"),
        ({"choice": ["64MiB", "65536KiB"]}, "a value twice"),
    ],
)
def test_numbers_that_make_no_distribution(make_study: MakeStudy, axis: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_study(axes={CAPACITY: axis}, design={"points": 4})


def test_a_distribution_needs_a_design_and_a_design_a_distribution(make_study: MakeStudy) -> None:
    with pytest.raises(ConfigError, match=r"set `design.points`"):
        make_study(axes={CAPACITY: {"uniform": ["64MiB", "1GiB"]}})
    with pytest.raises(ConfigError, match="no axis has a distribution"):
        make_study(axes={DISKS: [1, 2]}, design={"points": 4})


def test_an_invalid_sampled_value_is_not_explained_at_every_point(
    make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Building a point again takes milliseconds; each of thousands of points has another value."""
    built = []
    build = Configurations._build

    def count(self: Configurations, assignments: Any, **options: Any) -> Any:
        built.append(assignments)
        return build(self, assignments, **options)

    monkeypatch.setattr(Configurations, "_build", count)
    monkeypatch.setattr(configurations, "_MOST_REBUILT", 4)
    study = make_study(axes={FRACTION: {"uniform": [2, 3]}, "array.raid": ["0", "5"]}, design={"points": 64})
    with pytest.raises(ConfigError) as raised:
        expand(study)
    assert len(built) <= 8
    assert {issue.place for issue in raised.value.issues} == {f"axes.{FRACTION}"}
