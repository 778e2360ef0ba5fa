"""A process that ends what Ray leaves on this machine when the driver that started it is killed.

Ray's own processes end with their driver, but one that is starting at that moment waits over a minute for a
head that no longer exists. The processes are known by a variable of their environment, which they inherit;
setproctitle, with which they name themselves, would write over it where it comes early, were it not told to
leave the environment alone.
This file is also the program of the watchdog, hence only the standard library.
"""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

VARIABLE = "DESTAGE_RAY_OWNER"
_INHERITED = {"SPT_NOENV": "1"}
"""Variables with which a process of Ray leaves its environment as it was when it names itself."""
GRACE_S = 4.0
"""Time that Ray's processes have to end by themselves [s]."""
_LONGEST_S = 60.0
"""Time after which the watchdog ends in any case [s]."""
_TICK_S = 0.5
_PROCESSES = Path("/proc")


class RayWatchdog:
    """The watchdog of one driver; without `/proc`, as on macOS, there is none."""

    def __init__(self) -> None:
        self._token = secrets.token_hex(16)
        self._process: subprocess.Popen[bytes] | None = None

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Start the watchdog; the processes that are started in a `with` block have its variable."""
        if not (_PROCESSES / "self" / "environ").exists():
            yield
            return
        # Its standard input ends with the driver. A session of its own, so that Ctrl-C does not end it.
        self._process = subprocess.Popen(  # noqa: S603 - this file
            [sys.executable, "-I", "-S", __file__, self._token],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        added = {VARIABLE: self._token}
        added |= {name: text for name, text in _INHERITED.items() if name not in os.environ}
        os.environ.update(added)
        try:
            yield
        except BaseException:
            self.end()
            raise
        finally:
            for name in added:
                del os.environ[name]

    def end(self) -> None:
        """End the watchdog: Ray has been shut down."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def find_processes(token: str) -> list[int]:
    """Return the processes whose environment has a token."""
    wanted, processes = f"{VARIABLE}={token}".encode(), []
    for place in _PROCESSES.iterdir():
        # One that has ended, or is another user's.
        with suppress(OSError):
            if place.name.isdigit() and wanted in (place / "environ").read_bytes().split(b"\0"):
                processes.append(int(place.name))
    return processes


def watch(token: str) -> None:
    """Wait for the end of standard input, then end the processes that have a token."""
    sys.stdin.buffer.read()
    began = time.monotonic()
    while (left := find_processes(token)) and time.monotonic() - began < _LONGEST_S:
        if time.monotonic() - began >= GRACE_S:
            for process in left:
                with suppress(OSError):
                    os.kill(process, signal.SIGKILL)
        time.sleep(_TICK_S)


if __name__ == "__main__":
    watch(sys.argv[1])
