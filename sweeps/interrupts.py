"""Ctrl-C: once drains (no new batch starts, those under way are committed), twice aborts."""

import signal
import threading
from types import FrameType
from typing import Self


class Interrupts:
    """Listens for Ctrl-C for the length of a `with` block; on any thread but the main one it never hears it.

    Attributes:
        is_draining: Whether it was pressed.
    """

    def __init__(self) -> None:
        self.is_draining = False
        self._previous: object = None
        self._listens = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        if self._listens:
            self._previous = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        if self._listens:
            signal.signal(signal.SIGINT, self._previous)  # type: ignore[arg-type]

    def _hear(self, _signal: int, _frame: FrameType | None) -> None:
        if self.is_draining:
            raise KeyboardInterrupt
        self.is_draining = True
