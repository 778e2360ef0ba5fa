"""Rows that a query returns: where they come from and how they are printed."""

from pathlib import Path
from typing import TYPE_CHECKING

from destage.cli.output import print_data, print_note, print_warning
from destage.cli.table import print_table
from destage.errors import Issue

if TYPE_CHECKING:
    import pyarrow as pa

    from destage.queries import Session
    from destage.store import Location

MOST_ROWS = 1_000
"""Maximum rows of a table on stdout; a file and the other formats have all."""


def find_sweep(sweep: str, store: "Location | None") -> "Location":
    """Return a sweep's directory, with a warning if planned runs are missing or more may be planned."""
    from destage import store as stores
    from destage.store.progress import status

    path = stores.find_sweep(sweep, store)
    found = status(path)
    if not found.finished:
        missing = found.planned - found.present
        lack = (
            f"{missing} of {found.planned} planned runs are missing" if missing else "the sweep is unfinished"
        )
        data = {"planned": found.planned, "missing": missing}
        print_warning(Issue("sweep.unfinished", path.name, f"{lack}; results are preliminary", data=data))
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


def note_left_out(shown: "Session", sweep: str) -> None:
    """Print which points of a large sweep a table shows, and how to see all."""
    from destage.queries.report.excerpt import describe_excerpt

    if shown.left_out:
        print_note(f"{describe_excerpt(shown)} All: destage query {sweep} design_space --format csv")
