"""Why a batch could not be executed or committed: the failure that its error stands for.

One is a worker whose machine has another folder of the same path as the store: rows committed there would be
lost although the driver has the receipt. Each session writes a marker file with a new name, which no older
folder and no cache of a network file system can hold, and a worker checks that it sees it.
"""

import errno
import secrets
import socket
import time
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version

from destage import engine
from destage.errors import Issue, MachineError, SweepError
from destage.objects import Location, locate
from destage.store.files.durable import as_write_error
from destage.store.files.layout import list_sizes
from destage.sweeps.workers.batches import Failure
from destage.system_failures import SYSTEM_CODES, describe_system_error

_PREFIX = ".mark-"
_PAUSES_S = (0.1, 0.5, 1.0, 3.0)
"""Waits before each further look: a network file system may show a new file late [s]."""


class WorkerMismatchError(SweepError):
    """A worker that must not execute runs: another version, or another sweep directory."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What a worker checks before it executes runs.

    Attributes:
        sweep: The sweep's directory, as the driver names it.
        name: The name of the marker file in it.
        release: The version of Destage and that of its results.
    """

    sweep: str
    name: str
    release: tuple[str, int]


def write_marker(sweep: Location) -> Marker:
    """Write a new marker into a sweep and remove older ones, so that older workers stop.

    Args:
        sweep: The sweep's directory. The caller holds its lease.
    """
    remove_markers(sweep)
    marker = Marker(str(sweep.absolute()), f"{_PREFIX}{secrets.token_hex(8)}", _release())
    try:
        (sweep / marker.name).touch()
    except OSError as error:
        raise as_write_error(error, sweep) from error
    return marker


def remove_markers(sweep: Location) -> None:
    """Remove all markers of a sweep."""
    for path, _ in list(list_sizes(sweep)):
        if path.name.startswith(_PREFIX):
            path.unlink(missing_ok=True)


def check_marker(marker: Marker) -> None:
    """Check that this process may work for the driver that wrote a marker.

    Raises:
        WorkerMismatchError: The Destage versions differ, or the marker is not visible here.
    """
    if _release() != marker.release:
        ours, theirs = (f"{name} (results {results})" for name, results in (_release(), marker.release))
        message = (
            f"the worker has Destage {ours}, the driver {theirs}: install equal versions on all machines"
        )
        data = {"worker": ours, "driver": theirs}
        raise WorkerMismatchError("sweep.worker-version-mismatch", message, socket.gethostname(), data)
    path = locate(marker.sweep) / marker.name
    for pause_s in (*_PAUSES_S, None):
        if path.is_file():
            return
        if pause_s is not None:
            time.sleep(pause_s)
    message = (
        f"the worker does not see the driver's sweep directory {marker.sweep}: mount the same directory on "
        "all machines, or use a bucket as the store"
    )
    raise WorkerMismatchError("sweep.worker-store-mismatch", message, socket.gethostname())


@cache
def _release() -> tuple[str, int]:
    return version("destage"), engine.RESULTS_VERSION


_FINAL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)
"""Failures that another attempt would have as well."""


class BatchStoppedError(Exception):
    """A batch was stopped before its first run ended."""


def explain_failure(error: BaseException) -> Failure | Issue:
    """Return the failure of a batch; an issue if another attempt would fail as well."""
    if isinstance(error, BatchStoppedError):
        return Failure("stopped", "the session ended")
    if isinstance(error, MemoryError):
        return Failure("oom", "the worker ran out of memory")
    if isinstance(error, WorkerMismatchError):
        return error.issues[0]
    return _explain_machine(error) or Failure("infrastructure", f"{type(error).__name__}: {error}")


def _explain_machine(error: BaseException) -> Issue | None:
    if isinstance(error, MachineError) and error.data["errno"] in _FINAL:
        return Issue(SYSTEM_CODES[error.data["errno"]], error.place, error.message)
    if not isinstance(error, OSError) or error.errno not in _FINAL:
        return None
    return describe_system_error(error)
