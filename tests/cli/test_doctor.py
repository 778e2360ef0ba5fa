"""What `destage doctor` finds wrong with a machine and a store."""

import json
from pathlib import Path
from typing import Any

import pytest


def test_the_doctor_finds_no_problem(destage: Any) -> None:
    done = destage("doctor", "--json")
    assert done.code == 0
    found = json.loads(done.out)
    assert found["problems"] == []
    assert {"pyarrow", "duckdb", "ray", "engine", "store"} <= found["facts"].keys()


def test_the_doctor_reports_problems_with_codes(
    destage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("importlib.metadata.requires", lambda _: ["no-such-package>=1"])
    done = destage("doctor", "--json", "--store", str(tmp_path / "file"))
    assert done.code == 1
    expected = [("system.package-missing", "no-such-package"), ("store.not-writable", str(tmp_path / "file"))]
    assert done.issues == expected
    assert [(each["code"], each["place"]) for each in json.loads(done.out)["problems"]] == expected


def _flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))


def test_damaged_files_of_sweeps_are_found(destage: Any, study: Path, tmp_path: Path) -> None:
    assert destage("run", str(study), "--executor", "inline", "--quiet").code == 0
    assert destage("doctor").code == 0
    (path,) = (tmp_path / "store" / "sweeps").iterdir()
    fragment, plan = next(path.glob("fragments/*")), next(path.glob("generations/*.parquet"))
    _flip(fragment)
    _flip(plan)
    done = destage("doctor")
    assert done.code == 1
    assert sorted(done.issues) == [
        ("store.damaged-file", str(plan)),
        ("store.damaged-fragment", str(fragment)),
    ]
    (head,) = path.glob("generations/*.json")
    _flip(head)
    assert destage("doctor").issues == [("store.damaged-file", str(head))]


def test_a_lost_file_of_a_sweep_is_found(destage: Any, study: Path, tmp_path: Path) -> None:
    assert destage("run", str(study), "--executor", "inline", "--quiet").code == 0
    (path,) = (tmp_path / "store" / "sweeps").iterdir()
    plan = next(path.glob("generations/*.parquet"))
    plan.unlink()
    assert destage("doctor").issues == [("store.lost-file", str(plan))]


def test_nothing_is_left_of_the_file_that_is_tried(destage: Any, tmp_path: Path) -> None:
    assert destage("doctor", "--store", str(tmp_path / "new" / "store")).code == 0
    assert list(tmp_path.iterdir()) == []
