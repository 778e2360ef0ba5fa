"""The manifest: an append-only index of the fragments that were validated, one JSON line each.

The fragments are authoritative; the manifest only saves validating each one again. The driver appends to it
while it holds the lease; a last line torn by a crash is dropped when the sweep is next opened for writing.

On disk it is one file. Objects cannot be appended to, so that in a bucket it has several parts, each written
after some lines or seconds; fragments that a killed driver had not yet written to it are validated again.
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
"""Lines and age [s] at which a part is written to a bucket."""
_MOST_PARTS = 50
"""Maximum parts; the next writer merges more than these."""


class Manifest:
    """A sweep's manifest, for the holder of the lease; to be flushed at the end."""

    def __init__(self, layout: SweepLayout) -> None:
        self._folder = layout.manifest
        self._lines: list[bytes] = []
        self._since = time.monotonic()
        if isinstance(self._folder, Path):
            _drop_torn_line(self._folder / _FILE)
        else:
            _merge(self._folder)

    def append(self, fragment: Fragment) -> None:
        """Add a fragment that is committed and known to be complete."""
        line = _format_line(fragment)
        if isinstance(self._folder, Path):
            _append(self._folder / _FILE, line)
            return
        self._lines.append(line)
        if len(self._lines) >= _PART_LINES or time.monotonic() - self._since > _PART_S:
            self.flush()

    def flush(self) -> None:
        """Write the waiting lines; after a failure of the service they wait for the next flush."""
        if isinstance(self._folder, ObjectPath) and self._lines:
            self._since = time.monotonic()
            pass_point("mid_manifest")
            with suppress(StoreError):
                _write_part(self._folder, self._lines)
                self._lines = []


def read_manifest(layout: SweepLayout) -> dict[str, Fragment]:
    """Return the fragments of a manifest, if there is one, by key.

    Torn and damaged lines are ignored: their fragments are validated again.
    """
    entries = (_parse_line(line) for line in _read_lines(_list_parts(layout.manifest)))
    return {entry.key: entry for entry in entries if entry is not None}


def _list_parts(folder: Location) -> list[Location]:
    return [path for path, _ in list_sizes(folder) if path.suffix == ".jsonl"]


def _read_lines(parts: Iterable[Location]) -> Iterator[bytes]:
    for data in map_places(_read_part, parts):
        whole, _, _ = data.rpartition(b"\n")
        yield from filter(None, whole.split(b"\n"))


def _read_part(part: Location) -> bytes:
    try:
        return part.read_bytes()
    except FileNotFoundError:
        return b""  # merged since it was listed


def _format_line(fragment: Fragment) -> bytes:
    return json.dumps(asdict(fragment), separators=(",", ":")).encode()


def _parse_line(line: bytes) -> Fragment | None:
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
    """Truncate the file after its last complete line."""
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
    """Merge many parts into one, then delete them."""
    parts = _list_parts(folder)
    if len(parts) > _MOST_PARTS:
        _write_part(folder, dict.fromkeys(_read_lines(parts)))
        for part in parts:
            part.unlink(missing_ok=True)
