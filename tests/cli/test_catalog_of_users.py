"""Disks and controllers of a user's own on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from destage.engine import catalog

DISK = ("capacity=600GB", "rpm=10500rpm", "average_seek=3.7ms", "outer_rate=215MB/s")
PRICES = {
    "currency": "EUR",
    "date": "2026-01-01",
    "source": "a list",
    "controllers": {"our_raid": 500},
    "disks": {"our_disk": 200},
}


@pytest.fixture(autouse=True)
def _catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the parts that a test adds."""
    monkeypatch.setattr(catalog, "_added", {})


@pytest.fixture
def parts(destage: Any, tmp_path: Path) -> str:
    """Write a folder with a disk and a controller."""
    folder = tmp_path / "parts"
    folder.mkdir()
    assert destage("catalog", "new", "disk", "our_disk", *DISK, "--out", str(folder / "disk.yaml")).code == 0
    made = destage(
        "catalog", "new", "controller", "our_raid", "cache=1GiB", "--out", str(folder / "raid.yaml")
    )
    assert made.code == 0
    return str(folder)


@pytest.fixture
def own_study(tmp_path: Path) -> str:
    """Write a study with parts that the catalogue lacks."""
    scenario = {
        "workload": {"use": "iometer_oltp"},
        "controller": {"use": "our_raid"},
        "array": {"raid": "10", "disks": 4, "disk": {"use": "our_disk"}},
        "run": {"warm_up": "none", "window": {"requests": 50}},
    }
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump({"name": "own", "scenario": scenario, "replicates": 1}))
    return str(file)


