"""Ctrl-C, or a request to terminate: once drains (those under way are committed), twice aborts."""

import signal
import threading
from types import FrameType
from typing import Self

_HEARD = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Listens for SIGINT and SIGTERM for the length of a `with` block; on the main thread only.

    Attributes:
        is_draining: Whether one was heard.
    """

    def __init__(self) -> None:
        self.is_draining = False
        self._previous: dict[signal.Signals, object] = {}
        self._listens = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        self._previous = {number: signal.getsignal(number) for number in _HEARD}
        self.listen()
        return self

    def __exit__(self, *_: object) -> None:
        if self._listens:
            for number, handler in self._previous.items():
                signal.signal(number, handler or signal.SIG_DFL)  # type: ignore[arg-type]

    def listen(self) -> None:
        """Listen, or listen again after somebody else (Ray does) has put a handler in this one's place."""
        if self._listens:
            for number in _HEARD:
                signal.signal(number, self._hear)

    def _hear(self, _signal: int, _frame: FrameType | None) -> None:
        if self.is_draining:
            raise KeyboardInterrupt
        self.is_draining = True
