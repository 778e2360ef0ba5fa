"""Speaking to people and to other programs: data on stdout, everything else on stderr."""

import json
import os
import sys
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_RED, _YELLOW, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[0m"
_UNBOUNDED = 4096
"""The width of a table that goes to no terminal [characters]."""


def complain(line: str) -> None:
    """Print one red line on stderr.

    Args:
        line: What is wrong, where, and what is allowed.
    """
    _print_coloured(f"error: {line}", _RED)


def warn(line: str) -> None:
    """Print one yellow line on stderr.

    Args:
        line: What people should know.
    """
    _print_coloured(line, _YELLOW)


def say(line: str) -> None:
    """Print one line on stderr.

    Args:
        line: What people may want to know.
    """
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def print_data(text: str | bytes) -> None:
    """Write data to stdout.

    Args:
        text: The data; a text ends with its own newline.
    """
    if isinstance(text, bytes):
        sys.stdout.buffer.write(text)
    else:
        sys.stdout.write(text)
    sys.stdout.flush()


def print_json(value: object) -> None:
    """Write a value to stdout as JSON.

    Args:
        value: What JSON can hold; anything else is written as its text.
    """
    print_data(json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n")


def print_table(table: "pa.Table", units: Mapping[str, str]) -> None:
    """Draw rows on stdout.

    Args:
        table: The rows.
        units: The base unit of each axis that has one, by dotted path.
    """
    from rich.table import Table

    from destage.queries.presentation import present

    shown = present(table, units)
    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in shown.headings:
        drawn.add_column(heading.title, justify="right" if heading.is_number else "left", vertical="bottom")
    for row in shown.rows:
        drawn.add_row(*row)
    _console().print(drawn, markup=False)
    if not shown.rows:
        say("no rows")


def print_pairs(pairs: Mapping[str, object]) -> None:
    """Draw names and their values on stdout, one pair a line.

    Args:
        pairs: The values by name.
    """
    width = max(map(len, pairs), default=0)
    print_data("".join(f"{name:<{width}}  {value}\n" for name, value in pairs.items()))


def show_version(is_wanted: bool) -> None:
    """Print the version and stop, if that is wanted.

    Args:
        is_wanted: Whether it is.
    """
    if is_wanted:
        print_data(f"destage {version('destage')}\n")
        raise typer.Exit


def has_terminal() -> bool:
    """Return whether a person watches stderr."""
    return sys.stderr.isatty()


def _console() -> "Console":
    from rich.console import Console

    options: dict[str, Any] = {} if sys.stdout.isatty() else {"width": _UNBOUNDED}
    return Console(highlight=False, soft_wrap=False, **options)


def _print_coloured(line: str, colour: str) -> None:
    is_coloured = has_terminal() and "NO_COLOR" not in os.environ
    say(f"{colour}{line}{_PLAIN}" if is_coloured else line)
