"""A job of fio: its options as they are written."""

from collections.abc import Mapping
from dataclasses import dataclass

from destage.errors import Issue


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a job file.

    Attributes:
        name: Its canonical name.
        written: The name as written in the file.
        text: The text after `=`; None if there is no `=`.
    """

    name: str
    written: str
    text: str | None
    line: int

    @property
    def place(self) -> str:
        """Its place in errors and warnings."""
        return f"line {self.line}, {self.written}"

    @property
    def value(self) -> str:
        """Its value; empty if it has none."""
        return self.text or ""

    def issue(self, code: str, message: str) -> Issue:
        """Return an issue at the option."""
        return Issue(code, self.place, message, self.text)

    def __str__(self) -> str:
        """Return the option as it is written in a job file."""
        return self.written if self.text is None else f"{self.written}={self.text}"


@dataclass(frozen=True, slots=True)
class Job:
    """One job with all its options, inherited ones included.

    Attributes:
        options: Its options by name; its own override those of the global sections above.
    """

    name: str
    line: int
    options: Mapping[str, Option]

    @property
    def place(self) -> str:
        """Its place in errors."""
        return f"line {self.line}, [{self.name}]"
