"""Labels of a study reach a terminal with their control characters escaped."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import AXES
from small_studies import small_study

from destage.sweeps import parse_study, run

LABEL = "a\x1b]0;pwn\x07\x1b[2J\x9b5mb"


@pytest.fixture(scope="module")
def labelled_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with a finished sweep, one point of which has the label; tests copy it."""
    folder = tmp_path_factory.mktemp("labelled")
    path = folder / "small.yaml"
    point = {"label": LABEL, "workload.users": 7}
    path.write_text(f"{small_study('small', *AXES)}\npoints: {json.dumps([point])}\n")
    run(parse_study(path.read_text()), folder / "store", executor="inline")
    return folder / "store"


@pytest.fixture
def sweep(labelled_store: Path, tmp_path: Path) -> str:
    """Copy the sweep into the test's store; return its name."""
    shutil.copytree(labelled_store, tmp_path / "store")
    return "small"


def test_a_run_obeys_no_label(destage: Any, sweep: str, labelled_store: Path) -> None:
    """The sweep is finished: the command prints its answers, and writes its report."""
    done = destage("run", str(labelled_store.parent / f"{sweep}.yaml"), "--quiet")
    assert done.code == 0, done.err
    assert not {"\x1b", "\x07", "\x9b"} & set(done.out + done.err)


@pytest.mark.parametrize(
    "command",
    [
        ("query", "SWEEP", "SELECT label FROM points"),
        ("query", "SWEEP", "SELECT label || '' AS \"\x1b[1m\" FROM points"),
        ("query", "SWEEP", "SELECT nonsense\x1b[1m FROM points"),
        ("query", "SWEEP", "design_space", "--format", "markdown"),
        ("report", "SWEEP", "--out", "report.html"),
        ("status", "SWEEP"),
        ("explain", "point", "SWEEP"),
    ],
)
def test_no_command_obeys_a_label(destage: Any, sweep: str, command: tuple[str, ...]) -> None:
    done = destage(*(sweep if word == "SWEEP" else word for word in command))
    assert not {"\x1b", "\x07", "\x9b"} & set(done.out + done.err)


def test_data_in_a_file_or_a_pipe_is_exact(destage: Any, sweep: str) -> None:
    done = destage(
        "query", sweep, "SELECT DISTINCT label FROM points WHERE label IS NOT NULL", "--format", "csv"
    )
    assert list(csv.DictReader(io.StringIO(done.out))) == [{"label": LABEL}]
    done = destage("query", sweep, "SELECT DISTINCT label FROM points WHERE label IS NOT NULL", "--json")
    assert json.loads(done.out) == [{"label": LABEL}]
