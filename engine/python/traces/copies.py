"""Copies, on this machine, of traces that lie in buckets: each is brought once, whole, and kept for a while.

They lie in `$DESTAGE_TRACES`, by default `destage/traces` in `$XDG_CACHE_HOME` or `~/.cache`. A copy is named
for its object's address and version, so that one of an object that was written anew is never taken for it. It
comes into a file `.NAME.part`, which gets the copy's own name once all is there and on the disk; of several
processes that want it, the one that locks this file brings it, and the others wait. Who reads a copy locks it
against removal. Before one is brought, those that nobody reads and that were not read for longest make room,
so that all together are at most `$DESTAGE_TRACES_LIMIT`, unless those being read are more.
"""

import errno
import fcntl
import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from destage.errors import ConfigError, StoreError, TraceError
from destage.objects import ObjectPath, Version
from destage.spec import quantities

_FOLDER, _LIMIT = "DESTAGE_TRACES", "DESTAGE_TRACES_LIMIT"
_DEFAULT_LIMIT = "20GiB"
_BELIEVED_S = 10.0
"""For how long an object is believed to be what it was [s]: each run of a sweep asks what its trace is."""
_OURS = re.compile(r"\.?[0-9a-f]{24}-.*")
_NAME_CHARACTERS = 40
_NO_RESERVING = (errno.EOPNOTSUPP, errno.EINVAL)

_found: dict[ObjectPath, tuple[float, Version]] = {}


def read_version(trace: ObjectPath) -> Version:
    """Which content an object has, by what was found at most 10 s ago.

    Raises:
        TraceError: It is not there, or cannot be reached.
    """
    now = time.monotonic()
    if (known := _found.get(trace)) is not None and now - known[0] < _BELIEVED_S:
        return known[1]
    with _as_trace_errors(trace):
        found = trace.read_version()
    _found[trace] = now, found
    return found


@contextmanager
def hold_copy(trace: ObjectPath) -> Iterator[Path]:
    """The copy of an object, brought where there is none, and kept as long as the `with` block.

    Raises:
        TraceError: It is not there, cannot be reached, or there is no room for a copy.
    """
    known = read_version(trace)
    named = hashlib.blake2b(f"{trace}\n{known.tag}\n{known.size}".encode(), digest_size=12).hexdigest()
    folder = _folder()
    copy = folder / f"{named}-{trace.name[-_NAME_CHARACTERS:]}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        while (file := _locked_copy(copy, known.size)) is None:
            _download(trace, known, copy)
    except OSError as error:
        _found.pop(trace, None)
        raise TraceError(
            "trace.no-room-for-copy",
            f"{folder} has no room for {known.size} bytes: {error.strerror}; free space or set {_FOLDER}",
            str(trace),
        ) from None
    with file:
        yield copy


def _folder() -> Path:
    if given := os.environ.get(_FOLDER):
        return Path(given).absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "destage" / "traces"


def _locked_copy(copy: Path, size: int) -> BinaryIO | None:
    """Open a copy, locked against removal; None where there is none, or one that is not whole."""
    try:
        file = copy.open("rb")
    except FileNotFoundError:
        return None
    fcntl.flock(file, fcntl.LOCK_SH)
    stat = os.fstat(file.fileno())
    if stat.st_nlink and stat.st_size == size:
        with suppress(PermissionError):  # it belongs to another user, who counts its uses alone
            os.utime(file.fileno(), ns=(time.time_ns(), stat.st_mtime_ns))
        return file
    file.close()
    if stat.st_nlink:
        copy.unlink(missing_ok=True)
    return None


def _download(trace: ObjectPath, known: Version, copy: Path) -> None:
    """Bring an object, or wait for the process that does; whether it is there then, the caller looks."""
    part = copy.with_name(f".{copy.name}.part")
    with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT, 0o666), "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not _is_at(file, part):
            return  # who held the lock before has named the file, or dropped it
        try:
            if not copy.exists():
                file.truncate(0)  # a killed process may have left something
                _make_room(copy.parent, known.size)
                _fill(file, trace, known)
                part.replace(copy)
        finally:
            part.unlink(missing_ok=True)


def _is_at(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _fill(file: BinaryIO, trace: ObjectPath, known: Version) -> None:
    if known.size:
        try:
            os.posix_fallocate(file.fileno(), 0, known.size)
        except OSError as error:
            if error.errno not in _NO_RESERVING:
                raise
    pieces = trace.read_pieces(known)
    while True:
        with _as_trace_errors(trace):
            piece = next(pieces, None)
        if piece is None:
            break
        file.write(piece)
    file.flush()
    os.fsync(file.fileno())


def _make_room(folder: Path, need: int) -> None:
    """Remove what was not read for longest, until the rest and what is to come keep the limit."""
    limit = _limit()
    there = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if _OURS.fullmatch(entry.name):
                with suppress(FileNotFoundError):
                    there.append((entry.stat().st_atime_ns, entry.stat().st_size, Path(entry.path)))
    total = sum(size for _, size, _ in there) + need
    for _, size, path in sorted(there):
        if total <= limit:
            return
        if _is_removed(path):
            total -= size


def _is_removed(path: Path) -> bool:
    """Remove a copy that nobody reads or brings; return whether it is gone."""
    try:
        with path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    except FileNotFoundError:
        return True
    except (BlockingIOError, PermissionError):
        return False
    return True


def _limit() -> float:
    text = os.environ.get(_LIMIT, _DEFAULT_LIMIT)
    try:
        return float(quantities.parse(text, "bytes"))
    except ConfigError as error:
        raise TraceError("usage.bad-quantity", f"{text!r} {error.message}", _LIMIT) from None


@contextmanager
def _as_trace_errors(trace: ObjectPath) -> Iterator[None]:
    """Raise what fails while an object is read as an error of its trace."""
    try:
        yield
    except FileNotFoundError:
        raise TraceError("trace.not-found", "object not found; check bucket and key", str(trace)) from None
    except StoreError as error:
        _found.pop(trace, None)
        raise TraceError(error.code, error.message, str(trace), error.data) from error
