"""The manifest: an append-only index of the fragments that were validated, one JSON line each.

The fragments are the truth and the manifest only saves looking at each again. The driver appends to it
while it holds the lease; a last line torn by a crash is dropped when the sweep is next opened for writing.

On disk it is one file. Objects cannot be appended to, so that there it is several, each written whole once
enough lines or time have gathered; what a killed driver had not yet written is looked at again.
"""

import json
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from destage.errors import StoreError
from destage.objects import Location, ObjectPath
from destage.store.failpoints import pass_point
from destage.store.fragments import Fragment
from destage.store.layout import SweepLayout
from destage.store.location import list_sizes
from destage.store.parallel import map_places

_FILE = "index.jsonl"
_PART_LINES, _PART_S = 500, 20.0
"""A part of a manifest on an object store is written once it has so many lines, or is so old [s]."""
_MOST_PARTS = 50
"""When there are more parts than this, the next writer makes them one."""


class Manifest:
    """A sweep's manifest, for the one that holds the lease; to be flushed at the end."""

    def __init__(self, layout: SweepLayout) -> None:
        self._folder = layout.manifest
        self._lines: list[bytes] = []
        self._since = time.monotonic()
        if isinstance(self._folder, Path):
            _drop_torn_line(self._folder / _FILE)
        else:
            _merge(self._folder)

    def append(self, fragment: Fragment) -> None:
        """Name one more fragment.

        Args:
            fragment: A fragment that is committed and known to be whole.

        Raises:
            StoreError: The manifest cannot be written: no space is left, say.
        """
        line = _line(fragment)
        if isinstance(self._folder, Path):
            _append(self._folder / _FILE, line)
            return
        self._lines.append(line)
        if len(self._lines) >= _PART_LINES or time.monotonic() - self._since > _PART_S:
            self.flush()

    def flush(self) -> None:
        """Write what has gathered; where the service does not take it now, it may the next time."""
        if isinstance(self._folder, ObjectPath) and self._lines:
            self._since = time.monotonic()
            pass_point("mid_manifest")
            with suppress(StoreError):
                _write_part(self._folder, self._lines)
                self._lines = []


def read_manifest(layout: SweepLayout) -> dict[str, Fragment]:
    """Return the fragments that a manifest names, by key; torn and damaged lines are ignored.

    A fragment that no whole line names is looked at again, so that a damaged line costs no more than that.
    """
    entries = (_entry(line) for line in _lines(_parts(layout.manifest)))
    return {entry.key: entry for entry in entries if entry is not None}


def _parts(folder: Location) -> list[Location]:
    return [path for path, _ in list_sizes(folder) if path.suffix == ".jsonl"]


def _lines(parts: Iterable[Location]) -> Iterator[bytes]:
    for data in map_places(_content, parts):
        whole, _, _ = data.rpartition(b"\n")
        yield from filter(None, whole.split(b"\n"))


def _content(part: Location) -> bytes:
    try:
        return part.read_bytes()
    except FileNotFoundError:
        return b""  # made one with others since we listed it


def _line(fragment: Fragment) -> bytes:
    return json.dumps(asdict(fragment), separators=(",", ":")).encode()


def _entry(line: bytes) -> Fragment | None:
    try:
        return Fragment(**json.loads(line))
    except (ValueError, TypeError):
        return None


def _append(path: Path, line: bytes) -> None:
    line += b"\n"
    half = len(line) // 2
    try:
        with path.open("ab") as file:
            file.write(line[:half])
            file.flush()
            pass_point("mid_manifest")
            file.write(line[half:])
    except OSError as error:
        raise StoreError("store.not-writable", f"cannot be written: {error.strerror}", str(path)) from error


def _drop_torn_line(path: Path) -> None:
    """Cut off what a crash left behind the last whole line."""
    if not path.is_file():
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole != len(data):
        with path.open("r+b") as file:
            file.truncate(whole)


def _write_part(folder: ObjectPath, lines: Iterable[bytes]) -> None:
    part = folder / f"{secrets.token_hex(8)}.jsonl"
    part.write_bytes(b"".join(line + b"\n" for line in lines))


def _merge(folder: ObjectPath) -> None:
    """Make many parts one; the old ones go when the new one is there."""
    parts = _parts(folder)
    if len(parts) > _MOST_PARTS:
        _write_part(folder, dict.fromkeys(_lines(parts)))
        for part in parts:
            part.unlink(missing_ok=True)
