"""`destage measured`: results of load tests and logs of running systems, beside those of simulations."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.parameters.completion import complete_measured_sets
from destage.cli.parameters.shared_options import (
    EscapeFormulas,
    Format,
    Json,
    Out,
    Store,
    choose_store,
    parse_duration,
    read_file,
)
from destage.cli.terminal.output import print_data, print_json, print_note
from destage.cli.terminal.printed_rows import print_rows
from destage.spec.printed_text import align_cells

if TYPE_CHECKING:
    from destage.store import Location

app = typer.Typer(
    help="Import, list, show and delete measured figures.", no_args_is_help=True, rich_markup_mode=None
)
_MOST_BYTES = 256 << 20
"""Largest file of results or log."""
_SetName = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A measured set.", autocompletion=complete_measured_sets),
]


@app.command("import")
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Results of fio (JSON, JSON+), DiskSpd (XML, text), Vdbench (flatfile.html), Iometer "
            "(results.csv) or sysbench fileio, logs of iostat -x or Perfmon (CSV), or a CSV of your own "
            "with a heading; detected by content.",
        ),
    ],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the set.")],
    array: Annotated[
        str, typer.Option("--array", metavar="LABEL", help="Name of the array that was measured.")
    ],
    busiest: Annotated[
        str | None,
        typer.Option(
            "--busiest",
            metavar="TIME",
            help="Of logs, import only the time of this length in which each device had the most requests, "
            "as in 1h.",
        ),
    ] = None,
    device: Annotated[
        list[str] | None,
        typer.Option(
            "--device", metavar="NAME", help="Of logs, import only this device; repeatable (default: all)."
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace an existing set of this name as a whole.")
    ] = False,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Import results of load tests or logs of a running system.

    All files become one set of measured figures. All files are read before anything is written: a mistake in
    one of them leaves the store as it was.
    """
    from dataclasses import replace as with_values

    from destage.measured import sets
    from destage.tools.results import read_results

    sets.check_name(name)
    seconds = None if busiest is None else parse_duration(busiest, "s", "--busiest")
    results = [
        (file, read_results(str(file), read_file(file, most=_MOST_BYTES), seconds, device or ()))
        for file in files
    ]
    lines = [with_values(line, array_label=array) for _, readings in results for line in readings.lines]
    place = choose_store(store)
    sets.write_set(place, name, lines, replace=replace)
    if as_json:
        imported = [
            {
                "file": str(file),
                "tool": readings.lines[0].tool,
                "lines": len(readings.lines),
                "notes": list(readings.notes),
            }
            for file, readings in results
        ]
        print_json({"name": name, "store": str(place), "lines": len(lines), "files": imported})
        return
    for file, readings in results:
        count = len(readings.lines)
        print_data(f"{file}: {readings.lines[0].tool}, {count} line{'' if count == 1 else 's'}\n")
        for note in readings.notes:
            print_note(f"{file}: {note}")
        if len(readings.devices) > 1 and device is None:
            print_note(f"{file}: devices {', '.join(readings.devices)}; --device NAME imports only one")
    print_note(f"measured set {name!r} has {len(lines)} line{'' if len(lines) == 1 else 's'}, in {place}")


@app.command("list")
def list_(store: Store = None, as_json: Json = False) -> None:
    """List the measured sets of a store."""
    from destage.measured import sets

    place = choose_store(store)
    listed = [_summarize(place, name) for name in sets.list_sets(place)]
    if as_json:
        print_json(listed)
    elif listed:
        rows = [tuple(map(str, summary.values())) for summary in listed]
        print_data(align_cells([tuple(listed[0]), *rows], left=len(listed[0])))
    else:
        print_note(f"no measured sets in {place}; `destage measured import` adds one")


@app.command("show")
def show(
    name: _SetName,
    form: Format = "table",
    out: Out = None,
    escape_formulas: EscapeFormulas = False,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Print the lines of a measured set.

    Says which figures are derived, and why others are unknown.
    """
    from destage.cli.printed_results.measured_table import print_basis
    from destage.measured import sets
    from destage.queries.named.column_meanings import MEASURED_UNITS

    rows = table = sets.read_table(choose_store(store), name)
    chosen: str = "json" if as_json else form
    if chosen == "table" and out is None:
        # The tool's own words and the place in the file are for csv, json and SQL.
        rows = rows.select([column for column in rows.column_names if column in _SHOWN])
    print_rows(rows, chosen, out, dict(MEASURED_UNITS), escape_formulas=escape_formulas)
    if rows is not table:
        print_basis(sets.as_lines(table), _SHOWN)


_SHOWN = {
    *("line", "array_label", "workload", "tool", "outstanding", "request_bytes", "read_fraction"),
    *("random_fraction", "duration_s", "throughput_iops", "response_mean_us", "response_p50_us"),
    *("response_p95_us", "response_p99_us", "response_p999_us", "response_max_us"),
}


@app.command("delete")
def delete(name: _SetName, store: Store = None, as_json: Json = False) -> None:
    """Delete a measured set."""
    from destage.measured import sets

    place = choose_store(store)
    sets.delete_set(place, name)
    if as_json:
        print_json({"deleted": name, "store": str(place)})
    else:
        print_note(f"measured set {name!r} deleted from {place}")


def _summarize(store: "Location", name: str) -> dict[str, Any]:
    from destage.measured import sets

    lines = sets.read_set(store, name).lines
    return {
        "name": name,
        "lines": len(lines),
        "array": ", ".join(dict.fromkeys(line.array_label for line in lines)),
        "tools": ", ".join(dict.fromkeys(line.tool for line in lines)),
    }
