"""Configurations built by parts equal those built one by one, and so do their mistakes."""

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.plain_identities import canonical_text, run_id

from destage import engine
from destage.errors import ConfigError
from destage.sweeps import Study
from destage.sweeps.reading.expansion import expand
from destage.sweeps.space import parameters

MakeStudy = Callable[..., Study]
CAPACITY, FRACTION = "controller.cache.capacity", "controller.cache.write_fraction"
STREAM = "workload.streams.0"
SEEK = {"maximize": "workload.users", "subject_to": ["response_p95 <= 30ms"], "start": 7}

GRIDS: dict[str, dict[str, Any]] = {
    "fields that the engine changes together": {
        "axes": {
            "controller.battery.state": ["absent", "present"],
            CAPACITY: ["0B", "64MiB", "1GB"],
            FRACTION: [0, 0.00001, "50%", 1],
            "array.raid": ["0", "10"],
            "faults": [[], [{"kind": "battery_fails", "at": "60s"}]],
        },
        "where": "raid = '0' OR capacity > 0",
    },
    "catalogue names, and tables in place of them": {
        "axes": {
            "controller.use": ["smart_array_5i", "smart_array_p400i_256"],
            CAPACITY: ["32MiB", "64MiB"],
            "array.disk": [{"use": "u320_10k_36gb"}, {"use": "savvio_10k1_36gb"}],
        },
        "points": [{"label": "as shipped", "controller.use": "smart_array_5i_plus"}],
    },
    "lists, and keys that the scenario lacks": {
        "axes": {
            f"{STREAM}.address": [{"kind": "uniform"}, {"kind": "sequential"}],
            f"{STREAM}.operations.read_fraction": [1e-7, 0.30000000000000004, 1],
            f"{STREAM}.operations.alignment": [None, "4KiB"],
            "run.window": ["auto", {"requests": 1000}],
        },
    },
    "a table and an assignment in it": {
        "axes": {"run.window": [{"requests": 10}], "run.window.requests": [500, 600], "run.seed": [1, 2]},
    },
    "a sought value": {
        "axes": {"array.disks": [1, 2, 3], f"{STREAM}.arrival.ios": [1, 5]},
        "seek": SEEK,
    },
}


def _by_itself(study: Study, assignments: Mapping[str, object], replicate: int, probe: int | None) -> str:
    """Return the canonical text of one run, built directly: assign, resolve, validate."""
    scenario = copy.deepcopy(dict(study.scenario))
    for path, value in assignments.items():
        parameters.assign(scenario, path, copy.deepcopy(value))
    if probe is not None and study.seek is not None:
        parameters.assign(scenario, study.seek.path, probe)
    config = engine.normalise(engine.traces.bind(scenario, "."))
    config["run"]["replicate"] = replicate
    return canonical_text(config)


def _assignments(study: Study) -> list[dict[str, object]]:
    """Return the assignments of a grid without a condition, in order."""
    combinations: list[dict[str, object]] = [{}]
    for path, values in study.axes.items():
        combinations = [{**before, path: value} for before in combinations for value in values]
    return combinations


def _check(study: Study, *probes: int | None) -> None:
    unconditional = Study(
        **{**{name: getattr(study, name) for name in Study.__slots__}, "where": None, "points": ()}
    )
    points = expand(unconditional).points
    assignments = _assignments(study)
    assert len(points) == len(assignments)
    for point, assigned in zip(points, assignments, strict=True):
        for replicate, probe in [(0, probes[0]), *[(3, probe) for probe in probes]]:
            text = _by_itself(study, assigned, replicate, probe)
            config = point.configure(replicate, probe)
            assert (config.run_id, config.text) == (run_id(text), text)


@pytest.mark.parametrize("name", GRIDS)
def test_parts_give_the_configuration_of_a_single_point(make_study: MakeStudy, name: str) -> None:
    grid = GRIDS[name]
    _check(make_study(**grid), *([7, 8, 30] if "seek" in grid else [None]))


def test_a_condition_and_explicit_points_change_no_point(make_study: MakeStudy) -> None:
    for grid in GRIDS.values():
        some = {point.id: point for point in expand(make_study(**grid)).points}
        every = expand(make_study(**{key: value for key, value in grid.items() if key == "axes"}))
        kept = [point for point in every.points if point.id in some]
        assert kept
        if "seek" not in grid:
            assert all(some[point.id].config == point.config for point in kept)


