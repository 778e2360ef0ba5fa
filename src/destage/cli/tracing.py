"""The verbs of recorded traces: info, convert."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from destage.cli.options import traced
from destage.cli.output import Json, print_data, print_json, print_pairs, say, warn
from destage.errors import TraceError

app = typer.Typer(help="Recorded block traces.", no_args_is_help=True, rich_markup_mode=None)
TraceFile = Annotated[
    Any,
    typer.Argument(
        parser=traced,
        metavar="TRACE",
        help="A trace in any known format, plain or packed (gzip, xz, zstd): a file, or s3://, gs://, abfs://.",
    ),
]
FormatName = Annotated[
    str | None, typer.Option("--format", help="The trace's format; recognised by its content if not given.")
]
SkipBad = Annotated[
    int, typer.Option("--skip-bad", min=0, help="Lines or records that are wrong that may be left out.")
]
VolumeNumber = Annotated[
    int | None, typer.Option("--volume", min=0, max=2**32 - 1, help="Take this volume only.")
]
_MENDED = {"out_of_order", "late"}
"""Problems that sorting the whole leaves none of."""
_EVERY_S = 5.0
_VOLUMES = 20
"""Volumes that are shown to people; JSON has all."""


@app.command("info")
def info(
    trace: TraceFile,
    format_name: FormatName = None,
    skip_bad: SkipBad = 0,
    volume: VolumeNumber = None,
    with_digest: Annotated[
        bool, typer.Option("--digest", help="Add the digest that names the content; loads it all.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what a trace holds; reads it once, in memory that does not grow with it."""
    from destage.engine import traces
    from destage.engine.traces import streams

    facts = streams.profile(
        trace, format_name=format_name, skip_bad=skip_bad, volume=volume, tell=_Progress()
    )
    if with_digest:
        facts["digest"] = traces.digest(trace, format_name=format_name, skip_bad=skip_bad, volume=volume)
    if as_json:
        print_json(facts)
        return
    volumes, problems = facts.pop("volumes"), facts.pop("problems")
    print_pairs(dict(_flat(facts)))
    _print_volumes(volumes)
    _warn_of(problems)


@app.command("convert")
def convert(
    trace: TraceFile,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The compact Parquet file to make.")],
    format_name: FormatName = None,
    skip_bad: SkipBad = 0,
    volume: VolumeNumber = None,
    is_sorted_whole: Annotated[
        bool, typer.Option("--sort", help="Sort it whole, in memory, however far it is out of order.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a trace in the compact form; flushes, process ids, flags, volumes and response times are kept."""
    from destage.engine import traces
    from destage.engine.traces import streams

    if out.suffix != ".parquet":
        raise TraceError(f"{out}: the compact form is Parquet; name it with .parquet")
    facts: dict[str, Any] = {"file": str(out)}
    if is_sorted_whole:
        loaded = traces.load(trace, format_name=format_name, skip_bad=skip_bad, volume=volume)
        traces.write_parquet(loaded, out)
        found = streams.profile(trace, format_name=format_name, skip_bad=skip_bad, volume=volume)
        problems = [one for one in found["problems"] if one["problem"] not in _MENDED]
        facts |= {"records": len(loaded), "problems": problems}
    else:
        facts |= streams.convert(
            trace, out, format_name=format_name, skip_bad=skip_bad, volume=volume, tell=_Progress()
        )
    facts["bytes"] = out.stat().st_size
    if as_json:
        print_json(facts)
        return
    _warn_of(facts["problems"])
    say(f"{facts['records']} records in {out} ({facts['bytes']} bytes)")


class _Progress:
    """Says now and then how much of a long trace is read."""

    def __init__(self) -> None:
        self._told_at = time.monotonic()

    def __call__(self, done: int, size: int) -> None:
        now = time.monotonic()
        if now - self._told_at >= _EVERY_S and size:
            self._told_at = now
            say(f"read {done / size:.0%}")


def _flat(facts: dict[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    """Names with dots for what lies in tables; classes of sizes as one line each."""
    pairs: list[tuple[str, object]] = []
    for name, value in facts.items():
        if isinstance(value, dict):
            pairs += _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            pairs += [(f"{prefix}{name} <= {size}", count) for size, count in value]
        else:
            digits = 12 if name == "start_s" else 6
            shown = "-" if value is None else f"{value:.{digits}g}" if isinstance(value, float) else value
            pairs.append((prefix + name, shown))
    return pairs


def _print_volumes(volumes: list[dict[str, Any]]) -> None:
    """Draw the volumes with most requests, where there are several."""
    if len(volumes) < 2:  # noqa: PLR2004 - one volume is the trace itself
        return
    names = list(volumes[0])
    rows = [names] + [
        ["others" if value is None and name == "volume" else _shown(value) for name, value in row.items()]
        for row in volumes[:_VOLUMES]
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(names))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    print_data("\n" + "\n".join(lines) + "\n")
    if len(volumes) > _VOLUMES:
        say(f"{len(volumes) - _VOLUMES} more volumes; --json has them all")


def _shown(value: object) -> str:
    return "-" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


def _warn_of(problems: list[dict[str, Any]]) -> None:
    for problem in problems:
        warn(f"{problem['count']} x {problem['problem']} (first at {problem['first']}): {problem['meaning']}")
