"""What ends a session before its work is done: a signal, a lost lease, a budget that is used up.

SIGINT and SIGTERM: the first drains the session (batches in flight are committed), the second aborts.
"""

import signal
import threading
import time
from dataclasses import dataclass
from types import FrameType
from typing import Self

from destage.errors import Issue
from destage.store.locks.lease import Lease
from destage.sweeps.execution.outcomes import SessionState

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


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """What may end a session.

    Attributes:
        place: The sweep in messages.
        deadline: The end of the budget [s on the monotonic clock], if there is one.
    """

    place: str
    lease: Lease
    interrupts: Interrupts
    deadline: float | None = None

    def find(self, messages: list[Issue]) -> SessionState | None:
        """Return why the session has to end now, if it has to, with a message for what nobody asked for."""
        if self.lease.is_lost:
            message = "the lease could not be renewed; another process may be writing this sweep"
            messages.append(Issue("sweep.lease-lost", self.place, message))
            return "infrastructure"
        if self.interrupts.is_draining:
            return "interrupted"
        return "budget" if self.is_past() else None

    def is_past(self, allowance_s: float = 0.0) -> bool:
        """Return whether the budget is used up for so long [s]."""
        return self.deadline is not None and time.monotonic() >= self.deadline + allowance_s
