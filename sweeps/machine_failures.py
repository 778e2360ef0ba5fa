"""Why a batch could not be executed or committed: the failure that its error stands for."""

import errno

from destage.errors import Issue, MachineError
from destage.sweeps.marker import WorkerMismatchError
from destage.sweeps.receipts import Failure

_FAILURES = {
    errno.ENOSPC: "system.disk-full",
    errno.EDQUOT: "system.disk-full",
    errno.EROFS: "system.permission-denied",
    errno.EACCES: "system.permission-denied",
    errno.EPERM: "system.permission-denied",
}


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
    if isinstance(error, MachineError) and error.data["errno"] in _FAILURES:
        return Issue(_FAILURES[error.data["errno"]], error.place, error.message)
    if not isinstance(error, OSError) or error.errno not in _FAILURES:
        return None
    return Issue(_FAILURES[error.errno], str(error.filename or ""), error.strerror or str(error))
