"""Arguments and options that the commands of traces share."""

from pathlib import Path
from typing import Annotated

import typer

from destage.cli.options import LARGEST_SEED, parse_trace

# Typer has no unions: a file, or an object in a bucket.
TraceFile = Annotated[
    Path,
    typer.Argument(
        parser=parse_trace,
        metavar="TRACE",
        help="A trace: a file or a URL (s3://, gs://, abfs://), plain or compressed (gzip, xz, zstd).",
    ),
]
FormatName = Annotated[
    str | None, typer.Option("--format", help="Format of the trace (default: detected from its content).")
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
PLOT_SUFFIXES = (".svg", ".html")
