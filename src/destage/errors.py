"""The errors that Destage raises: one tree, each class picklable, so that a worker can hand it to its driver.

Every message is one line that says what is wrong, where, and what is allowed; the command line prints it
as it stands and turns the class into an exit code.
"""

from __future__ import annotations

from dataclasses import dataclass

_SHOWN = 120
"""How much of a value a message repeats [characters]."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One mistake in a specification.

    Attributes:
        path: Dotted path of the field, as in ``controller.cache.capacity``; empty for the whole document.
        value: The value that was given, as the user wrote it; None where nothing was given.
        message: What is allowed there, with the nearest name where one was misspelt.
    """

    path: str
    value: object
    message: str

    def __str__(self) -> str:
        """Return the issue as one line: place, value, what is allowed."""
        shown = repr(self.value)
        if len(shown) > _SHOWN:
            shown = f"{shown[: _SHOWN - 3]}..."
        given = "" if self.value is None else f" {shown}:"
        return f"{self.path or 'the document'}:{given} {self.message}"


class DestageError(Exception):
    """Any error that Destage raises on purpose."""


class ConfigError(DestageError):
    """A configuration or study that cannot be run; carries every mistake found, not only the first."""

    def __init__(self, message: str, issues: tuple[Issue, ...] = ()) -> None:
        """Make the error.

        Args:
            message: One line that says what could not be read as what.
            issues: Each mistake with its path, value and what is allowed.
        """
        super().__init__(message, issues)
        self.message = message
        self.issues = issues

    def __str__(self) -> str:
        """Return the message, then one line per issue."""
        return "\n".join([self.message, *(f"  {issue}" for issue in self.issues)])


class TraceError(DestageError):
    """A trace that cannot be read or replayed; the message names the file and the line or byte offset."""


class SimulationError(DestageError):
    """A run that failed inside the engine: a deadlock, or a broken law."""


class SweepError(DestageError):
    """A sweep that cannot be planned, run or resumed."""


class StoreError(DestageError):
    """A store that cannot be opened, read, locked or written."""


class UnreachableError(StoreError):
    """A bucket that this machine does not get at: out of reach, refused, or not there."""

    def __init__(self, message: str, mend: str = "") -> None:
        """Make the error.

        Args:
            message: One line that says which store or object, and what its service said.
            mend: What the user can do; empty where nobody knows.
        """
        super().__init__(message, mend)
        self.message = message
        self.mend = mend

    def __str__(self) -> str:
        """Return the message, and the mend where there is one."""
        return "; ".join(filter(None, [self.message, self.mend]))


class QueryError(DestageError):
    """A query that is not allowed, not known or not answerable from the rows."""


class ClusterError(DestageError):
    """A cluster that cannot be reached or that refused a job."""
