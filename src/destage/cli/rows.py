"""Rows that a query returns: where they come from and how they are printed."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from destage.cli.output import print_data, print_note, print_warning
from destage.cli.table import print_table
from destage.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pyarrow as pa

    from destage.store import Location

MOST_ROWS = 1_000
"""Maximum rows of a table on stdout; a file and the other formats have all."""


def find_sweep(sweep: str, store: "Location | None") -> "Location":
    """Return a sweep's directory, with a warning if planned runs are missing or more may be planned."""
    from destage import store as stores
    from destage.store.progress import describe_unfinished, status

    path = stores.find_sweep(sweep, store)
    found = status(path)
    for warning in found.warnings:
        print_warning(warning)
    if not found.finished:
        print_warning(describe_unfinished(path.name, found.planned, found.planned - found.present))
    return path


def print_rows(
    rows: "pa.Table",
    form: str,
    out: Path | None,
    units: dict[str, str],
    *,
    escape_formulas: bool = False,
) -> None:
    """Write rows to a file or to stdout; a table in a file is Markdown."""
    from destage.queries.formats import encode

    if form == "table" and out is None:
        print_table(rows.slice(0, MOST_ROWS), units)
        if rows.num_rows > MOST_ROWS:
            left_out = rows.num_rows - MOST_ROWS
            print_note(f"first {MOST_ROWS} rows; {left_out} left out; --format csv or --out prints all")
        return
    data = encode(rows, "markdown" if form == "table" else form, units, escape_formulas=escape_formulas)
    if out is None:
        print_data(data)
    else:
        out.write_bytes(data)
        print_note(f"{rows.num_rows} rows written to {out}")


def print_results(
    results: "Iterable[pa.Table]",
    count: int,
    form: str,
    out: Path | None,
    find_units: "Callable[[], dict[str, str]]",
    *,
    escape_formulas: bool = False,
) -> None:
    """Write the rows of several statements: in JSON as one list, in tables one after the other.

    Args:
        find_units: Returns the base units of columns, once a statement has run.
    """
    from destage.queries.formats import rows_as_json

    if count == 1:
        print_rows(next(iter(results)), form, out, find_units(), escape_formulas=escape_formulas)
        return
    if form in {"csv", "parquet"}:
        message = f"{form} has the rows of one statement, not of {count}; use table, markdown or json"
        raise UsageError("usage.several-results", message, "--format", {"statements": count})
    if form == "json":
        text = json.dumps([rows_as_json(rows) for rows in results], indent=1, ensure_ascii=False) + "\n"
        write_text(text, out)
        return
    if out is not None:
        from destage.queries.formats import format_markdown

        write_text("\n".join(format_markdown(rows, find_units()) for rows in results), out)
        return
    for at, rows in enumerate(results):
        if at:
            print_data("\n")
        print_rows(rows, form, None, find_units())


def write_text(text: str, out: Path | None) -> None:
    """Write a text to a file or to stdout."""
    if out is None:
        print_data(text)
    else:
        out.write_text(text, encoding="utf-8")
        print_note(f"written to {out}")


def note_left_out(sentence: str, sweep: str) -> None:
    """Print which points of a large sweep a table shows, if not all, and how to see all."""
    if sentence:
        print_note(f"{sentence} All: destage query {sweep} design_space --format csv")
