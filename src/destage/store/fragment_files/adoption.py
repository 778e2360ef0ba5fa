"""Adoption of fragments when a sweep is opened for writing; damaged and foreign files are quarantined."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from pathlib import Path

import pyarrow as pa

from destage.errors import Issue
from destage.objects import Location, ObjectPath
from destage.store.files.durable import this_host
from destage.store.files.layout import SweepLayout, map_places
from destage.store.fragment_files.fragments import NotAFragmentError, open_fragment
from destage.store.fragment_files.index import KEYS, IndexedRows, list_fragments, read_segments, take_indexed
from destage.store.fragment_files.stored_rows import GatheredRows, read_table

FOREIGN_S = 3600.0
"""Age at which a temporary file of another machine is an orphan [s]; writing one takes seconds."""


@dataclass(frozen=True, slots=True)
class Adoption:
    """The fragments of a sweep that is opened for writing.

    Attributes:
        indexed: Rows of those that the index has.
        read: The rows of the others by name.
        warnings: One per quarantined file.
    """

    indexed: list[IndexedRows]
    read: dict[str, pa.Table]
    warnings: list[Issue]

    @property
    def parts(self) -> list[IndexedRows]:
        """The rows of all fragments."""
        return [
            *self.indexed,
            *(IndexedRows(rows, (name,), (rows.num_rows,)) for name, rows in self.read.items()),
        ]

    def collect(self, schema: pa.Schema) -> pa.Table:
        """Return the columns of a schema that is among those read, one row per run as `read_rows` does."""
        gathered = GatheredRows()
        for part in self.parts:
            gathered.add(part)
        return gathered.select_best(schema)


def adopt_fragments(layout: SweepLayout, columns: Sequence[str] | None = None) -> Adoption:
    """Check all fragments, and remove what is not a fragment.

    A damaged or foreign file is moved to the quarantine, so that its runs are executed again; temporary files
    of dead processes are removed. The caller holds the lease.

    Args:
        columns: Columns to read beside those of the index, so that a fragment is opened once; None reads no
            rows and opens every fragment.
    """
    remove_orphans(layout)
    stamps = list_fragments(layout)
    names = None if columns is None else [*KEYS, *columns]
    segments = [] if names is None else read_segments(layout, names)
    indexed = list(take_indexed(segments, stamps))
    covered = {name for part in indexed for name in part.fragments}
    left = [stamp.path for name, stamp in stamps.items() if name not in covered]
    read, warnings = {}, []
    for path, inspected in zip(left, map_places(partial(_inspect, names), left), strict=True):
        if isinstance(inspected, NotAFragmentError):
            _move(path, _find_free_place(layout.quarantine, path.name))
            message = f"{inspected.message}; moved to {layout.quarantine.name}/"
            warnings.append(replace(inspected.issues[0], message=message))
        elif inspected is not None:
            read[path.name] = inspected
    return Adoption(indexed, read, warnings)


def remove_orphans(layout: SweepLayout) -> None:
    """Remove temporary files of dead processes; a bucket has none.

    Whether a process on another machine is alive is unknown: its files are kept for an hour.
    """
    if isinstance(layout.root, ObjectPath):
        return
    folders = (layout.generations, layout.fragments)
    directories = [place for place in folders if isinstance(place, Path)]
    for path in filter(_is_temporary, chain.from_iterable(map(Path.iterdir, directories))):
        if _is_orphan(path):
            path.unlink(missing_ok=True)


def _inspect(columns: list[str] | None, path: Location) -> NotAFragmentError | pa.Table | None:
    """Return the columns of a fragment that it has, or why it is none."""
    try:
        with open_fragment(path) as file:
            return None if columns is None else read_table(file, columns)
    except NotAFragmentError as error:
        return error if error.place else NotAFragmentError(error.code, error.message, path.name)


def _find_free_place(directory: Location, name: str) -> Location:
    """Return a path in a directory that no file has yet."""
    directory.mkdir(exist_ok=True)
    names = chain([name], (f"{name}.{number}" for number in count(2)))
    return next(place for place in (directory / free for free in names) if not place.exists())


def _move(path: Location, place: Location) -> None:
    if isinstance(path, ObjectPath) and isinstance(place, ObjectPath):
        place.write_bytes(path.read_bytes())
        path.unlink(missing_ok=True)
    elif isinstance(path, Path) and isinstance(place, Path):
        path.rename(place)


def _is_temporary(path: Location) -> bool:
    return path.name.startswith(".") and path.name.endswith(".tmp")


def _is_orphan(path: Path) -> bool:
    parts = path.name.removesuffix(".tmp").rsplit(".", 2)
    if len(parts) != 3:  # noqa: PLR2004 - name, host and process
        return True
    _, host, pid = parts
    if host != this_host():
        try:
            return time.time() - path.stat().st_mtime > FOREIGN_S
        except FileNotFoundError:
            return False
    return not pid.isdigit() or int(pid) == os.getpid() or not _is_alive(int(pid))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
