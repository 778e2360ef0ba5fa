"""Speaking to people and to other programs: data on stdout, everything else on stderr."""

import json
import os
import sys
from collections.abc import Mapping
from importlib.metadata import version
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_RED, _YELLOW, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[0m"


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


def _print_coloured(line: str, colour: str) -> None:
    is_coloured = has_terminal() and "NO_COLOR" not in os.environ
    say(f"{colour}{line}{_PLAIN}" if is_coloured else line)
