"""A store of sweeps, each a study, a plan, committed result rows and answers."""

from typing import TYPE_CHECKING, Any

from destage.objects import Location, ObjectPath, locate
from destage.store.state.lookup import default_store, find_sweep, list_sweeps

if TYPE_CHECKING:
    from destage.store.opened.sweep import Sweep, open_sweep

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


def __getattr__(name: str) -> Any:
    """Import the readers of rows, and pyarrow with them, on first use."""
    if name in ("Sweep", "open_sweep"):
        from destage.store.opened import sweep  # noqa: PLC0415

        return getattr(sweep, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
