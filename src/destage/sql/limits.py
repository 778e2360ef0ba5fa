"""The ends of a statement that has no rows: its limits of time, rows and memory, Ctrl-C, and its errors.

A statement runs on a thread of its own, so that the caller's thread can interrupt it: DuckDB ends it within
milliseconds of `interrupt`, recursive ones too, but does not return to Python in between. A single call of a
function such as `repeat('x', 1000000000)` cannot be interrupted: its statement is abandoned with its
connection.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import duckdb
import pyarrow as pa

from destage.errors import MachineError, QueryError
from destage.machine import read_memory_size
from destage.system_failures import read_shortage

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


_INTERRUPTED = "Query interrupted"
FAILURES = (duckdb.Error, OSError, pa.ArrowException)
"""What a statement raises; Arrow wraps an error that DuckDB has after its first rows."""


@contextmanager
def raising_failures() -> Iterator[None]:
    """Raise the error of a statement in the block as one of Destage's; Ctrl-C stays what it is.

    Raises:
        QueryError: The statement was refused or could not be run.
        KeyboardInterrupt: A signal arrived while DuckDB ran on the main thread.
    """
    try:
        yield
    except FAILURES as error:
        raise build_error(read_details(error)) from error
    except RuntimeError as error:
        # DuckDB replaces the exception of a signal handler by its own.
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from None
        raise


def read_details(error: Exception) -> dict[str, Any]:
    """Return the fields of a DuckDB error, or only its message where it is not JSON."""
    text = str(error)
    try:
        details: dict[str, Any] = json.loads(text[text.index("{") :])
    except ValueError:
        return {"exception_message": text.partition("Error: ")[2] or text}
    return details


def build_error(details: dict[str, Any]) -> QueryError | MachineError:
    """Return the error of a statement that could not be bound or run."""
    message = read_message(details)
    if (shortage := read_shortage(message)) is not None:
        return shortage
    code, data = "query.failed", None
    match details.get("exception_type"):
        case "INTERRUPT":
            message = "interrupted"
        case "Permission":
            code = "query.access-denied"
            message = "a query can only read the sweep's rows, not files, directories or the network"
        case "Parser" | "Syntax Error":
            code = "query.bad-syntax"
        case "Binder" | "Catalog":
            code, data = "query.unknown-name", {key: details.get(key) for key in ("name", "type")}
            if data["type"] == "Table":
                # DuckDB knows only the relations that statements have named so far.
                message = message.partition("! Did you mean")[0]
            if "Referenced table" in message:
                message += "; write an axis by its name, as in cache_capacity"
        case "Out of Memory":
            code = "query.out-of-memory"
        case "IO":
            code = "query.unreadable-rows"
            message += "; the sweep's files changed or are damaged"
    return QueryError(code, message, data=data)


def read_message(details: dict[str, Any]) -> str:
    """Return the message in one line."""
    return " ".join(str(details["exception_message"]).split())


@contextmanager
def read_only(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Run a block in a transaction that only reads.

    A SELECT may contain a WITH that changes rows, which only the transaction prevents.
    """
    connection.execute("BEGIN TRANSACTION READ ONLY")
    try:
        yield
    finally:
        _roll_back(connection)


def _roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    """End the transaction; an interruption of the statement before may arrive now, and leave it aborted."""
    while True:
        try:
            connection.execute("ROLLBACK")
        except duckdb.InterruptException:
            continue
        except duckdb.TransactionException:
            pass  # the interrupted one has ended it
        return
