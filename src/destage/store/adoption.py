"""Taking stock when a sweep is opened for writing: whole fragments are adopted, all else is put aside."""

import os
from pathlib import Path

from destage.errors import StoreError
from destage.store.fragments import inspect_fragment
from destage.store.layout import SweepLayout
from destage.store.manifests import append_manifest, drop_torn_line, read_manifest


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
    named = read_manifest(layout.manifest)
    messages = []
    for path in sorted(layout.fragments.iterdir()):
        if path.name.startswith(".") and path.name.endswith(".tmp"):
            _remove_if_orphaned(path)
            continue
        known = named.get(path.stem) if path.suffix == ".parquet" else None
        if known is not None and path.stat().st_size == known.size:
            continue
        try:
            fragment = inspect_fragment(path)
        except StoreError as error:
            layout.quarantine.mkdir(exist_ok=True)
            path.rename(layout.quarantine / path.name)
            messages.append(f"{error}; moved to {layout.quarantine.name}/")
            continue
        if known != fragment:
            append_manifest(layout.manifest, fragment)
    return messages


def _remove_if_orphaned(path: Path) -> None:
    """Remove a temporary file unless its writer, a killed driver's worker perhaps, still lives here."""
    pid = path.name.removesuffix(".tmp").rpartition(".")[2]
    if pid.isdigit() and int(pid) != os.getpid():
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            pass
        except PermissionError:
            return
        else:
            return
    path.unlink(missing_ok=True)
