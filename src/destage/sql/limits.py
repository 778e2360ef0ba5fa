"""Limits of a query's time, rows and memory, and its end by Ctrl-C.

A query runs on a thread of its own, so that the caller's thread can interrupt it: DuckDB ends a query within
milliseconds of `interrupt`, recursive ones too, but does not return to Python in between.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from destage.errors import QueryError
from destage.machine import read_memory_size

_Result = TypeVar("_Result")
_TICK_S = 0.05
"""Interval between two interrupts [s]: one before the query begins has no effect."""
_END_S = 2.0
"""Time that an interrupted query has to end before it is abandoned [s]."""


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
    """What runs a query, such as a DuckDB connection."""

    def interrupt(self) -> None:
        """End the query that is running."""
        ...


class _Execution:
    """One call on a thread of its own."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self.result: Any = None
        self.error: BaseException | None = None
        self.has_ended = threading.Event()
        # A daemon, so that a call that does not end cannot keep the process alive.
        threading.Thread(target=self._run, name="destage-query", daemon=True).start()

    def _run(self) -> None:
        try:
            self.result = self._function()
        except BaseException as error:  # noqa: BLE001 - raised again on the caller's thread
            self.error = error
        finally:
            self.has_ended.set()


def execute_limited(function: Callable[[], _Result], connection: Interruptible, seconds: float) -> _Result:
    """Call a function that runs a query, and interrupt the query after a time or a signal.

    Raises:
        QueryError: It took longer.
        KeyboardInterrupt: A signal arrived.
    """
    execution = _Execution(function)
    try:
        has_ended = execution.has_ended.wait(seconds)
    except BaseException:
        _interrupt(execution, connection)
        raise
    if not has_ended:
        _interrupt(execution, connection)
        message = f"stopped after {seconds:g} s; narrow the query, or raise --timeout"
        raise QueryError("query.timeout", message, data={"limit_s": seconds})
    if execution.error is not None:
        raise execution.error
    result: _Result = execution.result
    return result


def _interrupt(execution: _Execution, connection: Interruptible) -> None:
    deadline = time.monotonic() + _END_S
    while not execution.has_ended.is_set() and time.monotonic() < deadline:
        connection.interrupt()
        execution.has_ended.wait(_TICK_S)
