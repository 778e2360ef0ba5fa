"""The prompt of `destage sql`, in a pseudo-terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest
from small_studies import small_study

from destage.cli import app

ENDLESS = (
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t WHERE n < 0;"
)
PATIENCE_S = 30.0
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[()][0-9A-Za-z]|[=>78])")
PROMPT = "destage>"


class Terminal:
    """A command in a pseudo-terminal of 100 columns, to which a test types."""

    def __init__(self, *arguments: str, environment: dict[str, str]) -> None:
        master, slave = pty.openpty()
        self._master = master
        self._text = ""
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from destage.cli import app; app()", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "100", "PROMPT_TOOLKIT_NO_CPR": "1"} | environment,
            preexec_fn=_take_terminal,  # noqa: PLW1509 - Ctrl-C reaches the process of a terminal only
        )
        os.close(slave)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def read_until(self, wanted: str) -> str:
        """Return what was written up to and with a text; what follows is kept for the next call."""
        deadline = time.monotonic() + PATIENCE_S
        while wanted not in self._text:
            if time.monotonic() > deadline:
                raise AssertionError(f"no {wanted!r} in {self._text!r}")
            if select.select([self._master], [], [], 0.1)[0]:
                written = os.read(self._master, 65536).decode(errors="replace")
                self._text = _ESCAPE.sub("", self._text + written)
        found, _, self._text = self._text.partition(wanted)
        return found + wanted

    def ask(self, text: str, wanted: str) -> str:
        """Type a statement and return what was written up to a text, after the next prompt was there."""
        self.type(f"{text}\r")
        return self.read_until(wanted) + self.read_until(PROMPT)

    def wait(self) -> int:
        return self.process.wait(PATIENCE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)


def _take_terminal() -> None:
    import fcntl  # noqa: PLC0415 - in the child
    import termios  # noqa: PLC0415

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
    with Terminal("sql", "small", "--store", str(store), environment=environment) as opened:
        opened.read_until(PROMPT)
        yield opened


def test_a_statement_of_several_lines_ends_with_a_semicolon(terminal: Terminal) -> None:
    terminal.type("SELECT users,\r")
    terminal.read_until("...")
    assert "product" in terminal.ask("4 * 5 AS product FROM configurations;", "20")


def test_an_error_is_one_line_and_the_prompt_stays(terminal: Terminal) -> None:
    text = terminal.ask("SELECT nope FROM points;", "query.unknown-name")
    assert "Traceback" not in text
    terminal.ask("DROP VIEW points;", "query.statement-not-allowed")
    terminal.ask("SELECT 40 + 2 AS answer;", "42")


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
    terminal.ask("SELECT 40 + 2 AS answer;", "42")
    terminal.type("\x04")
    assert terminal.wait() == 0


def test_names_are_completed(terminal: Terminal) -> None:
    terminal.type("SELECT users FROM config\t")
    terminal.read_until("configurations")
    terminal.ask(" ORDER BY users LIMIT 1;", "5")
    terminal.type("DESCRIBE margin\t")
    terminal.read_until("marginals")
    terminal.ask(";", "meaning")


def test_statements_are_remembered(store: Path, tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    for typed in ("SELECT 6 * 7 AS known;", "\x1b[A\x1b[A"):
        with Terminal("sql", "small", "--store", str(store), environment=environment) as terminal:
            terminal.read_until(PROMPT)
            terminal.ask(typed, "42")
            terminal.type("exit\r")
            assert terminal.wait() == 0
    history = tmp_path / "state" / "destage" / "sql_history"
    assert history.stat().st_mode & 0o077 == 0
    assert "SELECT 6 * 7 AS known;" in history.read_text()
