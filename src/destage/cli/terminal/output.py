"""Output: data on stdout, everything else on stderr; control characters in texts are shown escaped."""

import codecs
import io
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from destage.errors import Issue
from destage.spec.printed_text import align_cells, escape_controls

INTERRUPTED = 130
"""Exit code after a signal."""
_RED, _YELLOW, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[0m"


def open_standard_streams() -> None:
    """Make stdout and stderr writable: a closed one drops its text, and a narrow encoding escapes characters.

    A closed descriptor must not become that of a file of the store, which a message would then overwrite.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            setattr(sys, name, open(descriptor, "r" if descriptor == 0 else "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        elif descriptor and isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def print_error(*issues: Issue, source: str = "") -> None:
    """Print errors on stderr, each as one line; the source is the file that they were found in."""
    for issue in issues:
        _print_coloured(f"error: {issue.describe(source)}", _RED)


def print_warning(*issues: Issue, source: str = "") -> None:
    """Print warnings on stderr, each as one line; the source is the file that they were found in."""
    for issue in issues:
        _print_coloured(f"warning: {issue.describe(source)}", _YELLOW)


def print_note(line: str) -> None:
    """Print one line of information on stderr."""
    _write_line(escape_controls(line))


def print_data(text: str | bytes) -> None:
    """Write to stdout; a text ends with its own newline. Bytes are exact except on a terminal."""
    if isinstance(text, bytes) and not sys.stdout.isatty():
        sys.stdout.buffer.write(text)
    else:
        sys.stdout.write(escape_controls(text if isinstance(text, str) else text.decode(errors="replace")))
    sys.stdout.flush()


def write_text(text: str, out: Path | None) -> None:
    """Write a text to a file or to stdout."""
    if out is None:
        print_data(text)
    else:
        out.write_text(text, encoding="utf-8")
        print_note(f"written to {out}")


def print_json(value: object, out: Path | None = None) -> None:
    """Write a value to a file or to stdout as JSON; one that JSON does not have is written as its text."""
    is_narrow = codecs.lookup((out is None and sys.stdout.encoding) or "utf-8").name != "utf-8"
    write_text(json.dumps(value, indent=1, ensure_ascii=is_narrow, default=str) + "\n", out)


def issue_as_json(issue: Issue, source: str = "") -> dict[str, Any]:
    """Return an issue as `--json` prints it."""
    return asdict(issue) | {"source": source}


def print_pairs(pairs: Mapping[str, object]) -> None:
    """Write names and their values to stdout, one pair per line."""
    print_data(align_cells([(name, str(value)) for name, value in pairs.items()], left=2))


def has_terminal() -> bool:
    """Return whether stderr is a terminal."""
    return sys.stderr.isatty()


def _print_coloured(line: str, colour: str) -> None:
    text = escape_controls(line)
    is_coloured = has_terminal() and "NO_COLOR" not in os.environ
    _write_line(f"{colour}{text}{_PLAIN}" if is_coloured else text)


def _write_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
