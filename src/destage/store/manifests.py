"""The manifest: an append-only index of checked fragments, one line of JSON each with its checksum.

The fragments are authoritative; the manifest tells readers which files were complete once, so that one
that is damaged is reported and not passed over. The driver appends to it while it holds the lease, each
generation to files of its own; a damaged line is ignored, as its fragment is checked in any case.

On disk a generation has one file. Objects cannot be appended to, so that in a bucket it has several parts,
each written after some lines or seconds.
"""

import json
import secrets
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from destage.errors import StoreError
from destage.objects import Location, ObjectPath
from destage.store.durable import as_write_error, write_durably
from destage.store.failpoints import pass_point
from destage.store.fragments import Fragment
from destage.store.generations import Generation
from destage.store.layout import SweepLayout
from destage.store.location import list_sizes
from destage.store.parallel import map_places

_PART_LINES, _PART_S = 500, 20.0
"""Lines and age [s] at which a part is written to a bucket."""
_MOST_PARTS = 50
"""Maximum parts; the next writer merges more than these."""


class Manifest:
    """A generation's part of the manifest, for its writer; to be flushed at the end."""

    def __init__(self, generation: Generation) -> None:
        self._folder = generation.layout.manifest
        self._name = generation.name
        self._lines: list[bytes] = []
        self._since = time.monotonic()
        self._merge()

    def append(self, fragment: Fragment) -> None:
        """Add a fragment that is committed and known to be complete."""
        line = _format_line(fragment)
        if isinstance(self._folder, Path):
            _append(self._folder / f"{self._name}.jsonl", line)
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
                self._write_part(self._lines)
                self._lines = []

    def _write_part(self, lines: Iterable[bytes]) -> None:
        part = self._folder / f"{self._name}-{secrets.token_hex(8)}.jsonl"
        write_durably(part, b"".join(lines))

    def _merge(self) -> None:
        """Merge many parts into one, then delete them."""
        parts = _list_parts(self._folder)
        if len(parts) > _MOST_PARTS:
            entries = dict.fromkeys(_read_entries(parts))
            self._write_part(map(_format_line, entries))
            for part in parts:
                part.unlink(missing_ok=True)


def read_manifest(layout: SweepLayout) -> dict[str, Fragment]:
    """Return the fragments of a manifest, if there is one, by name.

    Torn and damaged lines are ignored: their fragments are checked in any case.
    """
    return {entry.name: entry for entry in _read_entries(_list_parts(layout.manifest))}


def _list_parts(folder: Location) -> list[Location]:
    return [path for path, _ in list_sizes(folder) if path.suffix == ".jsonl"]


def _read_entries(parts: Iterable[Location]) -> Iterator[Fragment]:
    for data in map_places(_read_part, parts):
        yield from filter(None, map(_parse_line, data.split(b"\n")))


def _read_part(part: Location) -> bytes:
    try:
        return part.read_bytes()
    except FileNotFoundError:
        return b""  # merged since it was listed


def _format_line(fragment: Fragment) -> bytes:
    text = json.dumps(asdict(fragment), separators=(",", ":")).encode()
    return b"%s %08x\n" % (text, zlib.crc32(text))


def _parse_line(line: bytes) -> Fragment | None:
    text, _, checksum = line.rpartition(b" ")
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    return Fragment(**json.loads(text))


def _append(path: Path, line: bytes) -> None:
    half = len(line) // 2
    try:
        with path.open("ab") as file:
            file.write(line[:half])
            file.flush()
            pass_point("mid_manifest")
            file.write(line[half:])
    except OSError as error:
        raise as_write_error(error, path) from error
