"""The exclusive right to write to a sweep: a file lock, which the system releases when its holder dies.

In a bucket it is an object that expires: see `object_lease`.
"""

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Protocol

from destage.errors import StoreError
from destage.objects import Location, ObjectPath
from destage.store.files.durable import as_write_error
from destage.store.files.regular_files import MOST_RECORD, read_file
from destage.store.locks.object_lease import describe_holder, find_live_flag, hold_object_lease

_TRIES, _PAUSE_S = 4, 0.05
"""Attempts to lock; `find_writer` holds the lock for an instant, which must not fail a writer."""


class Lease(Protocol):
    """A lease that is held."""

    @property
    def is_lost(self) -> bool:
        """Whether another process may be writing."""


class FileLease:
    """A locked file: the lock is held until the file is closed."""

    is_lost = False


@contextmanager
def hold_lease(place: Location) -> Iterator[Lease]:
    """Hold a sweep's lease for the length of a `with` block.

    Args:
        place: The lease file, created if missing; or the prefix of the lease objects.
    """
    holder = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }
    text = json.dumps(holder).encode()
    if isinstance(place, ObjectPath):
        with hold_object_lease(place, text) as lease:
            yield lease
    else:
        with _hold_file(place, text):
            yield FileLease()


def find_writer(place: Location) -> str | None:
    """Return a description of the process that holds a lease, if any."""
    if isinstance(place, ObjectPath):
        flag = find_live_flag(place)
        return None if flag is None else describe_holder(flag)
    if not place.is_file():
        return None
    with place.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _read_holder(place)
        except OSError:
            return None  # a file system without locks has no writer
    return None


@contextmanager
def _hold_file(path: Path, holder: bytes) -> Iterator[None]:
    if path.exists() and not path.is_file():
        message = "a pipe, socket, device or directory; must be a file"
        raise StoreError("store.damaged-file", message, str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        raise as_write_error(error, path.parent) from error
    # Python opens files close-on-exec, so that no child (such as Ray's processes) keeps the lock.
    with path.open("a+b") as file:
        if not any(_try_to_lock(file) for _ in range(_TRIES)):
            writer = _read_holder(path)
            message = f"locked by {writer}; wait for it to end"
            raise StoreError("store.locked", message, str(path.parent), {"writer": writer})
        file.truncate(0)
        file.write(holder)
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def _try_to_lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(_PAUSE_S)
        return False
    except OSError as error:
        message = f"cannot be locked: {error.strerror}; use a file system that supports locks"
        raise StoreError("store.no-locks", message, str(file.name)) from error
    return True


def _read_holder(path: Path) -> str:
    """Return a description of the holder, which writes it to the file just after locking it."""
    holder = b""
    for _ in range(_TRIES):
        with suppress(OSError, StoreError):
            holder = read_file(path, MOST_RECORD)
        if holder:
            break
        time.sleep(_PAUSE_S)
    return describe_holder(holder)
