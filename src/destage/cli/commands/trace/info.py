"""`destage trace info`."""

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
from destage.cli.commands.trace.summary import describe_trace, format_share
from destage.cli.parameters.shared_options import Json, translate_places
from destage.cli.printed_results.workload_summary import round_size
from destage.cli.terminal.output import print_data, print_json, print_note
from destage.spec.printed_text import align_cells

_VOLUMES = 20
"""Volumes to print; JSON has all."""


def info(
    trace: TraceFile,
    format_name: FormatName = None,
    columns: Columns = None,
    units: Units = None,
    separator: Separator = "auto",
    skip_bad: SkipBad = 0,
    volume: VolumeNumber = None,
    with_digest: Annotated[
        bool, typer.Option("--digest", help="Also print the content digest; loads the trace into memory.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the statistics of a trace.

    The trace is read once, in constant memory.
    """
    from destage.engine import traces
    from destage.engine.traces import trace_streams

    reading = reading_options(format_name, columns, units, separator, skip_bad, volume)
    with translate_places(PLACES):
        facts = trace_streams.profile(trace, **reading, progress=ReadingProgress())
        if with_digest:
            facts["digest"] = traces.digest(trace, **reading)
    if as_json:
        print_json(facts)
        return
    print_data("".join(f"{line}\n" for line in describe_trace(facts)))
    _print_volumes(facts["volumes"])
    warn_about(facts["problems"], trace)


def _print_volumes(volumes: list[dict[str, Any]]) -> None:
    """Print the volumes with most requests, where there are several."""
    if len(volumes) < 2:  # noqa: PLR2004 - one volume is the whole trace
        return
    rows = [["volume", "reads", "writes", "flushes", "read", "written", "footprint", "sequential"]]
    rows += [_volume_cells(volume) for volume in volumes[:_VOLUMES]]
    print_data(f"\n{align_cells(rows)}")
    if len(volumes) > _VOLUMES:
        print_note(f"{len(volumes) - _VOLUMES} more volumes; --json prints all")


def _volume_cells(volume: dict[str, Any]) -> list[str]:
    counts = [f"{volume[name]:,}".replace(",", "\u202f") for name in ("reads", "writes", "flushes")]
    sizes = [round_size(volume[f"{name}_bytes"] or 0) for name in ("read", "written", "footprint")]
    sequential = volume["sequential_share"]
    number = "others" if volume["volume"] is None else str(volume["volume"])
    return [number, *counts, *sizes, "-" if sequential is None else format_share(sequential)]
