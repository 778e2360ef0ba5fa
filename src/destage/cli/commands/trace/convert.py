"""`destage trace convert`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from destage.cli.commands.trace.options import (
    PLACES,
    Columns,
    FormatName,
    Separator,
    SkipBad,
    TraceFile,
    Units,
    VolumeNumber,
    reading_options,
)
from destage.cli.commands.trace.record_problems import ReadingProgress, warn_about
from destage.cli.parameters.shared_options import Json, check_suffix, translate_places
from destage.cli.terminal.output import print_json, print_note

_SORTED_OUT = {"trace.out-of-order", "trace.late"}
"""Problems that sorting the whole trace removes."""


def convert(
    trace: TraceFile,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Parquet file to write.")],
    format_name: FormatName = None,
    columns: Columns = None,
    units: Units = None,
    separator: Separator = "auto",
    skip_bad: SkipBad = 0,
    volume: VolumeNumber = None,
    is_sorted_whole: Annotated[
        bool, typer.Option("--sort", help="Sort the whole trace by time; loads it into memory.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Convert a trace to compact Parquet.

    Flushes, process ids, flags, volumes and response times are kept.
    """
    from destage.engine import traces
    from destage.engine.traces import trace_streams

    reading = reading_options(format_name, columns, units, separator, skip_bad, volume)
    check_suffix(out, "OUT", ".parquet")
    facts: dict[str, Any] = {"file": str(out)}
    with translate_places(PLACES):
        if is_sorted_whole:
            loaded = traces.load(trace, **reading)
            traces.write_parquet(loaded, out)
            profile = trace_streams.profile(trace, **reading)
            problems = [problem for problem in profile["problems"] if problem["code"] not in _SORTED_OUT]
            facts |= {"records": len(loaded), "problems": problems}
        else:
            facts |= trace_streams.convert(trace, out, **reading, progress=ReadingProgress())
    facts["bytes"] = out.stat().st_size
    if as_json:
        print_json(facts)
        return
    warn_about(facts["problems"], trace)
    print_note(f"{facts['records']} records written to {out} ({facts['bytes']} bytes)")
