"""The error of a statement that DuckDB refused or could not run."""

import json
from typing import Any

import duckdb
import pyarrow as pa

from destage.errors import QueryError

FAILURES = (duckdb.Error, OSError, pa.ArrowException)
"""What a statement raises; Arrow wraps an error that DuckDB has after its first rows."""


def read_details(error: Exception) -> dict[str, Any]:
    """Return the fields of a DuckDB error, or only its message where it is not JSON."""
    text = str(error)
    try:
        details: dict[str, Any] = json.loads(text[text.index("{") :])
    except ValueError:
        return {"exception_message": text.partition("Error: ")[2] or text}
    return details


def build_error(details: dict[str, Any]) -> QueryError:
    """Return the error of a statement that could not be bound or run."""
    message = read_message(details)
    match details.get("exception_type"):
        case "Permission":
            message = "a query can only read the sweep's rows, not files, directories or the network"
            return QueryError("query.access-denied", message)
        case "Parser" | "Syntax Error":
            return QueryError("query.bad-syntax", message)
        case "Binder" | "Catalog":
            if "Referenced table" in message:
                message += "; write an axis by its name, as in cache_capacity"
            return QueryError("query.unknown-name", message, data={"name": details.get("name")})
        case "Out of Memory":
            return QueryError("query.out-of-memory", message)
        case "IO":
            return QueryError("query.unreadable-rows", f"{message}; the sweep's files changed or are damaged")
    return QueryError("query.failed", message)


def read_message(details: dict[str, Any]) -> str:
    """Return the message in one line."""
    return " ".join(str(details["exception_message"]).split())
