"""Where a trace lies: a file, or an object in a bucket, of which a copy is read.

Whoever reads a trace asks here for its place, for what tells its content from what it was, and for a file.
"""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path

from destage.engine.traces import copies
from destage.errors import StoreError, TraceError
from destage.objects import Location, ObjectPath, locate


def locate_trace(name: str | Location) -> Location:
    """What a trace's name means.

    Args:
        name: A path, or an object's address as in `s3://bucket/traces/x.parquet`, with the same options as a
            store's.

    Raises:
        TraceError: The address is none of an object, or carries credentials.
    """
    try:
        place = locate(name)
    except StoreError as error:
        raise TraceError("trace.bad-address", error.message, error.place) from None
    if isinstance(place, ObjectPath) and not place.key:
        message = f"the address has no key; write it as {place.service}/traces/x.parquet"
        raise TraceError("trace.bad-address", message, str(place))
    return place


def resolve_place(name: str | Location, folder: str | Path = ".") -> Location:
    """The absolute place that a trace's name means; raises as `locate_trace`."""
    place = locate_trace(name)
    return place if isinstance(place, ObjectPath) else Path(folder, place).absolute()


def read_version(place: Location) -> Hashable:
    """What tells what a trace holds now from what it held before, at the cost of a look at file or object.

    Raises:
        TraceError: It is not there, or cannot be reached.
    """
    if isinstance(place, ObjectPath):
        return copies.read_version(place)
    try:
        stat = place.stat()
    except OSError as error:
        raise TraceError("trace.unreadable", f"cannot be read: {error.strerror}", str(place)) from None
    return stat.st_mtime_ns, stat.st_size


@contextmanager
def open_local(place: Location) -> Iterator[Path]:
    """A trace's file, or the copy of an object, which stays as long as the `with` block.

    Raises:
        TraceError: There is no such object, it cannot be reached, or there is no room for a copy.
    """
    if isinstance(place, ObjectPath):
        with copies.hold_copy(place) as copy:
            yield copy
    else:
        yield place
