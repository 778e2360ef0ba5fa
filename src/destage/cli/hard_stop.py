"""The end of a command that does not react to its second SIGINT or SIGTERM.

Python handles signals between its own instructions, so that native code may delay the handler: Ray while it
starts, or a bucket that does not answer. A sweep's files are whole at any moment.
"""

import os
import signal
import socket
import threading
from typing import Self

from destage.cli.output import print_warning
from destage.errors import Issue

ALLOWANCE_S = 2.0
"""Time that a command has to end by itself after the second signal [s]."""
_INTERRUPTED = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_END = 0
"""The byte that ends the thread; no signal has this number."""


class HardStop:
    """Ends the process a moment after the second signal within a `with` block; on the main thread only."""

    def __init__(self, name: str) -> None:
        self._name = name
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
        count = 0
        while count < 2:  # noqa: PLR2004 - the second signal aborts
            (number,) = self._read.recv(1)
            if number == _END:
                return
            count += number in _SIGNALS
        if not self._has_ended.wait(ALLOWANCE_S):
            message = "aborted; committed runs are kept, run the same command again to continue"
            print_warning(Issue("sweep.aborted", self._name, message))
            os._exit(_INTERRUPTED)
