"""Parsers of fio's values: sizes with `kb_base`, times, lists by direction.

With fio's default, `kb_base=1024`, the prefixes are swapped: `4k` is 4096 and `4ki` is 4000. With
`kb_base=1000` they follow the standard. Suffixes are case-insensitive.
"""

import re
from collections.abc import Callable
from typing import TypeVar

from destage.spec.validation import suggest
from destage.tools.values import OptionValueError, check_percentage

T = TypeVar("T")

NANOSECONDS = {
    "d": 86_400 * 10**9,
    "h": 3_600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "sec": 10**9,
    "ms": 10**6,
    "msec": 10**6,
    "us": 10**3,
    "usec": 10**3,
}
"""Suffixes of times in nanoseconds."""
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SIZE = re.compile(r"(0x[0-9a-f]+|\d+)([kmgtp]?)(i?)b?", re.IGNORECASE | re.ASCII)
_TIME = re.compile(r"(\d+)([a-z]*)", re.IGNORECASE | re.ASCII)
_LARGEST = 2**63
SECTOR = 512
"""Unit of requests and their addresses [bytes]."""


def one_of(text: str, allowed: tuple[str, ...]) -> str:
    """Return a word if it is allowed."""
    if text not in allowed:
        raise OptionValueError(f"must be one of {', '.join(allowed)}{suggest(text, allowed)}")
    return text


def parse_size(text: str, kb_base: int) -> int:
    """Return a size [bytes].

    Args:
        text: A whole number, decimal or hexadecimal (`0x`), optionally with k, m, g, t or p, `i`, and `b`.
        kb_base: 1024 or 1000.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise OptionValueError(
            "must be a size such as 4k, 64m or 8192; arithmetic and $keywords are not supported"
        )
    number, prefix, is_swapped = match.groups()
    base = 2_024 - kb_base if is_swapped else kb_base
    size: int = int(number, 0 if number[:2].lower() == "0x" else 10) * base ** _POWERS[prefix.lower()]
    if size >= _LARGEST:
        raise OptionValueError("is too large")
    return size


def parse_sectors(text: str, kb_base: int) -> int:
    """Return a request size or alignment [bytes], a positive multiple of a sector."""
    size = parse_size(text, kb_base)
    if size == 0 or size % SECTOR:
        raise OptionValueError(
            f"is {size} bytes; requests are of whole sectors of {SECTOR} bytes, at least one"
        )
    return size


def parse_time(text: str, default: str) -> int:
    """Return a time [ns].

    Args:
        text: A whole number, optionally with the suffix d, h, m, s, ms or us.
        default: The suffix of a number without one.
    """
    match = _TIME.fullmatch(text)
    suffix = match[2].lower() or default if match else ""
    if match is None or suffix not in NANOSECONDS:
        raise OptionValueError(
            f"must be a whole number with {', '.join(NANOSECONDS)}, or without suffix in {default}"
        )
    time = int(match[1]) * NANOSECONDS[suffix]
    if time >= _LARGEST:
        raise OptionValueError("is too large")
    return time


def parse_count(text: str) -> int:
    """Return a whole number."""
    if not text.isascii() or not text.isdigit() or len(text) > len(str(_LARGEST)):
        raise OptionValueError("must be a whole number")
    return int(text)


def parse_percentage(text: str) -> int:
    """Return a percentage, 0 to 100."""
    return check_percentage(parse_count(text.removesuffix("%")))


def parse_switch(text: str | None) -> bool:
    """Return whether a switch is on; its name alone turns it on.

    Args:
        text: 0 or 1; None if the option has no value.
    """
    if text not in {None, "0", "1"}:
        raise OptionValueError("must be 0 or 1")
    return text != "0"


def by_direction(text: str, parse: Callable[[str], T], default: T) -> tuple[T, T]:
    """Return the values for reads and for writes from a list `reads,writes,trims`.

    A single value applies to all directions; an empty part leaves the default.
    """
    parts = text.split(",")
    if len(parts) > 3:  # noqa: PLR2004 - reads, writes, trims
        raise OptionValueError("must have at most three parts: reads, writes and trims")
    read = parse(parts[0]) if parts[0] else default
    if len(parts) == 1:
        return read, read
    return read, parse(parts[1]) if parts[1] else default


def parse_shares(text: str, parse: Callable[[str], int]) -> list[tuple[int, float]]:
    """Return the text before each slash with the share after it, 0 to 1.

    Args:
        text: `what/percent:what/percent...`; parts without a percentage share the rest equally.

    Raises:
        OptionValueError: A part cannot be read, or the percentages do not add up to 100.
    """
    given: list[tuple[int, int | None]] = []
    for part in text.split(":"):
        what, _, percent = part.partition("/")
        given.append((parse(what), parse_percentage(percent) if percent else None))
    total = sum(percent for _, percent in given if percent is not None)
    blanks = sum(percent is None for _, percent in given)
    if total > 100 or (total < 100 and not blanks):  # noqa: PLR2004 - per cent
        raise OptionValueError(f"has percentages that add up to {total}; they must add up to 100")
    rest = (100 - total) / blanks if blanks else 0.0
    shares = [(what, rest if percent is None else float(percent)) for what, percent in given]
    return [(what, share / 100) for what, share in shares if share > 0]
