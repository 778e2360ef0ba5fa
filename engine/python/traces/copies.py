"""Local copies of traces in buckets: each is downloaded once and cached.

The cache is `$DESTAGE_TRACES`, by default `destage/traces` in `$XDG_CACHE_HOME` or `~/.cache`. A copy is
named after its object's address and version, so that a rewritten object gets a new one. It is downloaded to
`.NAME.part` and renamed when it is complete and synced; of several processes, the one that locks this file
downloads it and the others wait. Readers lock a copy against removal. Before a download, the least recently
used copies without readers are removed, so that the total is at most `$DESTAGE_TRACES_LIMIT`, unless the
copies being read are larger.
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
_VERSION_LIFETIME_S = 10.0
"""Lifetime of a cached version [s]; each run of a sweep asks for the version of its trace."""
_OURS = re.compile(r"\.?[0-9a-f]{24}-.*")
_NAME_CHARACTERS = 40
_NO_RESERVING = (errno.EOPNOTSUPP, errno.EINVAL)

_found: dict[ObjectPath, tuple[float, Version]] = {}


def read_version(trace: ObjectPath) -> Version:
    """Return the version of an object, as of at most 10 s ago."""
    now = time.monotonic()
    if (cached := _found.get(trace)) is not None and now - cached[0] < _VERSION_LIFETIME_S:
        return cached[1]
    with _as_trace_errors(trace):
        version = trace.read_version()
    _found[trace] = now, version
    return version


@contextmanager
def hold_copy(trace: ObjectPath) -> Iterator[Path]:
    """Yield the copy of an object, downloaded if needed, and kept during the `with` block."""
    version = read_version(trace)
    named = hashlib.blake2b(f"{trace}\n{version.tag}\n{version.size}".encode(), digest_size=12).hexdigest()
    folder = _folder()
    copy = folder / f"{named}-{trace.name[-_NAME_CHARACTERS:]}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        while (file := _open_locked(copy, version.size)) is None:
            _download(trace, version, copy)
    except OSError as error:
        _found.pop(trace, None)
        raise TraceError(
            "trace.no-room-for-copy",
            f"{folder} has no room for {version.size} bytes: {error.strerror}; free space or set {_FOLDER}",
            str(trace),
        ) from None
    with file:
        yield copy


def _folder() -> Path:
    if given := os.environ.get(_FOLDER):
        return Path(given).absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "destage" / "traces"


def _open_locked(copy: Path, size: int) -> BinaryIO | None:
    """Open a copy, locked against removal; None if there is no complete one."""
    try:
        file = copy.open("rb")
    except FileNotFoundError:
        return None
    fcntl.flock(file, fcntl.LOCK_SH)
    stat = os.fstat(file.fileno())
    if stat.st_nlink and stat.st_size == size:
        with suppress(PermissionError):  # it belongs to another user
            os.utime(file.fileno(), ns=(time.time_ns(), stat.st_mtime_ns))
        return file
    file.close()
    if stat.st_nlink:
        copy.unlink(missing_ok=True)
    return None


def _download(trace: ObjectPath, version: Version, copy: Path) -> None:
    """Download an object, or wait for the process that does; the caller checks the result."""
    part = copy.with_name(f".{copy.name}.part")
    with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT, 0o666), "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not _is_at(file, part):
            return  # the previous holder of the lock renamed or deleted the file
        try:
            if not copy.exists():
                file.truncate(0)  # a killed process may have left something
                _make_room(copy.parent, version.size)
                _fill(file, trace, version)
                part.replace(copy)
        finally:
            part.unlink(missing_ok=True)


def _is_at(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _fill(file: BinaryIO, trace: ObjectPath, version: Version) -> None:
    if version.size:
        try:
            os.posix_fallocate(file.fileno(), 0, version.size)
        except OSError as error:
            if error.errno not in _NO_RESERVING:
                raise
    pieces = trace.read_pieces(version)
    while True:
        with _as_trace_errors(trace):
            piece = next(pieces, None)
        if piece is None:
            break
        file.write(piece)
    file.flush()
    os.fsync(file.fileno())


def _make_room(folder: Path, need: int) -> None:
    """Remove the least recently used copies until the rest and `need` more bytes are within the limit."""
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
        if _try_to_remove(path):
            total -= size


def _try_to_remove(path: Path) -> bool:
    """Remove a copy that no process reads or downloads; return whether it is gone."""
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
    """Turn errors of reading an object into errors of its trace."""
    try:
        yield
    except FileNotFoundError:
        raise TraceError("trace.not-found", "object not found; check bucket and key", str(trace)) from None
    except StoreError as error:
        _found.pop(trace, None)
        raise TraceError(error.code, error.message, str(trace), error.data) from error
