"""Rows on a terminal: cells are whole, headings break at words, and columns that do not fit are hidden.

Only the meanings in the result of DESCRIBE are wrapped.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from destage.cli.output import print_note
from destage.spec.axis_names import is_answer

if TYPE_CHECKING:
    import pyarrow as pa

    from destage.queries.presentation import Heading, Presentation

UNBOUNDED = 4096
"""The width of a table that is not printed on a terminal [characters]."""
GAP = 2
_LABEL_WIDTH = 16
_PROSE = "meaning"
"""The column of sentences, which are broken into lines."""
_PROSE_WIDTH = 36
"""What such a column needs at least [characters]."""
_EXPENDABLE = (
    "binding",
    "controller",
    "n",
    "passing",
    "failing",
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
"""Columns to hide first on a narrow terminal, in this order; then those at the right."""
_KEPT = 4


def print_table(table: "pa.Table", units: Mapping[str, str]) -> None:
    """Print rows; `units` has the base unit of each axis by its dotted path.

    A note lists the columns that a narrow terminal hides.
    """
    from rich.console import Console
    from rich.table import Table

    from destage.queries.presentation import present

    shown = present(table, units)
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else UNBOUNDED
    chosen = choose_columns([_width(shown, at) for at in range(len(shown.headings))], shown.headings, width)
    has_prose = any(heading.column == _PROSE for heading in shown.headings)
    grid = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for at in chosen:
        heading = shown.headings[at]
        grid.add_column(
            heading.title,
            justify="right" if heading.is_number else "left",
            vertical="top" if has_prose else "bottom",
            min_width=_width(shown, at) if is_terminal else None,
            max_width=_LABEL_WIDTH if is_terminal and heading.column == "label" else None,
        )
    for row in shown.rows:
        grid.add_row(*(row[at] for at in chosen))
    Console(highlight=False, width=width).print(grid, markup=False)
    hidden = [heading.title for at, heading in enumerate(shown.headings) if at not in chosen]
    if hidden:
        print_note(f"hidden columns: {', '.join(hidden)}; --format markdown or csv prints all")
    if not shown.rows:
        print_note("no rows")


def choose_columns(widths: Sequence[int], headings: Sequence["Heading"], room: int) -> list[int]:
    """Return the indices of the columns that fit, given their widths and the terminal's [characters]."""
    chosen = list(range(len(widths)))
    names = [heading.column for heading in headings]
    order = [names.index(name) for name in _EXPENDABLE if name in names]
    order += [at for at in reversed(chosen) if at not in order and not is_answer(names[at])]
    for at in order:
        if sum(widths[each] + GAP for each in chosen) - GAP <= room or len(chosen) <= _KEPT:
            break
        chosen.remove(at)
    return chosen


def _width(shown: "Presentation", at: int) -> int:
    heading = shown.headings[at]
    words = max(map(len, heading.title.split()), default=0)
    cells = max((len(row[at]) for row in shown.rows), default=0)
    most = {"label": _LABEL_WIDTH, _PROSE: _PROSE_WIDTH}.get(heading.column, cells)
    return max(words, min(cells, most))
