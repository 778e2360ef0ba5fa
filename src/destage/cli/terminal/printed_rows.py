"""Rows that a query returns: where they come from and how they are printed."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from destage.cli.terminal.output import print_data, print_note, print_warning, write_text
from destage.cli.terminal.terminal_text import print_presentation
from destage.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from destage.queries import Session
    from destage.sql import ReadStatement
    from destage.store import Location

_Rendered = TypeVar("_Rendered")

MOST_ROWS = 1_000
"""Maximum rows of a table on stdout; a file and the other formats have all."""


def find_sweep(sweep: str, store: "Location | None") -> "Location":
    """Return a sweep's directory, with a warning if planned runs are missing or more may be planned."""
    from destage import store as stores
    from destage.machine import check_address_space
    from destage.store.opened.recorded_progress import describe_unfinished, status

    check_address_space()
    path = stores.find_sweep(sweep, store)
    sweep_status = status(path)
    print_warning(*sweep_status.warnings)
    if not sweep_status.finished:
        print_warning(
            describe_unfinished(path.name, sweep_status.planned, sweep_status.planned - sweep_status.present)
        )
    return path


def print_rows(
    rows: "pa.Table",
    form: str,
    out: Path | None,
    units: dict[str, str],
    *,
    escape_formulas: bool = False,
    session: "Session | None" = None,
) -> None:
    """Write rows to a file or to stdout; a table in a file is Markdown.

    Args:
        session: Its limits apply to the rendering of the rows, which it has just returned.
    """
    from destage.queries.text.formats import encode
    from destage.queries.text.presentation import present

    if form == "table" and out is None:
        sentence = ""
        if session is not None:
            rows, sentence = session.narrow(rows)
        print_presentation(_render(session, lambda: present(rows.slice(0, MOST_ROWS), units)))
        if rows.num_rows > MOST_ROWS:
            left_out = rows.num_rows - MOST_ROWS
            print_note(f"first {MOST_ROWS} rows; {left_out} left out; --format csv or --out prints all")
        if sentence:
            print_note(sentence)
        return
    kind = "markdown" if form == "table" else form
    data = _render(session, lambda: encode(rows, kind, units, escape_formulas=escape_formulas))
    if out is None:
        print_data(data)
    else:
        out.write_bytes(data)
        print_note(f"{rows.num_rows} rows written to {out}")


def print_results(
    session: "Session",
    statements: "Sequence[ReadStatement]",
    form: str,
    out: Path | None,
    *,
    escape_formulas: bool = False,
) -> None:
    """Run statements and write their rows: in JSON as one list, in tables one after the other."""
    from destage.queries.text.formats import format_json, format_markdown

    count = len(statements)
    results = map(session.run, statements)
    if count == 1:
        rows = next(results)
        # The units of a named query's columns are known once a statement has named it.
        units = session.public.units
        print_rows(rows, form, out, units, escape_formulas=escape_formulas, session=session)
        return
    if form in {"csv", "parquet"}:
        message = f"{form} has the rows of one statement, not of {count}; use table, markdown or json"
        raise UsageError("usage.several-results", message, "--format", {"statements": count})
    if form == "json":
        lists = [session.render(partial(format_json, rows)).replace("\n", "\n ") for rows in results]
        joined = ",\n ".join(lists)
        write_text(f"[\n {joined}\n]\n", out)
        return
    if out is not None:
        texts = [session.render(partial(format_markdown, rows, session.public.units)) for rows in results]
        write_text("\n".join(texts), out)
        return
    for index, rows in enumerate(results):
        if index:
            print_data("\n")
        print_rows(rows, form, None, session.public.units, session=session)


def _render(session: "Session | None", function: "Callable[[], _Rendered]") -> _Rendered:
    return function() if session is None else session.render(function)
