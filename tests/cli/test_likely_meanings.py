"""Likely mistakes in files and on the command line are accepted or get a suggestion."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from destage import engine

CONFIGURATION = """\
workload: {use: call_center, users: 5}
controller: {use: smart_array_5i_plus}
array: {raid: 5, disks: 4, disk: {use: u320_10k_36gb}}
run: {warm_up: none, window: {requests: 300}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "one.yaml"
    path.write_text(CONFIGURATION)
    return path


def test_a_number_is_a_raid_level(destage: Any, file: Path) -> None:
    """5 without quotes is RAID 5, in a file, by `--set`, and as an axis."""
    one = json.loads(destage("simulate", str(file), "--json").out)
    file.write_text(CONFIGURATION.replace("raid: 5", 'raid: "5"'))
    assert json.loads(destage("simulate", str(file), "--json").out) == one
    assert json.loads(destage("simulate", str(file), "--set", "array.raid=5", "--json").out) == one
    assert json.loads(destage("simulate", str(file), "--set", "array.raid=0", "--json").out) != one
    done = destage("simulate", str(file), "--set", "array.raid=7")
    assert done.issues == [("scenario.unknown-name", "--set array.raid")]


def test_both_spellings_are_one_point(destage: Any, tmp_path: Path) -> None:
    study = tmp_path / "s.yaml"
    rows = []
    for levels in ("[5, 6]", '["5", "6"]', '[5, "5", 6]'):
        study.write_text(
            f"name: s\nscenario:\n  {CONFIGURATION.replace(chr(10), chr(10) + '  ').rstrip()}\n"
            f"axes: {{array.raid: {levels}}}\nreplicates: 1\n"
        )
        found = json.loads(destage("run", "--plan", str(study), "--json", "--no-estimate").out)
        assert found["estimate"] is None
        rows.append([(row["point_id"], row["run_id"], row["array.raid"]) for row in found["rows"]])
    assert rows[0] == rows[1] == rows[2]
    assert [level for _, _, level in rows[0]] == ["5", "6"]


@pytest.mark.parametrize(
    ("disk", "suggestion"),
    [("exos_x18", "write {use: exos_x18}"), ("exos", "such as {use: exos_x18}"), ("zz", "such as {use: ")],
)
def test_a_name_alone_suggests_the_table(destage: Any, file: Path, disk: str, suggestion: str) -> None:
    file.write_text(CONFIGURATION.replace("{use: u320_10k_36gb}", disk))
    done = destage("simulate", str(file))
    assert done.issues == [("catalog.name-alone", "array.disk")]
    assert f"{file}:3:34: " in done.err
    assert suggestion in done.err


def test_a_bare_size_is_refused_in_files_and_by_set(destage: Any, file: Path) -> None:
    done = destage("simulate", str(file), "--set", "controller.cache.capacity=512")
    assert done.issues == [("scenario.bad-quantity", "--set controller.cache.capacity")]
    assert "512: has no unit; write '512MiB' or '512B'" in done.err
    file.write_text(CONFIGURATION.replace("disks: 4,", "disks: 4, stripe_unit: 64, strip: 1,"))
    done = destage("simulate", str(file))
    expected = {("scenario.bad-quantity", "array.stripe_unit"), ("scenario.unknown-key", "array.strip")}
    assert set(done.issues) == expected
    assert f"{file}:3:41: " in done.err
    assert destage("simulate", str(file), "--set", "array.stripe_unit=64KiB").code == 2


def test_a_canonical_configuration_is_accepted(destage: Any, file: Path) -> None:
    """As JSON and as YAML, with sizes in bytes and times in nanoseconds."""
    canonical = engine.normalise(yaml.safe_load(CONFIGURATION))
    rows = []
    for text in (CONFIGURATION, json.dumps(canonical), yaml.safe_dump(canonical)):
        file.write_text(text)
        done = destage("simulate", str(file), "--json")
        assert done.code == 0, done.err
        row = json.loads(done.out)
        row.pop("remarks")  # a canonical configuration does not name its preset
        rows.append(row)
    assert rows[0] == rows[1] == rows[2]


def test_plan_says_how_long(destage: Any, study: Path) -> None:
    done = destage("run", "--plan", str(study))
    assert "for 8 runs" in done.out
    assert "from 8 pilot runs" in done.out
    found = json.loads(destage("run", "--plan", str(study), "--json").out)["estimate"]
    assert 0 < found["low_s"] < found["high_s"]
    assert not (study.parent / "store").exists()
    destage("run", str(study), "--quiet")
    assert "none: all runs are in the store" in destage("run", "--plan", str(study)).out


def test_names_suggest_the_nearest(destage: Any) -> None:
    for args, name in (
        (("run", "call_centre"), "call_center"),
        (("catalog", "show", "cal_center"), "call_center"),
        (("catalog", "show", "vdii"), "vdi"),
        (("catalog", "show", "exos_18"), "exos_x18"),
        (("catalog", "list", "columns", "respons_p95"), "response_p95_us"),
    ):
        done = destage(*args)
        assert done.code == 2
        assert f"did you mean '{name}'" in done.err, done.err
        assert len(done.err) < 400


def test_a_bare_size_of_a_workload_is_refused(destage: Any, tmp_path: Path) -> None:
    file = tmp_path / "w.yaml"
    stream = "{name: s, arrival: {kind: fixed_outstanding, depth: 1}, address: {kind: uniform}"
    sizes = "operations: {read_fraction: 1, size: {kind: constant, value: 4096}}"
    file.write_text(f"workload:\n  streams:\n  - {stream}, {sizes}}}\n")
    done = destage("catalog", "show", str(file))
    assert done.issues == [("scenario.bad-quantity", "workload.streams.0.operations.size.value")]
    assert "write '4KiB' or '4096MiB'" in done.err
