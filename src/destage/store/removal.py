"""Removal of a sweep from a store."""

import shutil

from destage.objects import Location, ObjectPath
from destage.store.layout import SweepLayout
from destage.store.lease import hold_lease
from destage.store.parallel import map_places


def remove_sweep(layout: SweepLayout) -> int:
    """Delete all files of a sweep, and return their number.

    The study is deleted first, so that an interrupted removal leaves no sweep.
    """
    with hold_lease(layout.lease):
        if isinstance(layout.root, ObjectPath):
            layout.spec.unlink()
            others = [each.path for each in layout.root.list_below() if each.path.parent != layout.lease]
            files = 1 + sum(map_places(_unlink, others))
        else:
            files = sum(path.is_file() for path in layout.root.rglob("*"))
            layout.spec.unlink(missing_ok=True)
            shutil.rmtree(layout.root)
    if isinstance(layout.root, ObjectPath) and not layout.root.list_below():
        layout.root.drop_markers()
    return files


def _unlink(place: Location) -> int:
    place.unlink(missing_ok=True)
    return 1
