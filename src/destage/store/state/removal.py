"""Removal of a sweep from a store, or of its exported files."""

import shutil

from destage.objects import ObjectPath
from destage.store.files.layout import SweepLayout, remove_files
from destage.store.locks.lease import hold_lease
from destage.store.state.head import list_heads


def remove_sweep(layout: SweepLayout) -> int:
    """Delete all files of a sweep, and return their number.

    The heads are deleted first, so that an interrupted removal leaves no sweep.
    """
    with hold_lease(layout.lease):
        if isinstance(layout.root, ObjectPath):
            paths = [info.path for info in layout.root.list_below() if info.path.parent != layout.lease]
            heads = list_heads(layout)
            files = remove_files(heads) + remove_files(set(paths).difference(heads))
        else:
            files = sum(path.is_file() for path in layout.root.rglob("*"))
            remove_files(list_heads(layout))
            shutil.rmtree(layout.root)
    if isinstance(layout.root, ObjectPath) and not layout.root.list_below():
        layout.root.drop_markers()
    return files


def remove_exports(layout: SweepLayout) -> None:
    """Delete the files for other programs, which lack the rows that are about to be added."""
    remove_files(layout.exports)
