"""`destage admin export`."""

from pathlib import Path
from typing import Annotated

import typer

from destage.cli.parameters.shared_options import Json, Store, SweepName
from destage.cli.terminal.output import print_data, print_json, print_note
from destage.cli.terminal.printed_rows import find_sweep
from destage.errors import UsageError


def export(
    sweep: SweepName,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Write to FOLDER (default: the sweep's directory)."),
    ] = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Write a sweep's results as flat Parquet files.

    runs.parquet and points.parquet have axes, labels and result columns, with units and meanings as metadata.
    A study that seeks a value also has answers.parquet. README.md explains files and columns.
    """
    from destage.queries import open_session
    from destage.queries.exports.sweep_export import export_sweep, find_foreign

    if out is not None:
        foreign = out if out.exists() and not out.is_dir() else find_foreign(out)
        if foreign is not None:
            message = f"{foreign} exists and is not from an export; choose another folder"
            raise UsageError("usage.file-exists", message, "--out")
    with open_session(find_sweep(sweep, store)) as session:
        done = export_sweep(session, out)
    files = [str(done.folder / name) for name in (*done.rows, "README.md")]
    if as_json:
        print_json({"folder": str(done.folder), "rows": done.rows})
        return
    print_data("".join(f"{file}\n" for file in files))
    print_note(", ".join(f"{rows} {name.partition('.')[0]}" for name, rows in done.rows.items()))
