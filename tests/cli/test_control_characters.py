"""Labels of a study reach a terminal with their control characters escaped."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

LABEL = "a\x1b]0;pwn\x07\x1b[2J\x9b5mb"


@pytest.fixture
def sweep(destage: Any, study: Path) -> str:
    document = study.read_text()
    assert "points:" not in document
    point = {"label": LABEL, "workload.users": 7}
    study.write_text(f"{document}\npoints: {json.dumps([point])}\n")
    done = destage("run", str(study), "--quiet")
    assert done.code == 0, done.err
    assert not {"\x1b", "\x07", "\x9b"} & set(done.out + done.err)
    return "small"


@pytest.mark.parametrize(
    "command",
    [
        ("sql", "SELECT label FROM points"),
        ("sql", "SELECT label || '' AS \"\x1b[1m\" FROM points"),
        ("sql", "SELECT nonsense\x1b[1m FROM points"),
        ("query", "design_space", "--format", "markdown"),
        ("report", "--out", "report.html"),
        ("status",),
        ("explain", "--point", "0"),
    ],
)
def test_no_command_obeys_a_label(destage: Any, sweep: str, command: tuple[str, ...]) -> None:
    name, *rest = command
    done = destage(name, sweep, *rest)
    assert not {"\x1b", "\x07", "\x9b"} & set(done.out + done.err)


def test_data_in_a_file_or_a_pipe_is_exact(destage: Any, sweep: str) -> None:
    done = destage(
        "sql", sweep, "SELECT DISTINCT label FROM points WHERE label IS NOT NULL", "--format", "csv"
    )
    assert list(csv.DictReader(io.StringIO(done.out))) == [{"label": LABEL}]
    done = destage("sql", sweep, "SELECT DISTINCT label FROM points WHERE label IS NOT NULL", "--json")
    assert json.loads(done.out) == [{"label": LABEL}]
