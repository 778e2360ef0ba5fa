"""Destage simulates disk arrays with battery-backed write caches and answers how many users each supports.

The packages are ``destage.engine`` (simulation of one array), ``destage.sweeps`` (studies, plans and their
execution) and ``destage.queries`` (views and reports of results). Importing this package loads none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from destage.queries.frames import Frames
    from destage.store import Location

__all__ = ["open"]


def open(sweep: str | Location, store: str | Location | None = None) -> Frames:  # noqa: A001 -- `destage.open(...)` reads well
    """Open a sweep for a notebook: its rows as polars LazyFrames.

    Args:
        sweep: Path or URL of a sweep, its name, or an unambiguous beginning of its name.
        store: Folder or URL of the store that the name is looked up in; the default store where None.

    Returns:
        The sweep's ``runs()``, ``points()`` and ``answers()``.

    Raises:
        StoreError: No sweep, or more than one, goes by that name.
    """
    from destage.queries.frames import open_frames  # noqa: PLC0415 -- a notebook pays for polars, an import does not

    return open_frames(sweep, store)
