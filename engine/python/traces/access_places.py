"""Locations of traces: a file, or an object in a bucket, of which a local copy is read."""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path

from destage.engine.traces import copies
from destage.errors import StoreError, TraceError
from destage.objects import Location, ObjectPath, locate


def locate_trace(name: str | Location) -> Location:
    """Return the location of a trace.

    Args:
        name: A path, or an object's address as in `s3://bucket/traces/x.parquet`, with the same options as a
            store's.

    Raises:
        TraceError: The address is not that of an object, or holds credentials.
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
    """Return the absolute location of a trace; raises as `locate_trace`."""
    place = locate_trace(name)
    return place if isinstance(place, ObjectPath) else Path(folder, place).absolute()


def read_version(place: Location) -> Hashable:
    """Return a value that changes with a trace's content, without reading the trace."""
    if isinstance(place, ObjectPath):
        return copies.read_version(place)
    try:
        stat = place.stat()
    except OSError as error:
        raise TraceError("trace.unreadable", f"cannot be read: {error.strerror}", str(place)) from None
    return stat.st_mtime_ns, stat.st_size


@contextmanager
def open_local(place: Location) -> Iterator[Path]:
    """Yield a trace's file, or the copy of an object, which is kept during the `with` block."""
    if isinstance(place, ObjectPath):
        with copies.hold_copy(place) as copy:
            yield copy
    else:
        yield place
