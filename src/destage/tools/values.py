"""Words in another tool's file or command, each with its line and column, and the values of options."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from destage.errors import Issue
from destage.spec.near_names import suggest


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a file.

    Attributes:
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


Parser = Callable[..., Any]
SECTOR = 512
"""Unit of requests and their addresses [bytes]."""
ALL = 100
_MOST_DIGITS = 12
"""Digits of a count, which fits 64 bits even times a unit."""
_POWERS = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_LARGEST = 2**63


class OptionValueError(ValueError):
    """A value does not have the form of its option; the message says what is allowed."""


def parse_count(text: str, *, least: int = 0, most: int | None = None) -> int:
    """Return a whole number in a range."""
    if not text.isascii() or not text.isdigit() or len(text) > _MOST_DIGITS:
        raise OptionValueError("must be a whole number")
    if int(text) < least:
        raise OptionValueError(f"must be at least {least}")
    if most is not None and int(text) > most:
        raise OptionValueError(f"must be {least}" if least == most else f"must be between {least} and {most}")
    return int(text)


def parse_positive(text: str) -> int:
    """Return a positive whole number."""
    return parse_count(text, least=1)


def parse_percentage(text: str) -> int:
    """Return a whole percentage."""
    return parse_count(text.removesuffix("%"), most=ALL)


def parse_decimal(text: str) -> float:
    """Return a number that is not negative."""
    if not re.fullmatch(r"\d{1,12}(\.\d{1,9})?", text, re.ASCII):
        raise OptionValueError("must be a number")
    return float(text)


def one_of(*allowed: str) -> Callable[[str], str]:
    """Return the parser of a word of a list."""

    def parse(text: str) -> str:
        if text not in allowed:
            raise OptionValueError(f"must be one of {', '.join(allowed)}{suggest(text, allowed)}")
        return text

    return parse


def switch(on: Sequence[str], off: Sequence[str], allowed: str) -> Callable[[str], bool]:
    """Return the parser of a switch in small or large letters."""

    def parse(text: str) -> bool:
        if text.lower() not in {*on, *off}:
            raise OptionValueError(f"must be {allowed}")
        return text.lower() in on

    return parse


def check_sectors(size: int, *, least: int = SECTOR) -> int:
    """Return a size of whole sectors."""
    if size % SECTOR or size < least:
        kind = "a positive multiple" if least else "a multiple"
        raise OptionValueError(f"is {size} bytes; must be {kind} of {SECTOR}")
    return size


@dataclass(frozen=True, slots=True)
class SizeForm:
    """How a tool writes sizes.

    Attributes:
        pattern: The form, with the number, the letter of the unit, and possibly an `i` behind it as groups.
        example: Sizes, for messages.
    """

    pattern: re.Pattern[str]
    example: str

    def parse(self, text: str, base: int = 1024) -> int:
        """Return a size [bytes].

        Args:
            base: 1024, or 1000 with which units with an `i` are powers of 1024, and the reverse.
        """
        match = self.pattern.fullmatch(text)
        if match is None:
            raise OptionValueError(f"must be a size such as {self.example}")
        number, letter, *is_other = match.groups()
        factor = 2_024 - base if any(is_other) else base
        unit = factor ** _POWERS[letter.lower()]
        whole = int(number, 0 if number[:2].lower() == "0x" else 10) if number.isalnum() else float(number)
        if whole * unit >= _LARGEST:
            raise OptionValueError("is too large")
        return int(whole * unit)

    def parse_sectors(self, text: str, base: int = 1024) -> int:
        """Return a positive size of whole sectors [bytes]."""
        return check_sectors(self.parse(text, base))
