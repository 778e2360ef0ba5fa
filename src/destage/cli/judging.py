"""Drawing the verdicts on published figures on a terminal."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

_UNBOUNDED = 4096
"""The width of a table that goes to no terminal [characters]."""
_GAP = 2
_NARROW = 120
"""A terminal below this width gets no sources, which the report has [characters]."""
_SOURCE = 5
_LEAST = (14, 9, 10, 7, 13, 8)
"""The least width of each column [characters]."""


def print_verdicts(studies: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]) -> None:
    """Draw the verdicts of some studies as one table on stdout, each study's under its name.

    Args:
        studies: The name of each study and its rows of `verdict_table`.
    """
    from rich.console import Console

    from destage.queries.verdict_sheet import HEADINGS

    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else _UNBOUNDED
    console = Console(highlight=False, width=width)
    if width < _NARROW and len(studies) > 1:
        for name, rows in studies:
            console.print(f"\n{name}", markup=False)
            console.print(_drawn([(name, rows)], _SOURCE), markup=False)
    else:
        console.print(_drawn(studies, _SOURCE if width < _NARROW else len(HEADINGS)), markup=False)


def _drawn(studies: Sequence[tuple[str, Sequence[Mapping[str, Any]]]], shown: int) -> "Table":
    """Return the table of some studies' verdicts with its first columns, and theirs before it."""
    from rich.table import Table

    from destage.queries.verdict_sheet import HEADINGS, verdict_cells

    drawn = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    is_several = len(studies) > 1
    if is_several:
        drawn.add_column("study", overflow="fold", min_width=_LEAST[0])
    for at, heading in enumerate(HEADINGS[:shown]):
        drawn.add_column(heading, overflow="fold", min_width=_LEAST[at])
    for name, rows in studies:
        for row in rows:
            drawn.add_row(*([name] if is_several else []), *verdict_cells(row)[:shown])
    return drawn
