"""Taking stock when a sweep is opened for writing: whole fragments are adopted, all else is put aside."""

import os
import time
from itertools import chain, count
from pathlib import Path

from destage.errors import StoreError
from destage.store.durable import this_host
from destage.store.fragments import inspect_fragment
from destage.store.layout import SweepLayout
from destage.store.manifests import append_manifest, drop_torn_line, read_manifest

FOREIGN_S = 3600.0
"""After this a temporary file of another machine is an orphan: writing one takes seconds."""


def adopt_fragments(layout: SweepLayout) -> list[str]:
    """Bring the manifest into line with the fragments that are there.

    Every whole fragment that no manifest names is adopted; a torn or foreign file is moved to the quarantine;
    temporary files of processes that no longer live are removed. The caller holds the lease.

    Args:
        layout: The sweep's directory.

    Returns:
        One message per file put aside.
    """
    drop_torn_line(layout.manifest)
    remove_orphans(layout)
    named = read_manifest(layout.manifest)
    messages = []
    for path in sorted(layout.fragments.iterdir()):
        if _is_temporary(path):
            continue
        known = named.get(path.stem) if path.suffix == ".parquet" else None
        if known is not None and path.stat().st_size == known.size:
            continue
        try:
            fragment = inspect_fragment(path)
        except StoreError as error:
            path.rename(_free_place(layout.quarantine, path.name))
            messages.append(f"{error}; moved to {layout.quarantine.name}/")
            continue
        if known != fragment:
            append_manifest(layout.manifest, fragment)
    return messages


def remove_orphans(layout: SweepLayout) -> None:
    """Remove temporary files whose writers died; those of a killed driver's workers that still live stay.

    Whether a process of another machine lives cannot be seen from here: its files stay for an hour.

    Args:
        layout: The sweep's directory.
    """
    directories = (layout.root, layout.fragments, layout.answers.parent)
    for path in filter(_is_temporary, chain.from_iterable(map(Path.iterdir, directories))):
        if _is_orphan(path):
            path.unlink(missing_ok=True)


def _free_place(directory: Path, name: str) -> Path:
    """Return where a file can be put aside without replacing another one."""
    directory.mkdir(exist_ok=True)
    names = chain([name], (f"{name}.{number}" for number in count(2)))
    return next(place for place in (directory / one for one in names) if not place.exists())


def _is_temporary(path: Path) -> bool:
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
