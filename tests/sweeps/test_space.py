"""Doubled axes, groups of axes that vary together, conditional axes, and derived parameters."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from destage import sweeps
from destage.errors import ConfigError
from destage.sweeps import Study, parse_study
from destage.sweeps.points.grid import Grid, tabulate_design
from destage.sweeps.reading.expansion import expand

MakeStudy = Callable[..., Study]
DISKS, RAID, USERS, UNIT = "array.disks", "array.raid", "workload.users", "array.stripe_unit"
CAPACITY, FRACTION = "controller.cache.capacity", "controller.cache.write_fraction"
MIB = 2**20


def _list(study: Study, *paths: str) -> list[tuple[object, ...]]:
    return [tuple(point.axes[path] for path in paths) for point in expand(study).points]


def _explain(make_study: MakeStudy, **keys: object) -> tuple[str, str, str]:
    with pytest.raises(ConfigError) as raised:
        expand(make_study(**keys))
    (issue,) = raised.value.issues
    return issue.code, issue.place, issue.message


def test_log2_doubles_or_halves_with_both_ends(make_study: MakeStudy) -> None:
    assert _list(make_study(axes={CAPACITY: {"log2": ["32MiB", "256MiB"]}}), CAPACITY) == [
        (32 * MIB,),
        (64 * MIB,),
        (128 * MIB,),
        (256 * MIB,),
    ]
    assert _list(make_study(axes={DISKS: {"log2": [8, 2]}}), DISKS) == [(8,), (4,), (2,)]
    assert make_study(axes={FRACTION: {"log2": [0.25, 1]}}).axes == {FRACTION: (0.25, 0.5, 1.0)}


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        (["64MiB", "1000MiB"], "which may be 512MiB or 1GiB"),
        ([0, "64MiB"], "both ends above 0"),
        ([True, 4], "requires two numbers"),
    ],
)
def test_numbers_that_log2_does_not_join(make_study: MakeStudy, ends: list[object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_study(axes={CAPACITY: {"log2": ends}})


def test_a_group_varies_together_and_is_crossed_with_the_axes(make_study: MakeStudy) -> None:
    group = {DISKS: [4, 4, 8], CAPACITY: {"log2": ["32MiB", "128MiB"]}}
    found = _list(make_study(axes={USERS: [10, 20]}, zip=[group]), USERS, DISKS, CAPACITY)
    pairs = [(4, 32 * MIB), (4, 64 * MIB), (8, 128 * MIB)]
    assert found == [(users, *pair) for users in (10, 20) for pair in pairs]


def test_equal_pairs_of_a_group_are_one_point(make_study: MakeStudy) -> None:
    assert _list(make_study(zip=[{DISKS: [4, 4, 8], USERS: [1, 1, 2]}]), DISKS, USERS) == [(4, 1), (8, 2)]


def test_a_point_has_the_id_that_it_has_in_a_grid(make_study: MakeStudy) -> None:
    grid = make_study(axes={DISKS: [2, 4], USERS: [10, 20]})
    known = {tuple(point.axes.values()): point.id for point in expand(grid).points}
    group = expand(make_study(zip=[{DISKS: [2, 4], USERS: [20, 10]}])).points
    assert [point.id for point in group] == [known[2, 20], known[4, 10]]
    derived = expand(make_study(axes={DISKS: [2, 4]}, derived={USERS: "disks * 5 + 0"})).points
    assert [point.id for point in derived] == [known[2, 10], known[4, 20]]


def test_lengths_that_differ_are_named(make_study: MakeStudy) -> None:
    found = _explain(make_study, zip=[{DISKS: [2, 4, 6], USERS: [10, 20]}])
    assert found[:2] == ("study.unequal-lengths", f"zip.0.{USERS}")
    assert found[2] == f"2 values, but {DISKS} has 3; they vary together"


def test_an_axis_is_assigned_only_where_its_condition_is_true(make_study: MakeStudy) -> None:
    """The points without the axis are those of a study without it, each once."""
    units = [8192, 16384, 65536]
    axes = {RAID: ["0", "10"], DISKS: [2, 4], UNIT: units}
    study = make_study(axes=axes, when={UNIT: "raid <> '10'"})
    grid = expand(make_study(axes=axes)).points
    plain = expand(make_study(axes={RAID: ["0", "10"], DISKS: [2, 4]})).points
    expected = {point.id for point in grid if point.axes[RAID] == "0"}
    expected |= {point.id for point in plain if point.axes[RAID] == "10"}
    points = expand(study).points
    assert {point.id for point in points} == expected
    assert len(points) == 2 * 3 + 2
    # The scenario's stripe unit holds, which is no value of the axis.
    inert = [point for point in points if point.axes[RAID] == "10"]
    assert {point.axes[UNIT] for point in inert} == {None}
    assert {point.config["arrays"][0]["stripe_unit"] for point in inert} == {65536}
    assert {point.configure(0, None).run_id for point in inert} == {
        point.configure(0, None).run_id for point in plain if point.axes[RAID] == "10"
    }


def test_a_later_condition_sees_null_for_an_axis_that_is_not_assigned(document: dict[str, Any]) -> None:
    text = yaml.safe_dump(
        {
            **document,
            "axes": {RAID: ["0", "10"], DISKS: [2, 4], UNIT: [8192, 16384]},
            "when": {DISKS: "raid = '10'", UNIT: "disks = 4"},
        },
        sort_keys=False,
    )
    found = _list(parse_study(text, is_stored=True), RAID, DISKS, UNIT)
    assert found == [("0", None, None), ("10", 2, None), ("10", 4, 8192), ("10", 4, 16384)]


def test_equal_points_are_one_over_all_blocks(make_study: MakeStudy, monkeypatch: Any) -> None:
    study = make_study(
        axes={USERS: {"range": [1, 50, 1]}, UNIT: [8192, 16384, 65536]}, when={UNIT: "users % 2 = 0"}
    )
    every = [identity for block in Grid(study).list_blocks() for identity in Grid(study).identify(block)]
    monkeypatch.setattr("destage.sweeps.points.grid._FILTERED", 7)
    grid = Grid(study)
    found = [identity for block in grid.list_blocks(3) for identity in grid.identify(block)]
    assert found == every
    assert len(set(every)) == len(every) == 25 * 3 + 25


def test_derived_parameters_see_axes_and_earlier_ones(document: dict[str, Any]) -> None:
    text = yaml.safe_dump(
        {
            **document,
            "axes": {DISKS: [2, 3, 4]},
            "derived": {
                USERS: '"array.disks" * 5',
                CAPACITY: "CASE WHEN users > 10 THEN users * 1048576 END",
            },
            "where": "users <> 15",
        },
        sort_keys=False,
    )
    study = parse_study(text, is_stored=True)
    assert _list(study, DISKS, USERS, CAPACITY) == [(2, 10, 0), (4, 20, 20 * MIB)]
    only = expand(parse_study(yaml.safe_dump({**document, "axes": {DISKS: [2], USERS: [10]}}))).points
    # NULL assigns nothing: the point is that of a study without the parameter.
    assert expand(study).points[0].id == only[0].id


def test_values_found_in_later_blocks_change_no_earlier_point(
    make_study: MakeStudy, monkeypatch: Any
) -> None:
    keys = {"axes": {DISKS: [2, 4], USERS: {"range": [1, 40, 1]}}, "derived": {CAPACITY: "users * 8388608"}}
    every = [(point.id, point.configure(0, None).run_id) for point in expand(make_study(**keys)).points]
    monkeypatch.setattr("destage.sweeps.points.grid._FILTERED", 7)
    found = [
        (point.id, point.configure(0, None).run_id) for point in expand(make_study(**keys), block=3).points
    ]
    assert found == every


def test_a_computed_whole_number_may_be_rounded_only(make_study: MakeStudy) -> None:
    exact = make_study(axes={DISKS: [2, 4]}, derived={USERS: "exp(ln(disks * 5.0))"})
    assert _list(exact, DISKS, USERS) == [(2, 10), (4, 20)]
    code, place, message = _explain(make_study, axes={DISKS: [2, 3]}, derived={USERS: "disks / 2"})
    assert (code, place) == ("study.bad-derived", f"derived.{USERS}")
    assert message == "1.5 is not a whole number; use round, floor or ceil (at array.disks=3)"


def test_conditions_and_expressions_combine_with_a_design(make_study: MakeStudy) -> None:
    study = make_study(
        axes={DISKS: {"integer": [2, 9]}, UNIT: {"choice": [8192, 16384]}},
        design={"method": "saltelli", "points": 8},
        when={UNIT: "disks > 4"},
        derived={USERS: "disks * 2"},
    )
    points = {point.id: point.axes for point in expand(study).points}
    rows = tabulate_design(study)
    assert study.design is not None
    sampled = study.design.sample()
    for row, identity in zip(rows["row"].to_pylist(), rows["point_id"].to_pylist(), strict=True):
        disks, unit = sampled[DISKS][row], sampled[UNIT][row]
        assert isinstance(disks, int)
        assert points[identity] == {
            DISKS: disks,
            UNIT: unit if disks > 4 else None,
            USERS: 2 * disks,
        }
    assert set(points) == set(rows["point_id"].to_pylist())


@pytest.mark.parametrize(
    ("keys", "code", "place"),
    [
        ({"when": {DISKS: "nothing > 3"}}, "study.bad-sql", f"when.{DISKS}"),
        ({"when": {USERS: "disks > 3"}}, "study.unknown-name", f"when.{USERS}"),
        ({"derived": {USERS: "nothing * 3"}}, "study.bad-sql", f"derived.{USERS}"),
        ({"derived": {USERS: "max(disks)"}}, "study.bad-sql", f"derived.{USERS}"),
        ({"derived": {USERS: "[disks]"}}, "study.bad-derived", f"derived.{USERS}"),
        ({"derived": {"workload.user": "disks"}}, "study.unknown-key", "derived.workload.user"),
        ({"derived": {DISKS: "disks"}}, "study.repeated-axis", f"derived.{DISKS}"),
        ({"zip": [{DISKS: [1], USERS: [1]}]}, "study.repeated-axis", f"zip.0.{DISKS}"),
    ],
)
def test_a_mistake_is_reported_at_its_place(
    make_study: MakeStudy, keys: dict[str, object], code: str, place: str
) -> None:
    assert _explain(make_study, axes={DISKS: [2, 4]}, **keys)[:2] == (code, place)


def test_an_invalid_value_is_reported_where_it_is_written(make_study: MakeStudy) -> None:
    assert _explain(make_study, zip=[{DISKS: [2, 0], USERS: [1, 2]}])[1] == f"zip.0.{DISKS}"
    assert _explain(make_study, axes={USERS: [1]}, derived={DISKS: "users - 1"})[1] == f"derived.{DISKS}"


def test_an_added_value_runs_only_what_is_new(make_study: MakeStudy, tmp_path: Path) -> None:
    for units, executed in (([8192], 2), ([8192, 16384], 1), ([8192, 16384, 32768], 1)):
        study = make_study(axes={DISKS: [2, 4], UNIT: units}, when={UNIT: "disks = 4"}, replicates=1)
        assert sweeps.run(study, tmp_path, executor="inline", workers=1).executed == executed
