"""What is left of a statement's limits, for code of many steps that runs for it, as rendering does.

Such code calls `check` between its steps, and `take` for what it keeps. Both do nothing on a thread that has
no allowance.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from destage.errors import QueryError

if TYPE_CHECKING:
    import pyarrow as pa

_Item = TypeVar("_Item")
STEP = 4096
"""Values between two checks."""


@dataclass
class Allowance:
    """What the thread of a statement may use.

    Attributes:
        stop: Set by another thread when the statement is to end.
        memory_bytes: The limit of what is taken.
        cast: Returns the values of a column as texts, within the limits.
        taken_bytes: What has been taken.
    """

    stop: threading.Event
    memory_bytes: int
    cast: "Callable[[pa.ChunkedArray], list[str | None]]"
    taken_bytes: int = 0


_local = threading.local()


@contextmanager
def use(allowance: Allowance) -> Iterator[None]:
    """Apply an allowance to this thread."""
    _local.allowance = allowance
    try:
        yield
    finally:
        _local.allowance = None


def find() -> Allowance | None:
    """Return the allowance of this thread."""
    allowance: Allowance | None = getattr(_local, "allowance", None)
    return allowance


def check() -> None:
    """Raise an error if this thread has been stopped.

    Raises:
        QueryError: It has been stopped.
    """
    allowance = find()
    if allowance is not None and allowance.stop.is_set():
        raise QueryError("query.failed", "interrupted")


def take(size: int) -> None:
    """Count memory that is kept [bytes].

    Raises:
        QueryError: It is more than the statement may use.
    """
    allowance = find()
    if allowance is not None:
        allowance.taken_bytes += size
        if allowance.taken_bytes > allowance.memory_bytes:
            raise build_memory_error(allowance.memory_bytes)


def watch(items: Iterable[_Item]) -> Iterator[_Item]:
    """Yield items, and check once per step."""
    for index, item in enumerate(items):
        if index % STEP == 0:
            check()
        yield item


def build_memory_error(limit: int) -> QueryError:
    """Return the error of a result that is larger than the limit [bytes]."""
    message = f"the result needs more than {limit >> 20:,} MiB; select fewer rows, or raise --memory"
    return QueryError("query.out-of-memory", message, data={"limit_bytes": limit})
