"""SIGINT and SIGTERM: the first drains the session (batches in flight are committed), the second aborts."""

import signal
import threading
from types import FrameType
from typing import Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Handles SIGINT and SIGTERM for the length of a `with` block; on the main thread only."""

    def __init__(self) -> None:
        self.is_draining = False
        self._is_aborting = False
        self._previous: dict[signal.Signals, object] = {}
        self._is_main_thread = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        self._previous = {number: signal.getsignal(number) for number in _SIGNALS}
        self.install()
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_main_thread:
            for number, handler in self._previous.items():
                signal.signal(number, handler or signal.SIG_DFL)  # type: ignore[arg-type]

    def install(self) -> None:
        """Install the handler, again after a library (Ray) has replaced it."""
        if self._is_main_thread:
            for number in _SIGNALS:
                signal.signal(number, self._handle)

    def check(self) -> None:
        """Raise KeyboardInterrupt if a second signal has arrived, again if a library has caught it."""
        if self._is_aborting:
            raise KeyboardInterrupt

    def _handle(self, _signal: int, _frame: FrameType | None) -> None:
        if self.is_draining:
            self._is_aborting = True
            raise KeyboardInterrupt
        self.is_draining = True
