"""The table of published figures and results on a terminal."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from destage.cli.table import GAP, UNBOUNDED

if TYPE_CHECKING:
    from rich.table import Table

_NARROW = 120
"""A terminal below this width does not show sources; the report does [characters]."""
_SOURCE = 5
_LEAST = (14, 9, 10, 7, 13, 8)
"""The least width of each column [characters]."""


def print_published(studies: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]) -> None:
    """Print one table of the studies' published figures, given each study's name and rows."""
    from rich.console import Console

    from destage.queries.verdict_text import HEADINGS

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else UNBOUNDED
    console = Console(highlight=False, width=width)
    if width < _NARROW and len(studies) > 1:
        for name, rows in studies:
            console.print(f"\n{name}", markup=False)
            console.print(_table([(name, rows)], _SOURCE), markup=False)
    else:
        console.print(_table(studies, _SOURCE if width < _NARROW else len(HEADINGS)), markup=False)


def _table(studies: Sequence[tuple[str, Sequence[Mapping[str, Any]]]], shown: int) -> "Table":
    """Return a table of the first columns, after the name of the study where there are several."""
    from rich.table import Table

    from destage.queries.verdict_text import HEADINGS, format_verdict

    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    has_names = len(studies) > 1
    if has_names:
        table.add_column("study", overflow="fold", min_width=_LEAST[0])
    for at, heading in enumerate(HEADINGS[:shown]):
        table.add_column(heading, overflow="fold", min_width=_LEAST[at])
    for name, rows in studies:
        for row in rows:
            table.add_row(*([name] if has_names else []), *format_verdict(row)[:shown])
    return table
