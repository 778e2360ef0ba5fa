"""`destage trace synth`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from destage.cli.commands.trace.mrc import draw_curves
from destage.cli.commands.trace.options import (
    PLACES,
    PLOT_SUFFIXES,
    Block,
    Columns,
    FormatName,
    Plot,
    Seed,
    Separator,
    SkipBad,
    TraceFile,
    Units,
    VolumeNumber,
    reading_options,
)
from destage.cli.parameters.shared_options import (
    Json,
    check_size,
    check_suffix,
    parse_duration,
    translate_places,
)
from destage.cli.terminal.hard_stop import HardStop
from destage.cli.terminal.output import print_data, print_json, print_note
from destage.errors import UsageError
from destage.spec.printed_text import align_cells


def synth(
    trace: TraceFile,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Parquet file to write.")],
    block: Block = "4KiB",
    requests: Annotated[
        int | None,
        typer.Option("--requests", min=1, help="Requests to generate (default: as many as TRACE has)."),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(
            "--duration",
            metavar="TIME",
            help="Duration of the synthetic trace, as in 10min, instead of --requests.",
        ),
    ] = None,
    seed: Seed = 0,
    profile: Annotated[
        Path | None,
        typer.Option("--profile", metavar="FILE", help="Write the fitted profile to FILE as JSON."),
    ] = None,
    plot: Plot = None,
    format_name: FormatName = None,
    columns: Columns = None,
    units: Units = None,
    separator: Separator = "auto",
    skip_bad: SkipBad = 0,
    volume: VolumeNumber = None,
    as_json: Json = False,
) -> None:
    """Generate a synthetic trace like a recorded one.

    It is drawn from the profile of the recorded trace; both are compared.
    """
    from destage.engine import traces
    from destage.engine.miss_ratio_curves import miss_ratio_curve
    from destage.trace_synthesis import compare, synthesise

    reading = reading_options(format_name, columns, units, separator, skip_bad, volume)
    check_size(block, "--block", "KiB")
    check_suffix(out, "--out", ".parquet")
    if isinstance(trace, Path) and out.exists() and out.samefile(trace):
        raise UsageError("usage.same-file", f"{out} is the input trace; choose another file", "--out")
    check_suffix(plot, "--plot", *PLOT_SUFFIXES)
    until = None if duration is None else int(parse_duration(duration, "ns", "--duration"))
    with HardStop(), translate_places(PLACES):
        original = traces.load(trace, **reading)
        made = synthesise(original, block=block, seed=seed, requests=requests, duration_ns=until)
    traces.write_parquet(made.trace, out)
    if profile is not None:
        profile.write_text(json.dumps(made.profile, indent=1) + "\n")
        print_note(f"profile written to {profile}")
    if plot is not None:
        curve = miss_ratio_curve(original, block=block)
        sizes = [row["size_bytes"] for row in curve.to_pylist() if row["size_blocks"].bit_count() == 1]
        panels = {
            name: miss_ratio_curve(profiled, block=block, sizes=sizes).to_pylist()
            for name, profiled in (("original", original), ("synthetic", made.trace))
        }
        draw_curves(plot, f"{trace.name} and {out.name}", panels)
    with HardStop():
        rows = compare(original, made.trace, block=block)
    facts = {"file": str(out), "records": len(made.trace), "digest": traces.digest(out)}
    if as_json:
        print_json({**facts, "comparison": rows})
    else:
        print_data(_as_text(rows))
        print_note(f"{facts['records']} records written to {out}")


def _as_text(rows: list[dict[str, Any]]) -> str:
    from destage.queries.report.charts.miss_ratio_chart import format_size

    lines = [["", "", "original", "synthetic", "distance"]]
    subject = ""
    for row in rows:
        statistic = format_size(int(row["statistic"])) if row["statistic"].isdigit() else row["statistic"]
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
    return align_cells(lines, left=2)