def test_a_trace_is_identified_by_its_content(make_study: MakeStudy, tmp_path: Path) -> None:
    for number, name in enumerate(("a.parquet", "b.parquet", "again.parquet")):
        columns = {"t_ns": [1000 * index for index in range(50)], "lba_512": [16 * i for i in range(50)]}
        constant = {"process": 1, "n_512": 16, "op": number % 2, "flags": 1}
        table = pa.table(columns | {key: [value] * 50 for key, value in constant.items()})
        engine.traces.write_parquet(engine.traces.from_table(table), tmp_path / name)
    arrival = {"kind": "trace", "file": "a.parquet", "mode": "open"}
    workload = {"streams": [{"name": "replay", "arrival": arrival}]}
    scenario = {**expand(make_study()).points[0].config, "workload": workload}
    scenario["run"] = {"replicate": 0}
    files = {f"{STREAM}.arrival.file": ["a.parquet", "b.parquet", "again.parquet"]}
    study = make_study(scenario=scenario, axes={**files, "arrays.0.disks": [2, 3]})
    # The scenario's digest is that of a.parquet and does not apply to another file.
    configs = [point.configure(0, None) for point in expand(study).points]
    first = [(config.run_id, config.text) for config in configs]
    for (identity, text), assigned in zip(first, _assignments(study), strict=True):
        plain = _by_itself(study, {**assigned, f"{STREAM}.arrival.digest": None}, 0, None)
        assert (identity, text) == (run_id(plain), plain)
    ids = [identity for identity, _ in first]
    assert (ids[0], ids[3]) == (ids[2], ids[5])
    assert len(set(ids)) == 4


def test_a_mistake_deep_in_the_grid_shows_the_value_as_written(make_study: MakeStudy) -> None:
    seeds = {"run.seed": {"range": [1, 200, 1]}}
    with pytest.raises(ConfigError) as caught:
        expand(
            make_study(
                axes={**seeds, "array.disks": [2, 3], "array.raid": ["0", "10"]},
                where="seed = 177 OR disks = 2",
            )
        )
    (issue,) = caught.value.issues
    assert (issue.place, issue.value) == ("axes.array.disks", 3)
    assert issue.message.endswith("(at array.raid=10, run.seed=177)")
    points: list[dict[str, object]] = [{CAPACITY: f"{size}MiB"} for size in range(1, 60)]
    with pytest.raises(ConfigError) as caught:
        expand(make_study(points=[*points, {CAPACITY: "70MB", "workload.users": "5kB"}]))
    (issue,) = caught.value.issues
    assert (issue.place, issue.value) == ("points.59.workload.users", "5kB")


def test_one_and_true_are_different_values(make_study: MakeStudy) -> None:
    with pytest.raises(ConfigError) as caught:
        expand(make_study(points=[{"array.disks": 1}, {"array.disks": True}]))
    assert [issue.place for issue in caught.value.issues] == ["points.1.array.disks"]


def test_a_catalogue_name_is_a_column_however_it_is_assigned(make_study: MakeStudy) -> None:
    tables = [{"use": "smart_array_5i"}, {"use": "smart_array_p400i_256"}]
    study = make_study(axes={"controller": tables}, points=[{"controller.use": "smart_array_5i_plus"}])
    names = [point.axes["controller.use"] for point in expand(study).points]
    assert names == ["smart_array_5i", "smart_array_p400i_256", "smart_array_5i_plus"]


def test_a_number_that_is_a_word_is_read_as_one(make_study: MakeStudy) -> None:
    """Points of one field that differ in a number only: 10 is RAID "10", and 64 KiB is a number."""
    points: list[dict[str, object]] = [
        {"array.disks": disks, "array.raid": raid, "array.stripe_unit": 65536}
        for disks in (4, 6)
        for raid in (0, 10)
    ]
    expansion = expand(make_study(points=points))
    arrays = [point.config["arrays"][0] for point in expansion.points]
    assert [(array["disks"], array["raid"]) for array in arrays] == [(4, "0"), (4, "10"), (6, "0"), (6, "10")]
