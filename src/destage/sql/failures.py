"""The error of a statement that DuckDB refused or could not run."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from destage.errors import MachineError, QueryError
from destage.system_failures import read_shortage

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
            code, data = "query.unknown-name", {"name": details.get("name")}
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
