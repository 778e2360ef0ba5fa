"""Why a batch could not be executed or committed: the failure that its error stands for."""

import errno

from destage.errors import Issue, MachineError
from destage.sweeps.workers.marker import WorkerMismatchError
from destage.sweeps.workers.receipts import Failure
from destage.system_failures import SYSTEM_CODES, describe_system_error

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
