"""Tables of published figures and results on a terminal."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from destage.cli.terminal.terminal_text import find_width, make_grid
from destage.spec.control_characters import escape_controls

if TYPE_CHECKING:
    from rich.table import Table

_NARROW = 120
"""A terminal below this width shows fewer columns; the report has all of them [characters]."""
_ESSENTIAL = ("figure", "published", "simulated", "class")
_LEAST = {"figure": 14, "published": 9, "simulated": 10, "class": 13}
_LEAST_OTHER = 10
"""The least width of each column [characters]."""
_Rows = Sequence[Mapping[str, Any]]


def print_published(rows: _Rows) -> None:
    """Print one table of a study's published figures, given its rows."""
    from destage.queries.published.verdict_text import HEADINGS, format_verdict

    _print([(None, HEADINGS, [format_verdict(row) for row in rows])])


def print_headlines(documents: Sequence[tuple[str, _Rows]]) -> None:
    """Print a table of headline figures for each document, given its title and rows."""
    from destage.queries.published.verdict_text import HEADLINE_HEADINGS, format_headline

    _print([(title, HEADLINE_HEADINGS, [format_headline(row) for row in rows]) for title, rows in documents])


def _print(tables: Sequence[tuple[str | None, Sequence[str], Sequence[Sequence[str]]]]) -> None:
    from rich.console import Console

    width = find_width()
    console = Console(highlight=False, width=width)
    for title, headings, rows in tables:
        if title is not None:
            console.print(f"\n{escape_controls(title)}", markup=False)
        shown = [name for name in headings if width >= _NARROW or name in _ESSENTIAL]
        console.print(_table(headings, rows, shown), markup=False)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], shown: Sequence[str]) -> "Table":
    table = make_grid()
    for heading in shown:
        table.add_column(heading, overflow="fold", min_width=_LEAST.get(heading, _LEAST_OTHER))
    places = [headings.index(heading) for heading in shown]
    for row in rows:
        table.add_row(*(escape_controls(row[place]) for place in places))
    return table
