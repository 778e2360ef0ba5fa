"""Limits of a query's time, rows and memory, and its end by Ctrl-C.

A query runs on a thread of its own, so that the caller's thread can interrupt it: DuckDB ends a query within
milliseconds of `interrupt`, recursive ones too, but does not return to Python in between. A single call of a
function such as `repeat('x', 1000000000)` cannot be interrupted: its query is abandoned with its connection.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from destage.errors import QueryError
from destage.machine import read_memory_size

_Result = TypeVar("_Result")
THREAD = "destage-query"
"""The name of the threads of queries."""
_TICK_S = 0.05
"""Interval between two interrupts [s]: one before the query begins has no effect."""
_END_S = 2.0
"""Time that a query has to end at its time limit before it is abandoned [s]."""
_SIGNAL_END_S = 0.5
"""The same after Ctrl-C, when somebody waits [s]."""


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What a query may use.

    Attributes:
        seconds: Its duration [s].
        rows: The rows of its result.
        memory_bytes: The memory of all tables and intermediate results, and of the result.
    """

    seconds: float = 600.0
    rows: int = 10_000_000
    memory_bytes: int = read_memory_size() // 2


class Interruptible(Protocol):
    """What runs a query.

    Attributes:
        is_abandoned: Whether a query could not be interrupted, so that no other can be run.
    """

    is_abandoned: bool

    def interrupt(self) -> None:
        """End the query that is running."""
        ...

    def release(self) -> None:
        """Free everything after an abandoned query has ended; called on the thread of the query."""
        ...


class _Execution:
    """One call on a thread of its own."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self.result: Any = None
        self.error: BaseException | None = None
        self.has_ended = threading.Event()
        self._lock = threading.Lock()
        self._release: Callable[[], None] | None = None
        # A daemon, so that a call that does not end cannot keep the process alive.
        threading.Thread(target=self._run, name=THREAD, daemon=True).start()

    def _run(self) -> None:
        try:
            self.result = self._function()
        except BaseException as error:  # noqa: BLE001 - raised again on the caller's thread
            self.error = error
        finally:
            with self._lock:
                self.has_ended.set()
            if self._release is not None:
                self._release()

    def abandon(self, release: Callable[[], None]) -> bool:
        """Have `release` called when the call ends; return whether it has not ended yet."""
        with self._lock:
            if not self.has_ended.is_set():
                self._release = release
        return self._release is not None


def execute_limited(
    function: Callable[[], _Result], connection: Interruptible, seconds: float, limit_s: float
) -> _Result:
    """Call a function that runs a query, and interrupt the query after a time or a signal.

    Args:
        limit_s: The limit of which `seconds` are left, for messages [s].

    Raises:
        QueryError: It took longer.
        KeyboardInterrupt: A signal arrived.
    """
    execution = _Execution(function)
    try:
        has_ended = execution.has_ended.wait(min(seconds, threading.TIMEOUT_MAX))
    except BaseException:
        _interrupt(execution, connection, _SIGNAL_END_S)
        raise
    if not has_ended:
        _interrupt(execution, connection, _END_S)
        message = f"stopped after {limit_s:g} s; narrow the query, or raise --timeout"
        raise QueryError("query.timeout", message, data={"limit_s": limit_s})
    if execution.error is not None:
        raise execution.error
    result: _Result = execution.result
    return result


def _interrupt(execution: _Execution, connection: Interruptible, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not execution.has_ended.is_set() and time.monotonic() < deadline:
        connection.interrupt()
        execution.has_ended.wait(_TICK_S)
    connection.is_abandoned = execution.abandon(connection.release)
