"""Drawing rows on a terminal: whole cells, headings broken at words, columns left out for lack of room."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from destage.cli.output import say

if TYPE_CHECKING:
    import pyarrow as pa

    from destage.queries.presentation import Heading, Presentation

_UNBOUNDED = 4096
"""The width of a table that goes to no terminal [characters]."""
_GAP = 2
_LABEL_WIDTH = 16
_EXPENDABLE = (
    "binding",
    "controller.use",
    "n",
    "write_stall_mean_us",
    "throughput_iops",
    "monotone",
    "interval_met",
    "response_mean_us",
    "response_p99_us",
    "published",
    "read_hit_ratio",
    "write_hit_ratio",
    "limiting",
)
"""Columns left out first where a terminal is narrow, in this order; then those at the right."""
_KEPT = 4


def print_table(table: "pa.Table", units: Mapping[str, str]) -> None:
    """Draw rows on stdout; on a terminal that is too narrow, say which columns were left out.

    Args:
        table: The rows.
        units: The base unit of each axis that has one, by dotted path.
    """
    from rich.console import Console
    from rich.table import Table

    from destage.queries.presentation import present

    shown = present(table, units)
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else _UNBOUNDED
    chosen = fit([_width(shown, at) for at in range(len(shown.headings))], shown.headings, width)
    drawn = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for at in chosen:
        heading = shown.headings[at]
        drawn.add_column(
            heading.title,
            justify="right" if heading.is_number else "left",
            vertical="bottom",
            min_width=_width(shown, at) if is_terminal else None,
            max_width=_LABEL_WIDTH if is_terminal and heading.column == "label" else None,
        )
    for row in shown.rows:
        drawn.add_row(*(row[at] for at in chosen))
    Console(highlight=False, width=width).print(drawn, markup=False)
    left_out = [heading.title for at, heading in enumerate(shown.headings) if at not in chosen]
    if left_out:
        say(f"left out for lack of width: {', '.join(left_out)} (--format markdown or csv shows all)")
    if not shown.rows:
        say("no rows")


def fit(widths: Sequence[int], headings: Sequence["Heading"], room: int) -> list[int]:
    """Return which columns fit, by position.

    Args:
        widths: What each column needs [characters].
        headings: The columns.
        room: What there is [characters].
    """
    chosen = list(range(len(widths)))
    names = [heading.column for heading in headings]
    order = [names.index(name) for name in _EXPENDABLE if name in names]
    order += [at for at in reversed(chosen) if at not in order and not names[at].endswith("_supported")]
    for at in order:
        if sum(widths[each] + _GAP for each in chosen) - _GAP <= room or len(chosen) <= _KEPT:
            break
        chosen.remove(at)
    return chosen


def _width(shown: "Presentation", at: int) -> int:
    heading = shown.headings[at]
    words = max(map(len, heading.title.split()), default=0)
    cells = max((len(row[at]) for row in shown.rows), default=0)
    return max(words, min(cells, _LABEL_WIDTH) if heading.column == "label" else cells)
