"""Verdicts for human eyes: the cells of the table that terminal, report and documentation show."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from destage.queries.presentation import format_number

HEADINGS = ("figure", "published", "simulated", "error", "verdict", "source")
_HALF_WIDTH_DIGITS = 2


def format_verdict(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one verdict as shown, a cell for each of `HEADINGS`.

    Args:
        row: A row of `verdict_table`.
    """
    unit = f" {row['unit']}" if row["unit"] else ""
    printed = row["published"]
    if row["published_value"] is not None:
        printed = f"{printed}{unit}"
    return (row["figure"], printed, _simulated(row, unit), _error(row), row["verdict"], row["source"])


def summarise_verdicts(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many figures had which verdict, in words.

    Args:
        rows: Rows of `verdict_table`.
    """
    counts = Counter(shorten_verdict(row["verdict"]) for row in rows)
    told = ", ".join(f"{count} {said}" for said, count in counts.items())
    return f"{len(rows)} published figure{'' if len(rows) == 1 else 's'}: {told}"


def shorten_verdict(verdict: str) -> str:
    """Return a verdict without the figures that something was fitted on.

    Args:
        verdict: A verdict of `verdict_table`.
    """
    if verdict.startswith("calibrated on "):
        return f"calibrated, {verdict.rpartition(', ')[2]}"
    return verdict


def _error(row: Mapping[str, Any]) -> str:
    """Return by how much what was simulated is off, of a range both of its ends: a wide one is no success."""
    if row["error_fraction"] is None:
        return ""
    if not row["is_range"]:
        return _percent(row["error_fraction"])
    ends = [_percent(row[end] / row["published_value"] - 1) for end in ("simulated_low", "simulated_high")]
    return ends[0] if ends[0] == ends[1] else f"{ends[0].removesuffix(' %')} .. {ends[1]}"


def _percent(fraction: float) -> str:
    """Return a signed percentage, without decimals where they would tell nothing."""
    return f"{fraction * 100:+.{1 if abs(fraction) < 1 else 0}f} %"


def _simulated(row: Mapping[str, Any], unit: str) -> str:
    mean, low, high = row["simulated"], row["simulated_low"], row["simulated_high"]
    if mean is None:
        return ""
    if row["is_range"]:
        return f"{format_number(low)} .. {format_number(high)}{unit}"
    if low is None:
        return f"{format_number(mean)}{unit}"
    half_width = format_number(float(f"{(high - low) / 2:.{_HALF_WIDTH_DIGITS}g}"))
    return f"{format_number(mean)} ± {half_width}{unit}"
