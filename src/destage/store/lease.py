"""The exclusive right to write into a sweep: a file lock, given back by the system when its holder dies."""

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from destage.errors import StoreError

_TRIES, _PAUSE_S = 4, 0.05
"""Who only looks whether somebody writes holds the lock for an instant; that shall refuse no writer."""


@contextmanager
def hold_lease(path: Path) -> Iterator[None]:
    """Hold a sweep's lease for the length of a `with` block.

    Args:
        path: The lease file; made if it is not there.

    Raises:
        StoreError: Another process holds the lease; the message names it. Or the store cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        raise StoreError(f"{path.parent} cannot be written: {error.strerror}") from error
    # Python opens files close-on-exec, so no child (Ray's daemons, say) can keep the lock past our death.
    with path.open("a+b") as file:
        if not any(_try_to_lock(file) for _ in range(_TRIES)):
            raise StoreError(f"{path.parent} is being written by {_holder(path)}; wait for it to end")
        file.truncate(0)
        holder = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        }
        file.write(json.dumps(holder).encode())
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def current_writer(path: Path) -> str | None:
    """Return who holds a lease, or None when nobody does.

    Args:
        path: The lease file.
    """
    if not path.is_file():
        return None
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _holder(path)
        except OSError:
            return None  # without locks there is no writer
    return None


def _try_to_lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(_PAUSE_S)
        return False
    except OSError as error:
        raise StoreError(
            f"{file.name} cannot be locked: {error.strerror}; a store needs a file system with locks"
        ) from error
    return True


def _holder(path: Path) -> str:
    try:
        holder = json.loads(path.read_text())
    except (OSError, ValueError):
        return "another process"
    return f"process {holder['pid']} on {holder['host']} since {holder['since']}"
