"""What the operating system refuses, with the code of each reason.

A lack of open files or memory is one of this process: it says nothing about the file that was being read.
"""

import errno
import os
import resource
from collections.abc import Mapping
from types import MappingProxyType

from destage.errors import Issue, MachineError

SYSTEM_CODES: Mapping[int, str] = MappingProxyType(
    {
        errno.EACCES: "system.permission-denied",
        errno.EDQUOT: "system.disk-full",
        errno.EMFILE: "system.too-many-open-files",
        errno.ENFILE: "system.too-many-open-files",
        errno.ENOENT: "system.file-not-found",
        errno.ENOMEM: "system.out-of-memory",
        errno.ENOSPC: "system.disk-full",
        errno.EPERM: "system.permission-denied",
        errno.EROFS: "system.permission-denied",
    }
)
_SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
_WITHOUT_MEMORY = ("OutOfMemoryException", "can't start new thread", "std::bad_alloc")
"""Texts of libraries that ran out of memory, in their errors or the names of these."""


def describe_system_error(error: OSError) -> Issue:
    """Return an error of the operating system as an issue."""
    code = SYSTEM_CODES.get(error.errno or 0, "system.io-error")
    return Issue(code, str(error.filename or ""), error.strerror or str(error))


def find_shortage(error: BaseException, place: str = "") -> MachineError | None:
    """Return the error of a process that lacks open files or memory, if that is why something failed."""
    if isinstance(error, OSError) and error.errno in _SHORTAGES:
        return _build(error.errno, place)
    if isinstance(error, MemoryError):
        return _build(errno.ENOMEM, place)
    return read_shortage(f"{type(error).__name__}: {error}", place)


def read_shortage(text: str, place: str = "") -> MachineError | None:
    """Return the same as `find_shortage` for the text of an error of a library."""
    if any(phrase in text for phrase in _WITHOUT_MEMORY):
        return _build(errno.ENOMEM, place)
    number = next((code for code in _SHORTAGES if os.strerror(code) in text), None)
    return None if number is None else _build(number, place)


def _build(number: int, place: str) -> MachineError:
    message = f"{os.strerror(number)}; {_advise(number)}"
    return MachineError(SYSTEM_CODES[number], message, place, {"errno": number})


def _advise(number: int) -> str:
    if number == errno.ENOMEM:
        return "use fewer workers, or raise the limits of memory (ulimit -v, the container's)"
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return f"raise the limit of this process, {limit} (ulimit -n)"
