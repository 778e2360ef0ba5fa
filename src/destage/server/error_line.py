"""An error as the page shows it: one line that starts with its code."""

from destage.errors import DestageError, Issue
from destage.system_failures import describe_system_error, find_shortage


def describe_error(error: Exception) -> str:
    """Return an error in one line."""
    if isinstance(error, DestageError):
        return str(error.issues[0])
    if isinstance(error, OSError):
        return str(describe_system_error(error))
    if (shortage := find_shortage(error)) is not None:
        return str(shortage.issues[0])
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return str(Issue("system.internal-error", "", message))
