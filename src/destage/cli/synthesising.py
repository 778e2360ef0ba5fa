"""The verb that makes a trace like another: trace synth."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from destage.cli.curving import MOST_SEED, Block, Plot, check_plot, size_text, write_plot
from destage.cli.output import Json, print_data, print_json, say
from destage.cli.tracing import FormatName, SkipBad, TraceFile, VolumeNumber
from destage.errors import TraceError


def synth(
    trace: TraceFile,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The compact Parquet file to make.")],
    block: Block = "4KiB",
    requests: Annotated[
        int | None,
        typer.Option("--requests", min=1, help="Requests to draw; by default as many as TRACE has."),
    ] = None,
    duration: Annotated[
        str | None, typer.Option("--duration", help="Draw until this time, as 10min, instead.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=MOST_SEED, help="The root of the random streams.")
    ] = 0,
    profile: Annotated[
        Path | None, typer.Option("--profile", metavar="FILE", help="Write the fitted profile as JSON.")
    ] = None,
    plot: Plot = None,
    format_name: FormatName = None,
    skip_bad: SkipBad = 0,
    volume: VolumeNumber = None,
    as_json: Json = False,
) -> None:
    """Draw a trace from the profile of another, and show how near it is to the original."""
    from destage.engine import traces
    from destage.engine.miss_ratio_curves import miss_ratio_curve
    from destage.spec import quantities
    from destage.trace_synthesis import compare, synthesise

    if out.suffix != ".parquet":
        raise TraceError(f"{out}: the compact form is Parquet; name it with .parquet")
    if isinstance(trace, Path) and out.exists() and out.samefile(trace):
        raise TraceError(f"{out}: is the trace itself; the synthetic one needs another name")
    check_plot(plot)
    until = None if duration is None else int(quantities.parse(duration, "ns"))
    if until is not None and until <= 0:
        raise TraceError(f"--duration {duration}: must be more than 0")
    original = traces.load(trace, format_name=format_name, skip_bad=skip_bad, volume=volume)
    made = synthesise(original, block=block, seed=seed, requests=requests, duration_ns=until)
    traces.write_parquet(made.trace, out)
    if profile is not None:
        profile.write_text(json.dumps(made.profile, indent=1) + "\n")
        say(f"profile in {profile}")
    if plot is not None:
        found = miss_ratio_curve(original, block=block)
        sizes = [row["size_bytes"] for row in found.to_pylist() if row["size_blocks"].bit_count() == 1]
        panels = {
            name: miss_ratio_curve(one, block=block, sizes=sizes).to_pylist()
            for name, one in (("original", original), ("synthetic", made.trace))
        }
        write_plot(plot, f"{trace.name} and {out.name}", panels)
    rows = compare(original, made.trace, block=block)
    facts = {"file": str(out), "records": len(made.trace), "digest": traces.digest(out)}
    if as_json:
        print_json({**facts, "comparison": rows})
    else:
        print_data(_text(rows))
        say(f"{facts['records']} records in {out}")


def _text(rows: list[dict[str, Any]]) -> str:
    lines = [["", "", "original", "synthetic", "distance"]]
    subject = ""
    for row in rows:
        statistic = size_text(int(row["statistic"])) if row["statistic"].isdigit() else row["statistic"]
        lines.append(
            [
                row["subject"] if row["subject"] != subject else "",
                statistic,
                f"{row['original']:.4g}",
                f"{row['synthetic']:.4g}",
                "" if row["distance"] is None else f"{row['distance']:.4f}",
            ]
        )
        subject = row["subject"]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return "".join(
        "  ".join(
            cell.ljust(width) if at < 2 else cell.rjust(width)  # noqa: PLR2004 - two columns of words
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        + "\n"
        for line in lines
    )
