"""Atomic writes: a file or an object is whole or absent, whenever the machine stops.

Fail points are named places where a test kills the process, to check that the commit protocol survives it.
`DESTAGE_FAIL_POINT=name[:count]` kills the process with SIGKILL the `count`-th time it passes the fail point
`name` (default 1); `DESTAGE_FAIL_SIGNAL=STOP` pauses it instead. With `DESTAGE_FAIL_MARK=path` only the
process that creates that file is hit, so that a retried worker survives. Unset, a fail point costs one
dictionary lookup.
"""

import errno
import os
import secrets
import signal
import socket
from contextlib import suppress
from pathlib import Path

from destage.errors import MachineError, StoreError
from destage.objects import Location, ObjectPath

NAMES = (
    "before_tmp",
    "mid_tmp",
    "before_rename",
    "after_rename",
    "rows_held",
    "mid_plan_round",
    "before_head",
    "mid_head",
    "after_head",
)
"""Fail points of every sweep: those of a fragment, in order; of an executed batch that is not committed; then
those of plans and heads."""
RARE_NAMES = ("mid_index", "before_merge", "after_merge")
"""Fail points of the index, and of merging fragments while a sweep runs."""

_passed: dict[str, int] = {}


def pass_point(name: str) -> None:
    """Kill or stop the process if the environment names this fail point."""
    wanted = os.environ.get("DESTAGE_FAIL_POINT")
    if wanted is None:
        return
    target, _, count = wanted.partition(":")
    if target != name:
        return
    _passed[name] = _passed.get(name, 0) + 1
    if _passed[name] != int(count or "1"):
        return
    mark = os.environ.get("DESTAGE_FAIL_MARK")
    if mark is not None:
        try:
            Path(mark).touch(exist_ok=False)
        except FileExistsError:
            return
    os.kill(os.getpid(), signal.Signals[f"SIG{os.environ.get('DESTAGE_FAIL_SIGNAL', 'KILL')}"])


_WRONG_PATH = (errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG)


def write_durably(
    path: Location,
    data: bytes,
    *,
    tmp: str | None = None,
    middle: str | None = None,
    before: str | None = None,
    after: str | None = None,
) -> None:
    """Write bytes to a temporary file, sync it and rename it into place; an object is one PUT.

    Args:
        tmp: The temporary name, in the same directory; by default `temporary_name` of the file's own.
        middle: A fail point half-way through the bytes; an object's is before its PUT, which has no middle.
        before: A fail point before the rename or the PUT.
        after: A fail point after the rename or the PUT.
    """
    if isinstance(path, ObjectPath):
        for point in filter(None, (middle, before)):
            pass_point(point)
        path.write_bytes(data)
        if after is not None:
            pass_point(after)
        return
    temporary = path.with_name(tmp if tmp is not None else temporary_name(path.name))
    try:
        _write(path, data, temporary, middle, before, after)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)  # frees its space
        raise as_write_error(error, path) from error


def as_write_error(error: OSError, path: Location) -> StoreError:
    """Return the error for a file that could not be written: the machine's, or that of a wrong path."""
    message = f"cannot be written: {error.strerror}"
    if error.errno in _WRONG_PATH:
        return StoreError("store.not-writable", message, str(path))
    return MachineError("store.not-writable", message, str(path), {"errno": error.errno})


def temporary_name(name: str) -> str:
    """Return the name of a file until it is complete: `.<name>.<token>.<host>.<process>.tmp`.

    The token is random: containers may share a host's name and have the same process ids, and two writers
    of one temporary file would damage the file that one of them has published.
    """
    return f".{name}.{secrets.token_hex(4)}.{this_host()}.{os.getpid()}.tmp"


def this_host() -> str:
    """Return this machine's name without dots; several machines may share a volume."""
    return socket.gethostname().replace(".", "-")


def _write(
    path: Path, data: bytes, temporary: Path, middle: str | None, before: str | None, after: str | None
) -> None:
    half = len(data) // 2
    with temporary.open("xb") as file:
        file.write(data[:half])
        if middle is not None:
            file.flush()
            pass_point(middle)
        file.write(data[half:])
        file.flush()
        os.fsync(file.fileno())
    if before is not None:
        pass_point(before)
    temporary.replace(path)
    sync_directory(path.parent)
    if after is not None:
        pass_point(after)


def sync_directory(directory: Path) -> None:
    """Force a directory's entries to disk, so that a rename in it survives a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
