"""Commands in a pseudo-terminal, to which a test types."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from typing import Self

PATIENCE_S = 30.0
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[()][0-9A-Za-z]|[=>78])")


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

    def read_rest(self) -> str:
        """Return what else a command that has ended has written."""
        while select.select([self._master], [], [], 0.1)[0]:
            try:
                written = os.read(self._master, 65536)
            except OSError:
                break
            self._text = _ESCAPE.sub("", self._text + written.decode(errors="replace"))
        return self._text

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
