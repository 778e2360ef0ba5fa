"""Adoption of fragments when a sweep is opened for writing; damaged and foreign files are quarantined."""

import os
import time
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from destage.errors import Issue
from destage.objects import Location, ObjectPath
from destage.store.durable import this_host
from destage.store.fragments import NotAFragmentError, open_fragment
from destage.store.layout import SweepLayout
from destage.store.location import list_sizes
from destage.store.parallel import map_places

FOREIGN_S = 3600.0
"""Age at which a temporary file of another machine is an orphan [s]; writing one takes seconds."""


def adopt_fragments(layout: SweepLayout) -> list[Issue]:
    """Check all fragments, and remove what is not a fragment.

    A damaged or foreign file is moved to the quarantine, so that its runs are executed again; temporary files
    of dead processes and, in a bucket, empty fragments are removed. The caller holds the lease.

    Returns:
        One warning per quarantined file.
    """
    remove_orphans(layout)
    sizes = {path: size for path, size in list_sizes(layout.fragments) if not _is_temporary(path)}
    for path in [path for path, size in sizes.items() if _is_empty_object(path, size)]:
        path.unlink(missing_ok=True)
        del sizes[path]
    warnings = []
    for path, found in zip(sizes, map_places(_inspect, sizes), strict=True):
        if found is not None:
            _move(path, _find_free_place(layout.quarantine, path.name))
            message = f"{found.message}; moved to {layout.quarantine.name}/"
            warnings.append(replace(found.issues[0], message=message))
    return warnings


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


def _is_empty_object(path: Location, size: int) -> bool:
    """Whether a killed writer left an empty object; Azure's client creates each one empty."""
    return isinstance(path, ObjectPath) and path.suffix == ".parquet" and size == 0


def _inspect(path: Location) -> NotAFragmentError | None:
    try:
        with open_fragment(path):
            return None
    except NotAFragmentError as error:
        return error


def _find_free_place(directory: Location, name: str) -> Location:
    """Return a path in a directory that no file has yet."""
    directory.mkdir(exist_ok=True)
    names = chain([name], (f"{name}.{number}" for number in count(2)))
    return next(place for place in (directory / one for one in names) if not place.exists())


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
