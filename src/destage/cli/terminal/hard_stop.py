"""The end of a command that does not react to SIGINT or SIGTERM.

Python handles signals between its own instructions, so that native code may delay the handler: Ray while it
starts, a bucket that does not answer, or one long call of the engine. The files of a sweep are whole at any
moment.
"""

import os
import signal
import socket
import threading
from typing import Self

from destage.cli.terminal.output import INTERRUPTED, print_warning
from destage.errors import Issue

ALLOWANCE_S = 2.0
"""Time that a sweep has to end by itself after the second signal [s]."""
_AT_ONCE_S = 0.4
"""The same for a command without a sweep, after the first signal [s]."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_END = 0
"""The byte that ends the thread; no signal has this number."""


class HardStop:
    """In a `with` block, ends a process that is still running shortly after the signal that aborts it.

    Only for the main thread.

    Args:
        sweep: The sweep that the first signal drains and the second aborts; without one, the first aborts.
    """

    def __init__(self, sweep: str = "") -> None:
        self._sweep = sweep
        self._has_ended = threading.Event()
        self._previous = -1
        self._read, self._write = socket.socketpair()

    def __enter__(self) -> Self:
        self._write.setblocking(False)
        # The C handler writes the signal's number, even while Python cannot run.
        self._previous = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._previous)
        self._has_ended.set()
        self._write.send(bytes([_END]))

    def _watch(self) -> None:
        awaited = 2 if self._sweep else 1
        while awaited:
            (number,) = self._read.recv(1)
            if number == _END:
                return
            awaited -= number in _SIGNALS
        if self._has_ended.wait(ALLOWANCE_S if self._sweep else _AT_ONCE_S):
            return
        if self._sweep:
            message = "aborted; committed runs are kept, run the same command again to continue"
            print_warning(Issue("sweep.aborted", self._sweep, message))
        os._exit(INTERRUPTED)
