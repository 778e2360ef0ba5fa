"""Whole regular files read within limits, by plain names: a store may come from anywhere.

A pipe in place of a file would wait for ever, and a device never ends. A name is plain if it can become a
local path although another machine states it.
"""

import os
import stat
from pathlib import Path, PurePosixPath

from destage.errors import StoreError
from destage.objects import Location, ObjectPath, ObjectTooLargeError

_LONGEST = 255
"""Longest name of a file [bytes], on all common file systems."""
_LONGEST_PATH = 1024


def is_plain_name(name: object) -> bool:
    """Return whether a value is the name of a file or folder: one part, without control characters."""
    return (
        isinstance(name, str)
        and name not in ("", ".", "..")
        and "/" not in name
        and "\\" not in name
        and name.isprintable()
        and len(name.encode(errors="replace")) <= _LONGEST
    )


def is_plain_path(path: object) -> bool:
    """Return whether a value is a relative path of plain names, which stays below its folder."""
    return (
        isinstance(path, str)
        and len(path) <= _LONGEST_PATH
        and all(map(is_plain_name, path.split("/")))
        and str(PurePosixPath(path)) == path
    )


MOST_RECORD = 16 << 20
"""Largest head, record of progress or similar file in JSON [bytes]."""
MOST_STUDY = 64 << 20
"""Largest study [bytes]."""
MOST_TABLE = 4 << 30
"""Largest planning round, table of answers, or segment of the index [bytes]."""


def read_file(place: Location, most: int) -> bytes:
    """Return the content of a file or object.

    Args:
        most: The largest size that is read [bytes].

    Raises:
        StoreError: It is a pipe, device or directory, or it is larger.
    """
    if isinstance(place, ObjectPath):
        try:
            return place.read_bytes(most)
        except ObjectTooLargeError as error:
            raise StoreError("store.damaged-file", str(error), str(place)) from None
    _check(place, place.stat(), most)
    # Another process may replace it in between; opening a pipe must not wait then.
    handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb", buffering=0) as file:
        there = os.fstat(file.fileno())
        _check(place, there, most)
        return file.read()


def _check(place: Path, there: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(there.st_mode):
        message = "a pipe, socket, device or directory; must be a file"
        raise StoreError("store.damaged-file", message, str(place))
    if there.st_size > most:
        message = f"{there.st_size:,} bytes; at most {most:,} are read"
        raise StoreError("store.damaged-file", message, str(place))
