"""The mark that a driver leaves in a sweep, by which a worker knows that it writes where the driver looks.

A worker of another machine may have another folder of the same name. What it committed there would be lost
without anybody's noticing: the driver believes the receipt. So it looks for the mark first. The mark's
name is never the same twice, so that no old folder, and no cache of a network file system, can have it.
"""

import secrets
import socket
import time
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version

from destage import engine
from destage.errors import StoreError, SweepError
from destage.objects import Location, locate
from destage.store.location import sizes_in

_PREFIX = ".mark-"
_PAUSES_S = (0.1, 0.5, 1.0, 3.0)
"""How long to wait before looking again: a network file system may be a moment late [s]."""


class WorkerMismatchError(SweepError):
    """A worker that must not execute runs: it writes elsewhere, or would compute something else."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What a worker needs, to know that it belongs to a driver.

    Attributes:
        sweep: The sweep's directory, as the driver names it.
        name: The mark's name in it.
        release: The version of Destage and that of its results.
    """

    sweep: str
    name: str
    release: tuple[str, int]


def write_marker(sweep: Location) -> Marker:
    """Leave a mark in a sweep; those of earlier drivers go, and with them what their workers still would do.

    Args:
        sweep: The sweep's directory. The caller holds its lease.

    Raises:
        StoreError: It cannot be written.
    """
    remove_markers(sweep)
    mark = Marker(str(sweep.absolute()), f"{_PREFIX}{secrets.token_hex(8)}", _release())
    try:
        (sweep / mark.name).touch()
    except OSError as error:
        raise StoreError(f"{sweep} cannot be written: {error.strerror}") from error
    return mark


def remove_markers(sweep: Location) -> None:
    """Remove what marks there are.

    Args:
        sweep: The sweep's directory.
    """
    for path, _ in list(sizes_in(sweep)):
        if path.name.startswith(_PREFIX):
            path.unlink(missing_ok=True)


def check_marker(mark: Marker) -> None:
    """Raise unless this process may work for the driver that left a mark.

    Args:
        mark: The mark.

    Raises:
        WorkerMismatchError: This is another Destage, or the mark cannot be seen from here.
    """
    if _release() != mark.release:
        ours, theirs = (f"{name} (results {results})" for name, results in (_release(), mark.release))
        raise WorkerMismatchError(
            f"{_here()} has Destage {ours}, and the sweep is driven by {theirs}: install the same everywhere"
        )
    place = locate(mark.sweep) / mark.name
    for pause_s in (*_PAUSES_S, None):
        if place.is_file():
            return
        if pause_s is not None:
            time.sleep(pause_s)
    raise WorkerMismatchError(
        f"{_here()} does not see the sweep's folder {mark.sweep}: it is not there, or another of that name; "
        "mount the same folder on all machines, or take a bucket as the store"
    )


@cache
def _release() -> tuple[str, int]:
    return version("destage"), engine.RESULTS_VERSION


def _here() -> str:
    return f"the worker on {socket.gethostname()}"
