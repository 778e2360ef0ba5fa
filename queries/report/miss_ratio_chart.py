"""The chart of miss ratio curves."""

from collections.abc import Mapping, Sequence
from typing import Any

from destage.queries.presentation import format_quantity
from destage.queries.report.chart import LineChart, Mark, Panel, Series

SIDES = ("reads", "writes", "both")
_SHORT = 8
"""The longest size that is written exactly [characters]."""
_OVERLAP = 1.25
"""The end of a curve is hidden below this multiple of the last doubling, because the marks would overlap."""


def build_curves(title: str, panels: Mapping[str, Sequence[Mapping[str, Any]]]) -> LineChart:
    """Return the chart of the points of each panel, by the panel's title."""
    return LineChart(
        title,
        "cache size",
        "bytes",
        "miss ratio",
        y_most=1.0,
        panels=tuple(
            Panel(name, tuple(series for side in SIDES if (series := _series(side, rows)).marks))
            for name, rows in panels.items()
        ),
        legend=SIDES,
    )


def thin_out(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the points at doublings, and the end of each curve unless it is too near the last doubling."""
    doublings = [row for row in rows if row["size_blocks"].bit_count() == 1]
    near = {row["side"]: _OVERLAP * row["size_blocks"] for row in doublings}
    return [row for row in rows if row in doublings or row["size_blocks"] >= near.get(row["side"], 0)]


def format_size(size: int) -> str:
    """Return a size [bytes] with its unit, rounded where the exact text is long."""
    exact = format_quantity(size, "bytes")
    return exact if len(exact) <= _SHORT else f"{size / 2**20:.1f} MiB"


def _series(side: str, rows: Sequence[Mapping[str, Any]]) -> Series:
    marks = tuple(
        Mark(
            row["size_bytes"],
            row["miss_ratio"],
            row["miss_ratio_low"],
            row["miss_ratio_high"],
            f"{side}, {format_size(row['size_bytes'])}: {row['miss_ratio']:.4f}",
        )
        for row in rows
        if row["side"] == side
    )
    return Series(side, "line", marks)
