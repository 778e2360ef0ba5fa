"""What `destage admin doctor` finds wrong with a machine and a store."""

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from destage.store.files.layout import SweepLayout
from destage.store.opened import file_checks


def test_the_doctor_finds_no_problem(destage: Any) -> None:
    done = destage("admin", "doctor", "--json")
    assert done.code == 0
    found = json.loads(done.out)
    assert found["problems"] == []
    assert {"pyarrow", "duckdb", "ray", "engine", "store"} <= found["facts"].keys()


def test_the_doctor_reports_problems_with_codes(
    destage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("importlib.metadata.requires", lambda _: ["no-such-package>=1"])
    done = destage("admin", "doctor", "--json", "--store", str(tmp_path / "file"))
    assert done.code == 1
    expected = [("system.package-missing", "no-such-package"), ("store.not-writable", str(tmp_path / "file"))]
    assert done.issues == expected
    assert [(each["code"], each["place"]) for each in json.loads(done.out)["problems"]] == expected


def _flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))


@pytest.mark.usefixtures("sweep")
def test_damaged_files_of_sweeps_are_found(destage: Any, tmp_path: Path) -> None:
    assert destage("admin", "doctor").code == 0
    (path,) = (tmp_path / "store" / "sweeps").iterdir()
    fragment, plan = next(path.glob("fragments/*")), next(path.glob("generations/*plan*.parquet"))
    _flip(fragment)
    _flip(plan)
    done = destage("admin", "doctor")
    assert done.code == 1
    assert sorted(done.issues) == [
        ("store.damaged-file", str(plan)),
        ("store.damaged-fragment", str(fragment)),
    ]
    (head,) = path.glob("generations/*.json")
    _flip(head)
    assert destage("admin", "doctor").issues == [("store.damaged-file", str(head))]


@pytest.mark.usefixtures("sweep")
def test_a_lost_file_of_a_sweep_is_found(destage: Any, tmp_path: Path) -> None:
    (path,) = (tmp_path / "store" / "sweeps").iterdir()
    plan = next(path.glob("generations/*plan*.parquet"))
    plan.unlink()
    assert destage("admin", "doctor").issues == [("store.lost-file", str(plan))]


@pytest.mark.usefixtures("sweep")
def test_a_sweep_that_is_planned_again_meanwhile_is_no_problem(
    destage: Any, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of the first head are deleted, and fragments are moved, after both were listed."""
    (path,) = (tmp_path / "store" / "sweeps").iterdir()
    compare, compared = file_checks.is_intact, []

    def replan_and_compare(place: Path) -> bool:
        if not compared:
            study.write_text(study.read_text().replace("replicates: 2", "replicates: 3"))
            assert destage("run", str(study), "--executor", "inline", "--quiet").code == 0
        compared.append(place)
        return compare(place)

    monkeypatch.setattr(file_checks, "is_intact", replan_and_compare)
    checked = file_checks.check_sweep(SweepLayout(path))
    assert checked.problems == ()
    assert any(not place.exists() for place in compared)


@pytest.mark.usefixtures("sweep")
def test_a_file_that_cannot_be_read_is_a_problem(
    destage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = (tmp_path / "store" / "sweeps").iterdir()

    def fail(place: Path) -> None:
        raise OSError(errno.EIO, "Input/output error", str(place))

    monkeypatch.setattr(file_checks, "open_fragment", fail)
    assert {code for code, _ in destage("admin", "doctor").issues} == {"store.unreadable-file"}
    assert len(list(path.glob("fragments/*"))) == len(destage("admin", "doctor").issues)


def test_nothing_is_left_of_the_file_that_is_tried(destage: Any, tmp_path: Path) -> None:
    assert destage("admin", "doctor", "--store", str(tmp_path / "new" / "store")).code == 0
    assert list(tmp_path.iterdir()) == []
