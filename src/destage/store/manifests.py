"""The manifest: an append-only index of the fragments that were validated, one JSON line each.

The fragments are the truth and the manifest only saves looking at each again. The driver appends to it
while it holds the lease; a last line torn by a crash is dropped when the sweep is next opened for writing.
"""

import json
from dataclasses import asdict
from pathlib import Path

from destage.errors import StoreError
from destage.store.failpoints import pass_point
from destage.store.fragments import Fragment


def read_manifest(path: Path) -> dict[str, Fragment]:
    """Return the fragments that a manifest names, by key; torn and damaged lines are ignored.

    A fragment that no whole line names is looked at again, so that a damaged line costs no more than that.

    Args:
        path: The manifest; it need not be there.
    """
    if not path.is_file():
        return {}
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    entries = (_entry(line) for line in whole.split(b"\n"))
    return {entry.key: entry for entry in entries if entry is not None}


def append_manifest(path: Path, fragment: Fragment) -> None:
    """Name one more fragment.

    Args:
        path: The manifest.
        fragment: A fragment that is committed and known to be whole.

    Raises:
        StoreError: The manifest cannot be written: no space is left, say.
    """
    line = json.dumps(asdict(fragment), separators=(",", ":")).encode() + b"\n"
    half = len(line) // 2
    try:
        with path.open("ab") as file:
            file.write(line[:half])
            file.flush()
            pass_point("mid_manifest")
            file.write(line[half:])
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error


def drop_torn_line(path: Path) -> None:
    """Cut off what a crash left behind the last whole line.

    Args:
        path: The manifest; it need not be there. The caller holds the lease.
    """
    if not path.is_file():
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole != len(data):
        with path.open("r+b") as file:
            file.truncate(whole)


def _entry(line: bytes) -> Fragment | None:
    try:
        return Fragment(**json.loads(line))
    except (ValueError, TypeError):
        return None
