"""Removal of a sweep from a store, or of its exported files."""

import shutil

from destage.objects import Location, ObjectPath
from destage.store.files.layout import SweepLayout, map_places
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
            files = sum(map_places(_unlink, heads)) + sum(map_places(_unlink, set(paths).difference(heads)))
        else:
            files = sum(path.is_file() for path in layout.root.rglob("*"))
            for head in list_heads(layout):
                head.unlink(missing_ok=True)
            shutil.rmtree(layout.root)
    if isinstance(layout.root, ObjectPath) and not layout.root.list_below():
        layout.root.drop_markers()
    return files


def remove_exports(layout: SweepLayout) -> None:
    """Delete the files for other programs, which lack the rows that are about to be added."""
    list(map_places(_unlink, layout.exports))


def _unlink(place: Location) -> int:
    place.unlink(missing_ok=True)
    return 1
