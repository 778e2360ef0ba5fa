"""The prompt of `destage query`, in a pseudo-terminal."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_studies import small_study
from terminals import Terminal

from destage.cli import app

ENDLESS = (
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t WHERE n < 0;"
)
PROMPT = "destage>"


def _ask(terminal: Terminal, text: str, wanted: str) -> str:
    """Type a statement and return what was written up to a text, after the next prompt was there."""
    terminal.type(f"{text}\r")
    return terminal.read_until(wanted) + terminal.read_until(PROMPT)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a small sweep, `small`."""
    folder = tmp_path_factory.mktemp("prompt")
    study = folder / "small.yaml"
    study.write_text(small_study("small", "workload.users: [5, 10]", requests=50))
    with pytest.raises(SystemExit):
        app(["run", str(study), "--store", str(folder), "--executor", "inline", "--quiet"])
    return folder


@pytest.fixture
def terminal(store: Path, tmp_path: Path) -> Iterator[Terminal]:
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    with Terminal("query", "small", "-", "--store", str(store), environment=environment) as opened:
        opened.read_until(PROMPT)
        yield opened


def test_a_statement_of_several_lines_ends_with_a_semicolon(terminal: Terminal) -> None:
    terminal.type("SELECT users,\r")
    terminal.read_until("...")
    assert "product" in _ask(terminal, "4 * 5 AS product FROM configurations;", "20")


def test_an_error_is_one_line_and_the_prompt_stays(terminal: Terminal) -> None:
    text = _ask(terminal, "SELECT nope FROM points;", "query.unknown-name")
    assert "Traceback" not in text
    _ask(terminal, "DROP VIEW points;", "query.statement-not-allowed")
    _ask(terminal, "SELECT 40 + 2 AS answer;", "42")


def test_control_c_ends_a_statement_and_control_d_the_prompt(terminal: Terminal) -> None:
    terminal.type(f"{ENDLESS}\r")
    time.sleep(1.0)
    terminal.type("\x03")
    terminal.read_until("interrupted")
    terminal.read_until(PROMPT)
    terminal.type("SELECT 1 AS dropped")
    terminal.read_until("dropped")
    terminal.type("\x03")
    terminal.read_until(PROMPT)
    _ask(terminal, "SELECT 40 + 2 AS answer;", "42")
    terminal.type("\x04")
    assert terminal.wait() == 0


def test_names_are_completed(terminal: Terminal) -> None:
    terminal.type("SELECT users FROM config\t")
    terminal.read_until("configurations")
    _ask(terminal, " ORDER BY users LIMIT 1;", "5")
    terminal.type("DESCRIBE margin\t")
    terminal.read_until("marginals")
    _ask(terminal, ";", "meaning")


def test_statements_are_remembered(store: Path, tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    for typed in ("SELECT 6 * 7 AS known;", "\x1b[A\x1b[A"):
        with Terminal("query", "small", "-", "--store", str(store), environment=environment) as terminal:
            terminal.read_until(PROMPT)
            _ask(terminal, typed, "42")
            terminal.type("exit\r")
            assert terminal.wait() == 0
    history = tmp_path / "state" / "destage" / "sql_history"
    assert history.stat().st_mode & 0o077 == 0
    assert "SELECT 6 * 7 AS known;" in history.read_text()
