"""What lies on disk: a store of sweeps, each a study, a plan, committed result rows and answers."""

from destage.objects import Location, ObjectPath, locate
from destage.store.layout import default_store, find_sweep, list_sweeps
from destage.store.sweep import Sweep, open_sweep

__all__ = [
    "Location",
    "ObjectPath",
    "Sweep",
    "default_store",
    "find_sweep",
    "list_sweeps",
    "locate",
    "open_sweep",
]
