"""The errors that Destage raises: one tree, each class picklable, so that a worker can send it to the driver.

Every error and warning has a stable code, a place and one line that says what is wrong and what is allowed.
`error_codes/` lists all codes with cause and fix; `docs/reference/errors.md` is generated from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SHOWN = 120
"""Longest value that a message repeats [characters]."""
_SHOWN_PLACE = 200
"""Longest place that a message repeats [characters]."""
_LONGEST = 2_000
"""Longest line of a message [characters]; a wrong file may be one long line."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One mistake or warning.

    Attributes:
        code: Its stable code, as in ``study.unknown-key``.
        place: Where it is: the dotted path of a field, a file with its line, an object's name; may be empty.
        message: What is wrong and what is allowed or what to do, in one line.
        value: The value that was given, as the user wrote it; None where nothing was given.
        data: Facts that a program may need, by name.
        line: The line in the file that the mistake was found in, counted from 1.
        column: The column in that line, counted from 1.
    """

    code: str
    place: str
    message: str
    value: object = None
    data: Mapping[str, Any] = field(default_factory=dict)
    line: int | None = None
    column: int | None = None

    def describe(self, source: str = "") -> str:
        """Return one line: file with line and column, code, place, value, message."""
        position = "" if self.line is None else f":{self.line}:{self.column}"
        text = f"{source}{position}: {self}" if source else str(self)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."

    def __str__(self) -> str:
        """Return one line: code, place, value, message."""
        given = "" if self.value is None else f" {_shorten(repr(self.value), _SHOWN)}:"
        place = f" at {_shorten(self.place, _SHOWN_PLACE)}" if self.place else ""
        return f"{self.code}{place}:{given} {self.message}"


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


class DestageError(Exception):
    """Any error that Destage raises on purpose."""

    def __init__(
        self, code: str, message: str, place: str = "", data: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(code, message, place, data)
        self.source = ""
        self.issues: tuple[Issue, ...] = (Issue(code, place, message, data=data or {}),)

    @property
    def code(self) -> str:
        """The code of the first issue."""
        return self.issues[0].code

    @property
    def place(self) -> str:
        """The place of the first issue."""
        return self.issues[0].place

    @property
    def message(self) -> str:
        """The message of the first issue."""
        return self.issues[0].message

    @property
    def data(self) -> Mapping[str, Any]:
        """The facts of the first issue."""
        return self.issues[0].data

    def __str__(self) -> str:
        """Return one line per issue."""
        return "\n".join(issue.describe(self.source) for issue in self.issues)


class ConfigError(DestageError):
    """A configuration, study or settings document that cannot be used; carries every mistake found.

    Attributes:
        source: The document's name or file; empty where there is none.
        issues: At least one.
    """

    def __init__(self, issues: Iterable[Issue], source: str = "") -> None:
        self.issues = tuple(issues)
        self.source = source
        Exception.__init__(self, self.issues, source)


class TraceError(DestageError):
    """A trace that cannot be read or replayed; the place is the file and the line or byte offset."""


class SimulationError(DestageError):
    """A run that failed inside the engine: a deadlock, or a broken law."""


class SweepError(DestageError):
    """A sweep that cannot be planned, run or resumed."""


class InfrastructureError(SweepError):
    """A Ray cluster that does not start or cannot be reached; a retry may help."""


class StoreError(DestageError):
    """A store that cannot be opened, read, locked or written."""


class UnreachableError(StoreError):
    """A bucket that cannot be used from this machine: unreachable, access denied, or missing."""


class MachineError(StoreError):
    """What this machine refuses, such as a write to a full disk or a file more; its data have `errno`."""


class QueryError(DestageError):
    """A query that is not allowed, not known or not answerable from the rows."""


class ClusterError(DestageError):
    """A cluster that cannot be reached or that rejected a job."""


class UsageError(DestageError):
    """A command line that cannot be used; the place is the option or argument."""
