"""Files that carry the digest of their content in their name, so that damage is always seen.

JSON records (heads and progress) have a digest of their fields. A digest shows accidental damage only: a
record with a correct digest may still be forged, so that each field has its type before anything uses it.
"""

import json
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

import xxhash

from destage.errors import StoreError
from destage.objects import Location, ObjectPath, ObjectTooLargeError
from destage.store.files.regular_files import MOST_TABLE, read_file

_BYTES = 16
_IN_NAME = re.compile(rf"-([0-9a-f]{{{2 * _BYTES}}})\.\w+$")
_KEPT = 4096
_FRESH_S = 3.0
"""Age below which a file may change again without another time of change, which has seconds on some network
file systems [s]."""
_PIECE = 1 << 20
"""Size of the pieces in which a file is read [bytes]."""
_AT_ONCE = 32 << 20
"""Largest object that is read in one request, before its content is checked [bytes]."""


def digest_of(data: bytes) -> str:
    """Return the digest of some content: 128 bits of XXH3, in hexadecimal.

    It detects accidental damage only: a process that can write to a store can replace the digest, too.
    """
    return xxhash.xxh3_128_hexdigest(data)


def digest_file(path: Path) -> str:
    """Return the digest of a local file, which is read in pieces."""
    there = path.stat()
    return _digest_file(path, there.st_size, there.st_mtime_ns, there.st_ino)


def find_digest(name: str) -> str | None:
    """Return the digest in a file name, as in `plan-0-<digest>.parquet`, if there is one."""
    match = _IN_NAME.search(name)
    return None if match is None else match[1]


def read_checked(path: Location, most: int = MOST_TABLE) -> bytes:
    """Read a file that carries the digest of its content in its name.

    Args:
        most: The largest size that is read [bytes].

    Raises:
        StoreError: The content is not what was written.
    """
    if isinstance(path, Path) and _PIECE < path.stat().st_size <= most and not is_intact(path):
        raise damaged(path)  # without its content in memory, which may be gigabytes
    if isinstance(path, ObjectPath):
        return _read_object(path, most)
    data = read_file(path, most)
    if digest_of(data) != find_digest(path.name):
        raise damaged(path)
    return data


def is_intact(path: Location) -> bool:
    """Return whether a file has the content that its name states.

    A local file is read again only if it has changed since this process last read it.
    """
    if isinstance(path, Path):
        there = path.stat()
        if not stat.S_ISREG(there.st_mode) or there.st_size > MOST_TABLE:
            return False
        is_fresh = time.time() - there.st_mtime < _FRESH_S
        digest = _digest_file.__wrapped__ if is_fresh else _digest_file
        computed = digest(path, there.st_size, there.st_mtime_ns, there.st_ino)
    else:
        content = xxhash.xxh3_128()
        for piece in _read_pieces(path, MOST_TABLE):
            content.update(piece)
        computed = content.hexdigest()
    return computed == find_digest(path.name)


def _read_object(path: ObjectPath, most: int) -> bytes:
    """Return the content of an object as `read_checked`; a large one is in memory only if it is whole."""
    content = xxhash.xxh3_128()
    with SpooledTemporaryFile(_AT_ONCE) as file:
        for piece in _read_pieces(path, most):
            content.update(piece)
            file.write(piece)
        if content.hexdigest() != find_digest(path.name):
            raise damaged(path)
        file.seek(0)
        return file.read()


def _read_pieces(path: ObjectPath, most: int) -> Iterator[bytes]:
    """Yield the content of an object: a small one in one request, which most are.

    Raises:
        StoreError: It is larger than `most`.
    """
    with suppress(ObjectTooLargeError):
        yield path.read_bytes(min(most, _AT_ONCE))
        return
    version = path.read_version()
    if version.size > most:
        raise damaged(path)
    yield from path.read_pieces(version)


def damaged(path: Location) -> StoreError:
    """Return the error of a file whose content is not what was written."""
    message = "damaged: its content is not what was written; `destage run SWEEP` restores it"
    return StoreError("store.damaged-file", message, str(path))


def find_damage(files: Iterable[Path]) -> StoreError | None:
    """Return the error of the first file whose content is not what was written; None if there is none.

    Files without a digest in their name, and files that are gone, are left out.
    """
    for file in files:
        with suppress(FileNotFoundError):
            if find_digest(file.name) is not None and not is_intact(file):
                return damaged(file)
    return None


@lru_cache(maxsize=_KEPT)
def _digest_file(path: Path, _size: int, _changed: int, _inode: int) -> str:
    content, piece = xxhash.xxh3_128(), memoryview(bytearray(_PIECE))
    with path.open("rb", buffering=0) as file:
        while length := file.readinto(piece):
            content.update(piece[:length])
    return content.hexdigest()


_MOST_COUNTED = 1 << 53
"""Most that a count can be: above it, a float is not exact."""


def encode_record(fields: Mapping[str, Any]) -> bytes:
    """Return a record of some fields."""
    return json.dumps({**fields, "digest": _digest_fields(fields)}, indent=1).encode() + b"\n"


def decode_record(data: bytes, place: Location) -> dict[str, Any]:
    """Return the fields of a record.

    Raises:
        StoreError: It is damaged.
    """
    try:
        content = json.loads(data)
        digest = content.pop("digest")
        is_whole = digest == _digest_fields(content)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise damaged(place) from None
    if not is_whole:
        raise damaged(place)
    fields: dict[str, Any] = content
    return fields


def is_count(value: object) -> bool:
    """Return whether a value of a record is a number of things."""
    return type(value) is int and 0 <= value <= _MOST_COUNTED


def is_amount(value: object) -> bool:
    """Return whether a value of a record is a finite number that is not negative."""
    return type(value) in (int, float) and 0 <= value <= _MOST_COUNTED  # type: ignore[operator]


def invalid(place: Location, reason: str) -> StoreError:
    """Return the error of a file whose digest is correct and whose content Destage does not write."""
    message = f"{reason}; Destage does not write such a file"
    return StoreError("store.invalid-file", message, str(place))


def _digest_fields(fields: Mapping[str, Any]) -> str:
    return digest_of(json.dumps(fields, sort_keys=True).encode())
