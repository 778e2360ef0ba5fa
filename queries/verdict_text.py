"""Verdicts as text: the cells of a table, their outcome, and a summary."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from destage.queries.presentation import format_estimate, format_number

HEADINGS = ("figure", "published", "simulated", "error", "verdict", "source")

REPRODUCED = "reproduced"
REPRODUCED_AFTER_FITTING = "reproduced after fitting"
NOT_REPRODUCED = "not reproduced"
UNDECIDED = "undecided or no answer"
PAPER_INCONSISTENT = "paper inconsistent"
INPUT = "fitted or input"
OUTCOMES = (REPRODUCED, REPRODUCED_AFTER_FITTING, NOT_REPRODUCED, UNDECIDED, PAPER_INCONSISTENT, INPUT)
_OUTCOME = {
    "exact": REPRODUCED,
    "predicted": REPRODUCED,
    "ordering holds": REPRODUCED,
    "not exact": NOT_REPRODUCED,
    "not predicted": NOT_REPRODUCED,
    "ordering does not hold": NOT_REPRODUCED,
    "calibrated, missed": NOT_REPRODUCED,
    "input differs": NOT_REPRODUCED,
    "consistent": NOT_REPRODUCED,
    "paper inconsistent": PAPER_INCONSISTENT,
    "calibrated": INPUT,
    "input": INPUT,
}


def format_verdict(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a row of `judge_figures` as text, a cell for each of `HEADINGS`."""
    unit = "" if row["unit"] in {None, "ratio"} else row["unit"]
    published = row["published"]
    if row["published_value"] is not None:
        published = f"{published} {unit}".rstrip()
    return (row["figure"], published, _simulated(row, unit), _error(row), row["verdict"], row["source"])


def summarize_verdicts(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the number of figures of each outcome, in words."""
    counts = Counter(find_outcome(row["verdict"]) for row in rows)
    listed = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    return f"{len(rows)} published figure{'' if len(rows) == 1 else 's'}: {listed}"


def find_outcome(verdict: str) -> str:
    """Return one of `OUTCOMES`: whether a figure with this verdict is reproduced."""
    if verdict.startswith("calibrated on "):
        return REPRODUCED_AFTER_FITTING if verdict.endswith(", predicts") else NOT_REPRODUCED
    return _OUTCOME.get(verdict, UNDECIDED)


def shorten_verdict(verdict: str) -> str:
    """Return a verdict without the figures that something was fitted on."""
    if verdict.startswith("calibrated on "):
        return f"calibrated, {verdict.rpartition(', ')[2]}"
    return verdict


def _error(row: Mapping[str, Any]) -> str:
    """Return the error, of a range that of both its ends: a wide range is not a success."""
    if row["error_fraction"] is None:
        return ""
    if not row["is_range"]:
        return _percent(row["error_fraction"])
    ends = [_percent(row[end] / row["published_value"] - 1) for end in ("simulated_low", "simulated_high")]
    return ends[0] if ends[0] == ends[1] else f"{ends[0].removesuffix(' %')} to {ends[1]}"


def _percent(fraction: float) -> str:
    """Return a signed percentage, without decimals from 100 % on."""
    return f"{fraction * 100:+.{1 if abs(fraction) < 1 else 0}f} %"


def _simulated(row: Mapping[str, Any], unit: str) -> str:
    mean, low, high = row["simulated"], row["simulated_low"], row["simulated_high"]
    if mean is None:
        return ""
    if row["is_range"]:
        return f"{format_number(low)} to {format_number(high)} {unit}".rstrip()
    return format_estimate(mean, low, high, unit)
