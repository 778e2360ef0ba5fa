"""The layout of a store, one directory `<store>/sweeps/<name>-<id>/` per sweep.

Its locations, folders and prefixes of a bucket alike, can be listed, probed and mapped over.
"""

import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from destage.errors import StoreError
from destage.objects import Location, ObjectPath
from destage.store.files.durable import sync_directory, write_durably

README = "README.md"
EXPORTS = ("points.parquet", "runs.parquet", "answers.parquet", README)
"""The files that `destage admin export` writes for other programs; nothing reads them."""
_THREADS = 16
_Got = TypeVar("_Got")


@dataclass(frozen=True, slots=True)
class SweepLayout:
    """The paths of one sweep's directory."""

    root: Location

    @property
    def generations(self) -> Location:
        """The directory of studies, plans, answers and progress, by the generation that wrote them."""
        return self.root / "generations"

    @property
    def lease(self) -> Location:
        """The file that the writer locks, or the prefix of the lease objects."""
        return self.root / "lease"

    @property
    def fragments(self) -> Location:
        """The directory of committed result rows."""
        return self.root / "fragments"

    @property
    def copies(self) -> Location:
        """The directory of what readers keep: a copy of small fragments, facts and order of many rows."""
        return self.root / "copies"

    @property
    def quarantine(self) -> Location:
        """The directory of files removed from the fragments because they are damaged or foreign."""
        return self.root / "quarantine"

    @property
    def exports(self) -> tuple[Location, ...]:
        """The files for other programs, of which a sweep may have some or none."""
        return tuple(self.root / name for name in EXPORTS)

    def make(self) -> None:
        """Create the directories that a writer needs, and sync their entries."""
        if isinstance(self.root, ObjectPath):
            return  # a bucket has none
        for directory in (self.generations, self.fragments):
            directory.mkdir(parents=True, exist_ok=True)
        # Its parents too: synced files must stay reachable after a power cut.
        for directory in (self.root, *self.root.absolute().parents[:2]):
            sync_directory(directory)


def map_places(act: Callable[[Location], _Got], places: Iterable[Location]) -> Iterator[_Got]:
    """Yield the result of an action for each place, in order; in a bucket, many at a time."""
    listed = list(places)
    if not any(isinstance(place, ObjectPath) for place in listed):
        yield from map(act, listed)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only a bucket needs threads

    with ThreadPoolExecutor(_THREADS, thread_name_prefix="destage-store") as pool:
        yield from pool.map(act, listed)


def remove_files(places: Iterable[Location]) -> int:
    """Delete files, and return the number of places; a missing file is not an error."""
    return len(list(map_places(lambda place: place.unlink(missing_ok=True), places)))


_PROBE_BYTES = 1 << 16
"""Size of the file that tries whether a store can be written: more than a file system keeps in an inode."""


def list_sizes(folder: Location) -> Iterator[tuple[Location, int]]:
    """Yield the files in a folder, if it exists, by name, with their sizes [bytes]."""
    if isinstance(folder, ObjectPath):
        yield from ((info.path, info.size) for info in folder.list_objects())
        return
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries)
    for name in names:
        path = folder / name
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            continue  # moved since it was listed
        yield path, size


def list_tree(folder: Location) -> Iterator[tuple[str, int]]:
    """Yield the relative paths and the sizes [bytes] of all files below a folder, if it exists."""
    if isinstance(folder, ObjectPath):
        prefix = f"{folder.key}/" if folder.key else ""
        yield from ((info.path.key.removeprefix(prefix), info.size) for info in folder.list_below())
        return
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.stat().st_size


def find_modified_time(file: Location) -> float | None:
    """Return when a file was last written [s since 1970]; None if it does not exist."""
    if isinstance(file, ObjectPath):
        return file.modified_at()
    return file.stat().st_mtime_ns / 1e9 if file.is_file() else None


def find_write_error(store: Location) -> StoreError | None:
    """Write a file to a store, read it again and delete it; return the error that was raised, if any.

    The file of a folder that does not exist yet is written to the nearest folder above it that does.
    """
    if isinstance(store, ObjectPath):
        place: Location = store
    else:
        place = next(path for path in (store.absolute(), *store.absolute().parents) if path.exists())
    probe, content = place / f"probe-{secrets.token_hex(4)}", secrets.token_bytes(_PROBE_BYTES)
    try:
        write_durably(probe, content)
        try:
            is_kept = probe.read_bytes() == content
        finally:
            probe.unlink()
    except StoreError as error:
        return _not_writable(store, error.message) if isinstance(store, Path) else error
    except OSError as error:
        return _not_writable(store, f"cannot be written: {error.strerror}")
    return None if is_kept else _not_writable(store, "does not return what was written")


def _not_writable(store: Location, reason: str) -> StoreError:
    message = f"{reason}; choose another store with --store or DESTAGE_STORE"
    return StoreError("store.not-writable", message, str(store))
