"""Parts of users: from files, from a study itself, and in stored sweeps."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from destage import engine, sweeps
from destage.engine import catalog
from destage.errors import ConfigError
from destage.sweeps.keys.own_parts import add_parts, bind_parts, read_parts

CONFIG: dict[str, Any] = {
    "kind": "disk",
    "rpm": "10500rpm",
    "geometry": {
        "kind": "rates",
        "capacity": "1200GB",
        "cylinders": 150_000,
        "outer_rate": "215MB/s",
        "inner_rate": "129MB/s",
    },
    "seek": {"kind": "figures", "track_to_track": "0.3ms", "average": "3.7ms", "full_stroke": "7.6ms"},
}
SCENARIO: dict[str, Any] = {
    "workload": {"use": "iometer_oltp"},
    "controller": {"use": "smart_array_p420_1gb"},
    "array": {"raid": "10", "disks": 4, "disk": {"use": "our_disk"}, "stripe_unit": "64KiB"},
    "run": {"warm_up": "none", "window": {"requests": 50}},
}


@pytest.fixture(autouse=True)
def _catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the parts that a test adds."""
    monkeypatch.setattr(catalog, "_added", {})


def write(file: Path, **parts: Any) -> Path:
    file.write_text(yaml.safe_dump(parts))
    return file


def make_study(**scenario: Any) -> str:
    document = {"name": "own", "scenario": SCENARIO | scenario, "replicates": 1}
    document["axes"] = {"array.disk.use": ["savvio_10k4", "our_disk"]}
    return yaml.safe_dump(document)


def test_a_name_stands_for_the_part_as_if_it_were_written_out() -> None:
    own = {"disks": {"our_disk": {"config": CONFIG}}}
    whole = SCENARIO | {"array": SCENARIO["array"] | {"disk": CONFIG}}
    assert engine.normalise(SCENARIO | {"catalog": own}) == engine.normalise(whole)
    changed = SCENARIO["array"] | {"disk": {"use": "our_disk", "rpm": "15000rpm"}}
    ours = engine.normalise(SCENARIO | {"catalog": own, "array": changed})
    assert ours["arrays"][0]["disk"]["rpm"] == 15_000
    with pytest.raises(ConfigError) as raised:
        engine.normalise(SCENARIO)
    assert [(issue.code, issue.place) for issue in raised.value.issues] == [
        ("catalog.unknown-entry", "array.disk.use")
    ]


def test_a_study_reads_the_parts_beside_it_and_its_sweep_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    file = write(tmp_path / "parts" / "disks.yaml", disks={"our_disk": {"config": CONFIG}})
    # A study in the folder holds no parts.
    (tmp_path / "parts" / "study.yaml").write_text(make_study())
    study = sweeps.parse_study(make_study(catalog="parts"), folder=tmp_path)
    assert study.scenario["catalog"] == {"disks": {"our_disk": {"config": CONFIG}}}
    outcome = sweeps.run(study, tmp_path / "store", executor="inline")
    assert outcome.executed == 2
    file.unlink()
    again = sweeps.resume(outcome.path)
    assert (again.executed, again.reused) == (0, 2)
    changed = CONFIG | {"rpm": "15000rpm"}
    write(file, disks={"our_disk": {"config": changed}})
    other = sweeps.parse_study(make_study(catalog="parts"), folder=tmp_path)
    assert other.id != study.id


def test_parts_that_were_added_are_stored_with_the_studies_that_name_them(tmp_path: Path) -> None:
    parts = {name: {"config": CONFIG} for name in ("our_disk", "other_disk")}
    add_parts([write(tmp_path / "parts.yaml", disks=parts)])
    assert [entry.name for entry in catalog.entries("disks")][-2:] == ["other_disk", "our_disk"]
    study = sweeps.parse_study(make_study())
    assert set(study.scenario["catalog"]["disks"]) == {"our_disk"}
    # A stored study needs nothing else, and keeps its parts where others are added.
    catalog.add({"disks": {"our_disk": {"config": CONFIG | {"rpm": "7200rpm"}}}})
    stored = sweeps.parse_study(study.stored_text, is_stored=True)
    assert (stored.scenario, stored.id) == (study.scenario, study.id)


def test_lists_of_files_and_tables_are_joined(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", disks={"our_disk": {"config": CONFIG}})
    controller = {"config": {"battery": {"state": "absent"}}}
    (tmp_path / "b.json").write_text(json.dumps({"controllers": {"our_raid": controller}}))
    bound = bind_parts({"catalog": ["a.yaml", "b.json"]}, tmp_path)
    assert bound["catalog"] == {
        "disks": {"our_disk": {"config": CONFIG}},
        "controllers": {"our_raid": controller},
    }
    assert read_parts(tmp_path) == bound["catalog"]


@pytest.mark.parametrize(
    ("parts", "issues"),
    [
        ({"disk": {}}, [("catalog.unknown-key", "disk", 1)]),
        ({"disks": {"Our Disk": {"config": CONFIG}}}, [("catalog.bad-form", "disks", 2)]),
        ({"disks": {"our_disk": {"titel": "x"}}}, [
            ("catalog.missing-key", "disks.our_disk.config", None),
            ("catalog.unknown-key", "disks.our_disk.titel", 3),
        ]),
        ({"disks": {"exos_x18": {"config": CONFIG}}}, [("catalog.name-taken", "disks.exos_x18", None)]),
        ({"disks": {"our_disk": {"config": CONFIG | {"rpm": 0, "rmp": 1}}}}, [
            ("scenario.out-of-range", "disks.our_disk.config.rpm", None),
            ("scenario.unknown-key", "disks.our_disk.config.rmp", None),
        ]),
        ({"disks": {"our_disk": {"config": CONFIG | {"write_settle": 5}}}}, [
            ("scenario.bad-quantity", "disks.our_disk.config.write_settle", None),
        ]),
        ({"controllers": {"ours": {"config": {"cache": {"capacity": "8GiB", "usable": "9GiB"}}}}}, [
            ("scenario.usable-above-capacity", "controllers.ours.config.cache.usable", None),
        ]),
    ],
    ids=["key", "name", "fields", "taken", "field", "unit", "rule"],
)  # fmt: skip
def test_a_mistake_has_its_file_and_line(
    tmp_path: Path, parts: dict[str, Any], issues: list[tuple[str, str, int | None]]
) -> None:
    file = write(tmp_path / "parts.yaml", **parts)
    with pytest.raises(ConfigError) as raised:
        read_parts(file)
    assert raised.value.source == str(file)
    found = {(issue.code, issue.place): issue.line for issue in raised.value.issues}
    for code, place, line in issues:
        assert (code, place) in found
        assert found[code, place] is not None
        assert line in {None, found[code, place]}
    assert len(found) == len(issues)


@pytest.mark.parametrize(
    ("written", "code"),
    [("nowhere.yaml", "catalog.unreadable"), (".", "catalog.no-parts"), (5, "catalog.wrong-type")],
)
def test_parts_that_are_not_there_are_a_mistake(tmp_path: Path, written: object, code: str) -> None:
    with pytest.raises(ConfigError) as raised:
        sweeps.parse_study(make_study(catalog=written), folder=tmp_path)
    assert raised.value.code == code


def test_two_files_of_a_folder_may_not_have_one_name(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        write(tmp_path / name, disks={"our_disk": {"config": CONFIG}})
    with pytest.raises(ConfigError) as raised:
        read_parts(tmp_path)
    assert (raised.value.code, raised.value.source) == ("catalog.name-taken", str(tmp_path / "b.yaml"))
