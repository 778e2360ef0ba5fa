"""Values of predictions and shares as text."""

from collections.abc import Mapping
from typing import Any

from destage.queries.text.presentation import format_number, format_rounded

_SCALES: Mapping[str, tuple[float, str]] = {
    "us": (1e-3, "ms"),
    "s": (1.0, "s"),
    "bytes": (2.0**-20, "MiB"),
    "bytes/s": (1e-6, "MB/s"),
    "%": (1.0, "%"),
}
Row = Mapping[str, Any]


def format_value(row: Row, name: str, unit: str | None = None) -> str:
    """Return a value of a prediction in the unit shown.

    Args:
        unit: What to write after the number (default: its unit).
    """
    if row[name] is None:
        return "–"
    scale, shown = find_scale(row["unit"])
    return f"{format_rounded(row[name] * scale)} {shown if unit is None else unit}".rstrip()


def find_scale(unit: str | None) -> tuple[float, str]:
    """Return the factor from a base unit to the unit shown, and that unit."""
    return _SCALES.get(unit or "", (1.0, unit or ""))


def format_share(share: float) -> str:
    """Return a share in percent."""
    percent = 100 * share
    return f"{format_number(float(f'{percent:.2g}') if percent < 10 else round(percent))} %"  # noqa: PLR2004
