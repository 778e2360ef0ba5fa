"""What no measurement can have: rates, times and dates beyond every system, and parts above their whole."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

_LIMITS = (
    ("_fraction", 1.0),
    ("_bytes_per_s", 1e14),
    ("_iops", 1e10),
    ("_us", 1e13),
    ("_s", 1e9),
    ("request_bytes", 2.0**40),
    ("outstanding", 1e9),
    ("disk_time_percent", 1e11),
    ("depth", 1e9),
    ("threads", 1e7),
)
"""Ends of columns, the longest that fits first, and the largest plausible value [the column's unit]."""
_TOLERANCE = 0.05
"""What a share may exceed 1 by, as a busy time does that is over a slightly shorter interval."""
_WHOLES = (
    *(
        (f"{kind}_{rate}", f"throughput_{rate}")
        for rate in ("iops", "bytes_per_s")
        for kind in ("read", "write")
    ),
    *((f"{kind}response_mean_us", f"{kind}response_max_us") for kind in ("", "read_", "write_")),
)
"""Columns that are at most another one of their line."""
_MOST_COUNT = 2**62
_FIRST_YEAR, _LAST_YEAR = 1970, 2100


def explain_implausible(column: str, value: Any) -> str:
    """Return what a value would have to be; empty if it is plausible."""
    if isinstance(value, datetime) and not _FIRST_YEAR <= value.year < _LAST_YEAR:
        return f"must be between {_FIRST_YEAR} and {_LAST_YEAR}; was the clock set?"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    most = next((most for end, most in _LIMITS if column.endswith(end)), float(_MOST_COUNT))
    if column.endswith("_fraction"):
        most += _TOLERANCE
    return f"is too large for {column}: at most {most:.4g}" if value > most else ""


def explain_excess(columns: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return a column that exceeds the whole that it is a part of, and how; None if there is none."""
    for part, whole in _WHOLES:
        value, most = columns[part], columns[whole]
        if value is not None and most is not None and value > most * (1 + _TOLERANCE):
            return part, f"is more than {whole}, {most:.4g}"
    return None
