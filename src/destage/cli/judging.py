"""Drawing the verdicts on published figures on a terminal."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

_UNBOUNDED = 4096
"""The width of a table that goes to no terminal [characters]."""
_GAP = 2
_FIGURE, _VERDICT, _SOURCE = 0, 4, 5
"""The columns whose cells may be broken into lines."""


def print_verdicts(studies: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]) -> None:
    """Draw the verdicts of some studies as one table on stdout, each study's under its name.

    Args:
        studies: The name of each study and its rows of `verdict_table`.
    """
    from rich.console import Console
    from rich.table import Table

    from destage.queries.verdict_sheet import HEADINGS, verdict_cells

    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else _UNBOUNDED
    drawn = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    is_several = len(studies) > 1
    if is_several:
        drawn.add_column("study", no_wrap=True)
    for at, heading in enumerate(HEADINGS):
        drawn.add_column(heading, no_wrap=at not in {_FIGURE, _VERDICT, _SOURCE}, overflow="fold")
    for name, rows in studies:
        for row in rows:
            drawn.add_row(*([name] if is_several else []), *verdict_cells(row))
    Console(highlight=False, width=width).print(drawn, markup=False)
