"""Arguments and options that the commands of traces share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from destage.cli.parameters.completion import complete_trace_formats
from destage.cli.parameters.shared_options import LARGEST_SEED, parse_trace
from destage.errors import UsageError

# Typer has no unions: a `Location`, a file or an object in a bucket.
TraceFile = Annotated[
    Any,
    typer.Argument(
        parser=parse_trace,
        metavar="TRACE",
        help="A trace: a file or a URL (s3://, gs://, abfs://), plain or compressed (gzip, xz, zstd).",
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Format of the trace (default: detected from its content).",
        autocompletion=complete_trace_formats,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="COLUMNS",
        help="Read a delimited text with these columns: in order with - for one to skip, as in "
        "time,op,-,offset,size; or by name in its first line or position from 1, as in "
        "time=Timestamp,op=4,offset=5,size=6. Also: process, volume, response; "
        "is_read in place of op, where 1 is a read; for `trace mrc` alone: block, a number of --block each.",
    ),
]
Units = Annotated[
    str | None,
    typer.Option(
        "--unit",
        metavar="UNITS",
        help="Units of --columns, as in time=ms,offset=sectors,size=4KiB: s, ms, us, 100ns or ns; B, sectors "
        "or a block size (default: time=s,offset=B,size=B).",
    ),
]
Separator = Annotated[
    str,
    typer.Option(
        "--separator",
        metavar="SEPARATOR",
        help="Separator of --columns: comma, semicolon, tab or space; auto tries them on the first line.",
    ),
]
SkipBad = Annotated[int, typer.Option("--skip-bad", min=0, help="Maximum malformed records to skip.")]
VolumeNumber = Annotated[
    int | None,
    typer.Option(
        "--volume", min=0, max=2**32 - 1, help="Read only the requests of this volume (default: all volumes)."
    ),
]
Block = Annotated[
    str, typer.Option("--block", help="Block size of the cache; a request accesses each block it overlaps.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, max=LARGEST_SEED, help="Seed of the random streams.")]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Plot the miss ratios to FILE (.svg or .html).")
]
PLACES = {
    **{name: f"--{name}" for name in ("block", "columns", "format", "policy", "separator", "sizes", "unit")},
    "rate": "--sample",
}
"""The options of the arguments that errors of traces name."""
PLOT_SUFFIXES = (".svg", ".html")


def reading_options(
    format_name: str | None,
    columns: str | None,
    units: str | None,
    separator: str,
    skip_bad: int,
    volume: int | None,
) -> dict[str, Any]:
    """Return how a trace is to be read, as arguments of the functions that read one."""
    options: dict[str, Any] = {"format_name": format_name, "skip_bad": skip_bad, "volume": volume}
    if columns is None:
        if units is not None or separator != "auto":
            option = "--unit" if units is not None else "--separator"
            raise UsageError("usage.conflicting-options", "requires --columns", option)
        return options
    if format_name is not None:
        message = "cannot be combined with --columns, which describes the format"
        raise UsageError("usage.conflicting-options", message, "--format")
    from destage.engine.traces.delimited import Delimited

    return options | {"columns": Delimited(columns, units or "", separator)}
