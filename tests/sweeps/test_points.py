"""Points of a study: the grid, conditions, explicit points, and points that are invalid."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from destage import sweeps
from destage.errors import ConfigError
from destage.queries import open_session
from destage.sweeps import Study
from destage.sweeps.reading.expansion import expand

MakeStudy = Callable[..., Study]

CAPACITY, FRACTION = "controller.cache.capacity", "controller.cache.write_fraction"


def test_the_grid_is_the_product_of_the_axes_in_their_order(make_study: MakeStudy) -> None:
    points = expand(
        make_study(axes={"array.disks": [2, 4], "array.raid": ["0", "5", "10"]}, where="disks > 2")
    ).points
    assert [(point.axes["array.disks"], point.axes["array.raid"]) for point in points] == [
        (4, "0"),
        (4, "5"),
        (4, "10"),
    ]


def test_a_study_without_axes_is_one_point(make_study: MakeStudy) -> None:
    (point,) = expand(make_study()).points
    assert point.axes == {}
    assert point.config["workload"]["users"] == 10


def test_a_condition_sees_dotted_paths_and_unique_last_segments(make_study: MakeStudy) -> None:
    where = "raid <> '10' or \"array.disks\" % 2 = 0"
    points = expand(make_study(axes={"array.disks": [3, 4], "array.raid": ["5", "10"]}, where=where)).points
    assert len(points) == 3


def test_a_condition_must_bind_and_keep_a_point(make_study: MakeStudy) -> None:
    axes = {"array.disks": [3, 4], "array.raid": ["5"]}
    for where, code in (("nothing > 3", "study.bad-sql"), ("disks > 9", "study.no-points")):
        with pytest.raises(ConfigError) as caught:
            expand(make_study(axes=axes, where=where))
        (issue,) = caught.value.issues
        assert (issue.code, issue.place, issue.value) == (code, "where", where)


def test_an_invalid_point_is_reported_at_its_axis(make_study: MakeStudy) -> None:
    with pytest.raises(ConfigError) as caught:
        expand(make_study(axes={"array.disks": [3, 4], "array.raid": ["10", "5"]}))
    (issue,) = caught.value.issues
    assert (issue.place, issue.value) == ("axes.array.disks", 3)
    assert issue.code.startswith("scenario.")
    assert "array.raid=10" in issue.message


def test_a_mistake_in_the_scenario_is_reported_once(make_study: MakeStudy) -> None:
    study = make_study(axes={"array.disks": [2, 4]})
    with pytest.raises(ConfigError) as caught:
        expand(
            Study(
                **{
                    **{name: getattr(study, name) for name in Study.__slots__},
                    "scenario": {**study.scenario, "controler": {}},
                }
            )
        )
    (issue,) = caught.value.issues
    assert (issue.code, issue.place) == ("scenario.unknown-key", "scenario.controler")


def test_explicit_points_take_axis_values_from_the_scenario(make_study: MakeStudy) -> None:
    study = make_study(
        axes={CAPACITY: ["128MiB"], FRACTION: [0.25]},
        points=[{"label": "5i Plus", "controller.use": "smart_array_5i_plus", CAPACITY: "64MiB"}],
    )
    expansion = expand(study)
    grid, explicit = (expansion.axis_values(point) for point in expansion.points)
    # Without a battery there is no write cache: the configuration has a share of 0, the axis what is written.
    assert grid == {CAPACITY: 128 * 2**20, FRACTION: 0.25, "controller.use": None}
    assert explicit == {CAPACITY: 64 * 2**20, FRACTION: 0.5, "controller.use": "smart_array_5i_plus"}
    assert [point.label for point in expansion.points] == [None, "5i Plus"]


def test_points_with_equal_configurations_share_their_run(make_study: MakeStudy) -> None:
    points = expand(make_study(axes={CAPACITY: [0], FRACTION: [0.25, 0.5, 0.75]})).points
    assert len({point.id for point in points}) == 3
    assert len({point.configure(0, None).run_id for point in points}) == 1


def test_plan_and_sweep_count_a_configuration_once(
    make_study: MakeStudy, document: dict[str, Any], tmp_path: Path
) -> None:
    """Without a cache, three write fractions are one point."""
    document["scenario"]["controller"]["battery"] = {"state": "present"}
    axes = {CAPACITY: [0, "64MiB"], FRACTION: [0.25, 0.5, 0.75], "workload.users": [5, 10]}
    study = make_study(axes=axes, sensitivity={"of": ["response_p95"]})
    planned = sweeps.plan(study, tmp_path)
    assert (planned.points, planned.table.num_rows) == (8, 24)
    with open_session(sweeps.run(study, tmp_path, executor="inline", workers=1).path) as session:
        assert session.point_count == 8
        rows = session.query("sensitivity").to_pylist()
        assert {(row["method"], row["points"]) for row in rows} == {("factorial", 8)}
        (statement,) = session.split("SELECT write_fraction FROM points WHERE cache_capacity = 0")
        assert session.run(statement).column(0).to_pylist() == [None, None]


def test_a_run_id_depends_on_configuration_seed_and_replicate(
    make_study: MakeStudy, document: dict[str, Any]
) -> None:
    def run_id(replicate: int = 0, **run: object) -> str:
        scenario = {**document["scenario"], "run": {"window": {"requests": 1000}, **run}}  # type: ignore[dict-item]
        (point,) = expand(make_study(scenario=scenario)).points
        return point.configure(replicate, None).run_id

    assert run_id() == run_id()
    assert len(run_id()) == 32
    assert len({run_id(), run_id(1), run_id(seed=2), run_id(max_requests=3000)}) == 4


def test_the_sought_value_replaces_the_one_in_the_scenario(make_study: MakeStudy) -> None:
    seek = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"]}
    (point,) = expand(make_study(seek=seek)).points
    assert '"users":77' in point.configure(0, 77).text
    assert point.configure(0, 77).run_id != point.configure(0, 78).run_id


def test_an_axis_may_hold_tables(make_study: MakeStudy) -> None:
    axes = {"run.window": ["auto", {"requests": 1000}, {"requests": 1000}], "array.disks": [2, 4]}
    expansion = expand(make_study(axes=axes, where="disks = 4"))
    assert [expansion.axis_values(point)["array.disks"] for point in expansion.points] == [4, 4]
    assert len({point.configure(0, None).run_id for point in expansion.points}) == 2


def test_a_condition_over_mixed_types_hides_no_mistake(make_study: MakeStudy) -> None:
    with pytest.raises(ConfigError) as caught:
        expand(make_study(axes={"array.raid": [7, "5"], "array.disks": [3, 4]}, where="disks = 4"))
    (issue,) = caught.value.issues
    assert (issue.place, issue.value) == ("axes.array.raid", 7)


def test_a_path_to_a_missing_list_entry_is_a_mistake(make_study: MakeStudy) -> None:
    with pytest.raises(ConfigError) as caught:
        expand(make_study(axes={"workload.streams.5.operations.read_fraction": [0.1]}))
    (issue,) = caught.value.issues
    place = "axes.workload.streams.5.operations.read_fraction"
    assert (issue.code, issue.place) == ("study.missing-list-entry", place)


def test_points_that_differ_by_label_share_their_runs(make_study: MakeStudy) -> None:
    servers = [{"label": name, "controller.use": "smart_array_5i"} for name in ("DL380", "DL360", "DL380")]
    found = expand(make_study(points=servers)).points
    assert [point.label for point in found] == ["DL380", "DL360"]
    assert len({point.id for point in found}) == 2
    assert len({point.configure(0, None).run_id for point in found}) == 1


def test_an_explicit_point_labels_an_equal_point_of_the_grid(make_study: MakeStudy) -> None:
    (point,) = expand(
        make_study(axes={CAPACITY: ["64MiB"]}, points=[{"label": "small", CAPACITY: "65536KiB"}])
    ).points
    assert point.label == "small"


def test_a_grid_with_too_many_points_is_rejected_early(make_study: MakeStudy) -> None:
    wide = {"range": [1, 4000, 1]}
    study = make_study(axes={"workload.users": wide, "run.seed": wide})
    with pytest.raises(ConfigError) as caught:
        expand(study)
    (issue,) = caught.value.issues
    assert (issue.code, issue.place) == ("study.too-many-values", "axes")
