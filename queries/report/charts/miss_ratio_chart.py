"""The chart of miss ratio curves."""

from collections.abc import Mapping, Sequence
from typing import Any

from destage.queries.report.drawing.chart import LineChart, Mark, Panel, Series
from destage.queries.text.presentation import format_quantity

SIDES = ("reads", "writes", "both")
_SHORT = 8
"""The longest size that is written exactly [characters]."""
_OVERLAP = 1.25
"""The end of a curve is hidden below this multiple of the last doubling, because the marks would overlap."""


def build_curves(title: str, panels: Mapping[str, Sequence[Mapping[str, Any]]]) -> LineChart:
    """Return the chart of the points of each panel, by the panel's title.

    The lines are sides; with several policies, each side has a panel and the lines are policies.
    """
    every = [row for rows in panels.values() for row in rows]
    policies = tuple(dict.fromkeys(row["policy"] for row in every))
    by, names = ("side", SIDES) if len(policies) < 2 else ("policy", policies)  # noqa: PLR2004 - several
    if by == "policy":
        sides = [side for side in SIDES if any(row["side"] == side for row in every)]
        panels = {side: [row for row in every if row["side"] == side] for side in sides}
    return LineChart(
        title,
        "cache size",
        "bytes",
        "miss ratio",
        y_most=1.0,
        panels=tuple(
            Panel(title, tuple(series for name in names if (series := _series(by, name, rows)).marks))
            for title, rows in panels.items()
        ),
        legend=names,
    )


def thin_out(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the points at doublings, and the end of each curve unless it is too near the last doubling."""
    doublings = [row for row in rows if row["size_blocks"].bit_count() == 1]
    near = {(row["policy"], row["side"]): _OVERLAP * row["size_blocks"] for row in doublings}
    return [
        row
        for row in rows
        if row["size_blocks"].bit_count() == 1
        or row["size_blocks"] >= near.get((row["policy"], row["side"]), 0)
    ]


def format_size(size: int) -> str:
    """Return a size [bytes] with its unit, rounded where the exact text is long."""
    exact = format_quantity(size, "bytes")
    return exact if len(exact) <= _SHORT else f"{size / 2**20:.1f} MiB"


def _series(by: str, name: str, rows: Sequence[Mapping[str, Any]]) -> Series:
    marks = tuple(
        Mark(
            row["size_bytes"],
            row["miss_ratio"],
            row["miss_ratio_low"],
            row["miss_ratio_high"],
            f"{name}, {format_size(row['size_bytes'])}: {row['miss_ratio']:.4f}",
        )
        for row in rows
        if row[by] == name
    )
    return Series(name, "line", marks)
