"""An error as the page shows it: one line that starts with its code."""

from destage.errors import DestageError, Issue


def describe_error(error: Exception) -> str:
    """Return an error in one line."""
    if isinstance(error, DestageError):
        return str(error.issues[0])
    if isinstance(error, OSError):
        return str(Issue("system.io-error", str(error.filename or ""), error.strerror or str(error)))
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return str(Issue("system.internal-error", "", message))
