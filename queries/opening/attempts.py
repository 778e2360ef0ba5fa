"""Opening files again that a writer replaced since they were listed."""

from collections.abc import Callable
from typing import TypeVar

from destage.errors import DestageError

_Result = TypeVar("_Result")
ATTEMPTS = 5
"""Maximum attempts to open a sweep that is being written."""
_REPLACED = (
    "store.changed-while-read",
    "bucket.changed-while-read",
    "query.unreadable-rows",
    "query.access-denied",
    "query.broken-view",
)
"""Codes of an opening that found a file no longer there; DuckDB denies access to one that it cannot find."""


def try_openings(read: Callable[[], _Result]) -> _Result:
    """Call a function that opens files, again where a writer has replaced them."""
    for _ in range(ATTEMPTS - 1):
        try:
            return read()
        except DestageError as error:
            if error.code not in _REPLACED:
                raise
    return read()
