"""Values of options of any tool: counts, and the error of a value that its option does not allow."""

from typing import TypeVar

N = TypeVar("N", int, float)
_MOST_DIGITS = 12
"""Digits of a count, which fits 64 bits even times a unit."""


_ALL = 100


class OptionValueError(ValueError):
    """A value does not have the form of its option; the message says what is allowed."""


def parse_count(text: str, *, least: int = 0) -> int:
    """Return a whole number of at least `least`."""
    if not text.isascii() or not text.isdigit() or len(text) > _MOST_DIGITS:
        raise OptionValueError("must be a whole number")
    if int(text) < least:
        raise OptionValueError(f"must be at least {least}")
    return int(text)


def check_percentage(value: N) -> N:
    """Return a percentage, 0 to 100."""
    if value > _ALL:
        raise OptionValueError("must be between 0 and 100")
    return value
