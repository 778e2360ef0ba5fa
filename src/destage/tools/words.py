"""Words of another tool's file or command, each with its line and column for messages."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from destage.errors import Issue


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a file.

    Attributes:
        line: Its line, from 1.
        column: The column of its first character, from 1.
    """

    text: str
    line: int
    column: int

    def issue(self, code: str, place: str, message: str) -> Issue:
        """Return an issue at this word."""
        return Issue(code, place, message, self.text, line=self.line, column=self.column)

    def mark(self, code: str, place: str, message: str) -> Issue:
        """Return an issue at the place of this word that is not about its text."""
        return Issue(code, place, message, line=self.line, column=self.column)

    def part(self, start: int, text: str) -> "Word":
        """Return a part of the word that begins after `start` characters."""
        return Word(text, self.line, self.column + start)

    def with_text(self, text: str) -> "Word":
        """Return another text at the place of this word."""
        return replace(self, text=text)


def sort_by_place(issues: Iterable[Issue]) -> list[Issue]:
    """Return different issues in the order of the file."""
    unique = {(issue.code, issue.place, issue.line, issue.column, issue.message): issue for issue in issues}
    return sorted(unique.values(), key=lambda issue: (issue.line or 0, issue.column or 0))
