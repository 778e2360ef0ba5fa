"""The shell completes studies, sweeps, presets, catalogue entries, questions, columns and parameters."""

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from destage import engine
from destage.cli import app
from destage.queries.named.named_queries import list_queries
from destage.sweeps import studies


@pytest.fixture
def complete(destage: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that completes the last word of a command line as bash asks for it."""

    def run(*words: str) -> list[str]:
        monkeypatch.setattr("sys.argv", ["destage"])
        monkeypatch.setenv("_DESTAGE_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", shlex.join(["destage", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        done = destage()
        monkeypatch.delenv("_DESTAGE_COMPLETE")
        assert done.code == 0, done
        return [line for line in done.out.splitlines() if line]

    monkeypatch.setattr(app, "info", app.info)
    return run


def test_studies_are_those_bundled_and_those_in_files(complete: Any, tmp_path: Path) -> None:
    (tmp_path / "call_mine.yaml").touch()
    (tmp_path / "call_notes.txt").touch()
    expected = [name for name in studies.names() if name.startswith("call")]
    assert complete("run", "call") == [*expected, "call_mine.yaml"]
    assert set(studies.names()) <= set(complete("catalog", "show", ""))


def test_files_in_folders_are_completed(complete: Any, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "a.yaml").touch()
    assert complete("run", "--plan", "min") == ["mine/"]
    assert complete("run", "--plan", "mine/") == ["mine/a.yaml"]
    assert complete("simulate", f"{folder}/a") == [f"{folder}/a.yaml"]


def test_presets_and_catalogue_entries(complete: Any) -> None:
    assert complete("catalog", "show", "vdi") == ["vdi", "vdi_logon_storm"]
    assert complete("catalog", "list", "d") == ["disks"]
    assert complete("catalog", "list", "disks", "exos_x1") == ["exos_x18", "exos_x16"]
    assert complete("catalog", "list", "disks", "smart") == []


def test_questions_columns_and_parameters(complete: Any) -> None:
    assert complete("query", "x", "") == sorted({query.name for query in list_queries()})
    assert complete("catalog", "list", "columns", "response_p9") == [
        column.name for column in engine.columns() if column.name.startswith("response_p9")
    ]
    assert complete("simulate", "x.yaml", "--set", "controller.cache.ca") == ["controller.cache.capacity"]
    assert "use" in [path.rpartition(".")[2] for path in complete("simulate", "x", "--set", "array.disk.")]


def test_sweeps_and_their_columns(complete: Any, destage: Any, study: Path) -> None:
    assert complete("status", "") == []
    assert destage("run", str(study), "--quiet").code == 0
    sweep, name = complete("status", "sm")
    assert (sweep, name.startswith("small-")) == ("small", True)
    assert complete("report", "small-") == [name]
    assert "SELECT users" in complete("query", "small", "SELECT use")
    assert complete("query", "small", "next_m") == ["next_megabyte"]
    assert "users > 5 AND battery_state" in complete("compare", "small", "--a", "users > 5 AND batt")


def test_a_completion_that_fails_is_silent(complete: Any) -> None:
    assert complete("run", "--plan", "nowhere/x") == []
    assert complete("query", "nowhere", "SELECT sel") == []


def test_the_program_is_named_destage_as_a_module(
    complete: Any, destage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`python -m` runs a module of a package, after which the program would be named otherwise."""
    monkeypatch.setattr(sys.modules["__main__"], "__package__", "package", raising=False)
    assert complete("catalog", "list", "d") == ["disks"]
    assert "destage run" in destage("run", "--help").out.splitlines()[0]
