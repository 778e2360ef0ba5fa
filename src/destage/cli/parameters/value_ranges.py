"""The options of `destage size` that take a value or a range: `300`, `250..350`."""

import math
import re
from typing import TYPE_CHECKING

from destage.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from destage.sweeps.sizing.uncertain_load import InputRange

_MOST_USERS = 1_000_000
_RANGE = re.compile(r"\s*(.+?)\s*(?:\.\.\s*(.+?)\s*)?")


def parse_users(text: str) -> "InputRange":
    """Return the numbers of users that `--users` gives."""
    return _parse(text, "users", 1, _MOST_USERS, "a whole number")


def parse_read_share(text: str) -> "InputRange":
    """Return the shares of reads that `--read-share` gives."""
    return _parse(text, "read_share", 0, 1, "a number")


def parse_read_rate(text: str) -> "InputRange":
    """Return the rates that `--read-iops` gives [1/s]."""
    return _parse(text, "read_iops", 0, math.inf, "a number")


def parse_write_rate(text: str) -> "InputRange":
    """Return the rates that `--write-iops` gives [1/s]."""
    return _parse(text, "write_iops", 0, math.inf, "a number")


def name_option(given: "InputRange") -> str:
    """Return the option that gives an input."""
    return f"--{given.name.replace('_', '-')}"


def reject_ranges(inputs: "Iterable[InputRange]", reason: str) -> None:
    """Reject options that give a range."""
    for given in inputs:
        if given.has_width:
            raise UsageError("usage.conflicting-options", f"{given}: {reason}", name_option(given))


def _parse(text: str, name: str, least: float, most: float, kind: str) -> "InputRange":
    from destage.sweeps.sizing.uncertain_load import InputRange

    match = _RANGE.fullmatch(text)
    number = int if kind == "a whole number" else float
    try:
        low, high = (number(end) for end in (match[1], match[2] or match[1])) if match else (math.nan,) * 2
    except ValueError:
        low = high = math.nan
    given = InputRange(name, low, high, text)
    option = name_option(given)
    if not (math.isfinite(low) and math.isfinite(high)):
        message = f"{text!r}: must be {kind}, or a range of two as in {_show_example(name)}"
        raise UsageError("usage.bad-value", message, option)
    if low > high:
        message = f"{text!r}: the low end of the range is above the high end; swap them"
        raise UsageError("usage.bad-value", message, option)
    if low < least or high > most:
        bounds = f"at least {least:,}" if most == math.inf else f"from {least:,} to {most:,}"
        raise UsageError("usage.out-of-range", f"{text}: must be {bounds}", option)
    return given


def _show_example(name: str) -> str:
    return {"users": "250..350", "read_share": "0.6..0.8"}.get(name, "5000..8000")
