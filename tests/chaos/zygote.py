"""A process that has imported Destage and forks the sessions and readers of the schedules.

A fork takes milliseconds, and the import of Destage, pyarrow, DuckDB and Ray seconds. The process has no
threads, and no session has run in it.
"""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_POLL_S = 0.02
RAY_TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(16)}
"""The variables of the clusters and sessions of this process."""


@dataclass
class Session:
    """A forked process.

    Attributes:
        errors: The file of its standard error.
        is_reaped: Whether its exit code was read, after which its id may be that of another process.
    """

    zygote: "Zygote"
    pid: int
    errors: Path
    is_reaped: bool = False

    def wait(self, timeout_s: float) -> int | None:
        """Return the exit code, negative for a signal; None if it still runs."""
        code: int | None = self.zygote.send("wait", pid=self.pid, timeout_s=timeout_s)
        self.is_reaped = code is not None
        return code

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to a process that has not been waited for."""
        os.kill(self.pid, number)

    @property
    def is_stopped(self) -> bool:
        """Whether a signal has stopped the process."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    @property
    def has_ended(self) -> bool:
        """Whether the process has exited or was killed."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


class Zygote:
    """The client of the process that forks."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def fork(self, task: str, errors: Path, env: dict[str, str], **options: object) -> Session:
        """Run `chaos.driver` or `chaos.reader` in a fork of the process."""
        pid = self.send("fork", task=task, errors=str(errors), env=env, options=options)
        return Session(self, pid, errors)

    def send(self, command: str, **arguments: object) -> Any:
        """Send a command and return its answer."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([command, arguments]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the forking process has ended"
        return json.loads(line)


@contextmanager
def run_zygote() -> Iterator[Zygote]:
    """Run the process for a `with` block, with a token for Ray, which reads it when it is imported."""
    tests = str(Path(__file__).parents[1])
    command = [sys.executable, "-m", "chaos.zygote"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tests,
        env={**os.environ, **RAY_TOKEN},
    ) as process:
        yield Zygote(process)
        process.communicate()


def _serve() -> None:
    from chaos import driver, reader  # noqa: PLC0415 - the test's own process needs neither

    tasks = {"driver": driver.drive, "reader": reader.watch}
    while line := sys.stdin.readline():
        command, arguments = json.loads(line)
        if command == "wait":
            _answer(_wait(**arguments))
            continue
        pid = os.fork()
        if not pid:
            _become(arguments["errors"], arguments["env"])
            sys.exit(tasks[arguments["task"]](**arguments["options"]))
        _answer(pid)


def _wait(pid: int, timeout_s: float) -> int | None:
    end = time.monotonic() + timeout_s
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            return None
        time.sleep(_POLL_S)


def _answer(value: int | None) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _become(errors: str, env: dict[str, str]) -> None:
    """Give a fork the environment and the streams of a program of its own."""
    os.setsid()
    os.environ.clear()
    os.environ.update(env)
    output = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.close(output)


if __name__ == "__main__":
    _serve()