def test_a_study_uses_parts_of_catalog_and_its_sweep_keeps_them(
    destage: Any, parts: str, own_study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert destage("run", own_study).issues == [
        ("catalog.unknown-entry", "scenario.array.disk.use"),
        ("catalog.unknown-entry", "scenario.controller.use"),
    ]
    assert destage("run", own_study, "--quiet", "--catalog", parts).code == 0
    monkeypatch.setattr(catalog, "_added", {})
    assert "0 executed" in destage("run", "own").err
    assert destage("report", "own").code == 0
    monkeypatch.setenv("DESTAGE_CATALOG", parts)
    assert "1 reused" in destage("run", own_study).err


def test_other_commands_use_parts_of_catalog(
    destage: Any, parts: str, own_study: str, tmp_path: Path
) -> None:
    row = json.loads(destage("simulate", own_study, "--json", "--catalog", parts).out)
    assert row["status"] == "ok"
    listed = json.loads(destage("catalog", "list", "disks", "our_", "--json", "--catalog", parts).out)
    assert listed == {"disks": {"our_disk": "our_disk"}}
    shown = yaml.safe_load(destage("catalog", "show", "our_raid", "--catalog", parts).out)
    assert shown["config"]["cache"]["capacity"] == "1GiB"
    started = destage(
        *("init", "--no-input", "--out", "new.yaml", "--disk", "our_disk", "--controller", "our_raid"),
        *("--catalog", parts),
    )
    assert started.code == 0
    assert "our_disk" in (tmp_path / "new.yaml").read_text()
    imported = destage(
        *("workload", "import", "fio --name=a --rw=randread --bs=8k --size=1g", "--study"),
        *("--on", "raid5x4", "--disk", "our_disk", "--controller", "our_raid", "--catalog", parts),
    )
    assert yaml.safe_load(imported.out)["scenario"]["array"]["disk"] == {"use": "our_disk"}


def test_pods_get_a_study_with_its_own_parts(destage: Any, parts: str, own_study: str) -> None:
    """The files lie on this machine alone."""
    submitted = destage("cluster", "submit", own_study, "--dry-run", "--catalog", parts)
    texts = [
        text
        for manifest in yaml.safe_load_all(submitted.out)
        if manifest["kind"] == "ConfigMap"
        for text in manifest["data"].values()
    ]
    assert any("our_disk" in yaml.safe_load(text)["scenario"]["catalog"]["disks"] for text in texts)


def test_a_calibration_uses_parts_of_catalog(destage: Any, parts: str, calibration: Path) -> None:
    document = yaml.safe_load(calibration.read_text())
    document["scenario"]["controller"] = {"use": "our_raid"}
    calibration.write_text(yaml.safe_dump(document))
    assert destage("calibrate", str(calibration)).issues == [
        ("catalog.unknown-entry", "scenario.controller.use")
    ]
    assert destage("calibrate", str(calibration), "--quiet", "--catalog", parts).code == 0


def test_an_array_is_sized_of_own_parts(destage: Any, parts: str, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(yaml.safe_dump(PRICES))
    options = ("size", "--users", "5", "--workload", "vdi", "--raid", "10", "--count", "4", "--quiet")
    unknown = destage(*options, "--prices", str(prices))
    assert [code for code, _ in unknown.issues] == ["catalog.unknown-entry"] * 2
    assert "catalog new" in unknown.err
    assert f"{prices}:" in unknown.err
    sized = destage(*options, "--prices", str(prices), "--catalog", parts)
    assert sized.code == 0
    assert "our_disk" in sized.out


def test_new_parts_are_compared_with_their_sheets(destage: Any, parts: str, tmp_path: Path) -> None:
    compared = json.loads(destage("catalog", "check", parts, "--json").out)
    assert compared["our_raid"] == []
    quantities = {cell["quantity"]: cell for cell in compared["our_disk"]}
    assert quantities["outer_mb_per_s"]["sheet"] == 215
    assert all(cell["is_met"] for cell in quantities.values())
    marked = {name for name, cell in quantities.items() if cell["mark"] == "assumed"}
    assert marked == {"track_to_track_ms", "full_stroke_ms", "inner_mb_per_s"}
    table = destage("catalog", "check", parts).out
    assert {line.split()[0] for line in table.splitlines() if line.endswith("assumed")} == marked
    file = tmp_path / "parts" / "disk.yaml"
    document = yaml.safe_load(file.read_text())
    document["disks"]["our_disk"]["sheet"] = {"mean_mb_per_s": 400}
    file.write_text(yaml.safe_dump(document))
    missed = destage("catalog", "check", str(file), "--json")
    assert missed.code == 1
    assert [cell["quantity"] for cell in json.loads(missed.out)["our_disk"] if not cell["is_met"]] == [
        "mean_mb_per_s"
    ]


def test_a_new_part_has_its_title_and_source_and_is_not_overwritten(destage: Any, tmp_path: Path) -> None:
    command = ("catalog", "new", "disk", "our_disk", *DISK, "--out", "disk.yaml")
    named = ("--title", "Our 10K", "--source", "sheet of 2014, p. 2")
    assert destage(*command, *named).code == 0
    written = yaml.safe_load((tmp_path / "disk.yaml").read_text())["disks"]["our_disk"]
    assert (written["title"], written["source"]) == ("Our 10K", "sheet of 2014, p. 2")
    assert destage(*command).issues == [("usage.file-exists", "--out")]
    assert destage(*command, "--force").code == 0
    made = json.loads(destage("catalog", "new", "disk", "our_disk", *DISK, "--json").out)
    assert made["disks"]["our_disk"]["title"] == "our_disk"
    assert "seek.full_stroke" in made["disks"]["our_disk"]["assumed"]


def test_figures_are_listed_and_their_mistakes_found_at_once(destage: Any) -> None:
    listed = destage("catalog", "new", "ssd", "ours").out
    assert [line.split()[:2] for line in listed.splitlines()[:2]] == [
        ["capacity", "needed"],
        ["random_reads", "needed"],
    ]
    wrong = destage("catalog", "new", "disk", "ours", "capacity=600", "rpm=10500rpm", "outr_rate=215MB/s")
    assert sorted(wrong.issues) == [
        ("catalog.bad-quantity", "capacity"),
        ("catalog.missing-key", "average_seek"),
        ("catalog.missing-key", "outer_rate"),
        ("catalog.unknown-key", "outr_rate"),
    ]
    assert destage("catalog", "new", "disk", "ours", "capacity").issues == [
        ("usage.bad-assignment", "FIGURE=VALUE")
    ]
    assert destage("catalog", "new", "disk", "OurDisk", "capacity=1TB").issues == [
        ("usage.bad-value", "NAME")
    ]
    slips = ("capacity=20GB", "rpm=72rpm", "average_seek=8.5s", "outer_rate=285kB/s")
    assert sorted(destage("catalog", "new", "disk", "ours", *slips).issues) == [
        ("catalog.out-of-range", "average_seek"),
        ("catalog.out-of-range", "outer_rate"),
        ("catalog.out-of-range", "rpm"),
    ]
    bits = ("capacity=1.2TB", "rpm=10500rpm", "average_seek=3.7ms", "outer_rate=215Mb/s")
    refused = destage("catalog", "new", "disk", "ours", *bits)
    assert refused.issues == [("catalog.bad-quantity", "outer_rate")]
    assert "215MB/s" in refused.err
    link = (*bits[:3], "outer_rate=215MB/s", "interface_rate=12Gb/s")
    assert destage("catalog", "new", "disk", "ours", *link).code == 0
    assert destage("catalog", "new", "disk", "exos_x18", *DISK).issues == [
        ("catalog.name-taken", "disks.exos_x18")
    ]
    assert destage("catalog", "new", "disk", "Our Disk", *DISK).code == 2
