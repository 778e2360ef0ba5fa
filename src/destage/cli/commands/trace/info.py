"""`destage trace info`."""

from typing import Annotated, Any

import typer

from destage.cli.commands.trace.options import FormatName, SkipBad, TraceFile, VolumeNumber
from destage.cli.commands.trace.record_problems import ReadingProgress, warn_about
from destage.cli.options import Json
from destage.cli.output import align_cells, print_data, print_json, print_note, print_pairs

_VOLUMES = 20
"""Volumes to print; JSON has all."""


def info(
    trace: TraceFile,
    format_name: FormatName = None,
    skip_bad: SkipBad = 0,
    volume: VolumeNumber = None,
    with_digest: Annotated[
        bool, typer.Option("--digest", help="Also print the content digest; loads the trace into memory.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the statistics of a trace, reading it once in constant memory."""
    from destage.engine import traces
    from destage.engine.traces import streams

    facts = streams.profile(
        trace, format_name=format_name, skip_bad=skip_bad, volume=volume, progress=ReadingProgress()
    )
    if with_digest:
        facts["digest"] = traces.digest(trace, format_name=format_name, skip_bad=skip_bad, volume=volume)
    if as_json:
        print_json(facts)
        return
    volumes, problems = facts.pop("volumes"), facts.pop("problems")
    print_pairs(dict(_flatten(facts)))
    _print_volumes(volumes)
    warn_about(problems, trace)


def _flatten(facts: dict[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    """Return nested tables as pairs with dotted names, and histograms as one pair per class."""
    pairs: list[tuple[str, object]] = []
    for name, value in facts.items():
        if isinstance(value, dict):
            pairs += _flatten(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            pairs += [(f"{prefix}{name} <= {size}", count) for size, count in value]
        else:
            digits = 12 if name == "start_s" else 6
            shown = "-" if value is None else f"{value:.{digits}g}" if isinstance(value, float) else value
            pairs.append((prefix + name, shown))
    return pairs


def _print_volumes(volumes: list[dict[str, Any]]) -> None:
    """Print the volumes with most requests, where there are several."""
    if len(volumes) < 2:  # noqa: PLR2004 - one volume is the whole trace
        return
    rows = [list(volumes[0])] + [
        ["others" if value is None and name == "volume" else _cell(value) for name, value in row.items()]
        for row in volumes[:_VOLUMES]
    ]
    print_data(f"\n{align_cells(rows)}")
    if len(volumes) > _VOLUMES:
        print_note(f"{len(volumes) - _VOLUMES} more volumes; --json prints all")


def _cell(value: object) -> str:
    return "-" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
