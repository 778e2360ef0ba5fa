"""`destage trace mrc`: miss ratio curves."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.commands.trace.miss_ratio_plot import draw_curves
from destage.cli.commands.trace.options import (
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
from destage.cli.hard_stop import HardStop
from destage.cli.options import Json, check_size, check_suffix
from destage.cli.output import align_cells, print_data, print_json, print_note
from destage.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa


def mrc(
    trace: TraceFile,
    block: Block = "4KiB",
    policy: Annotated[
        str,
        typer.Option(
            "--policy", help="Replacement policy of the cache, one of `controller.cache.read.policy`."
        ),
    ] = "lru",
    sample: Annotated[
        str,
        typer.Option(
            "--sample",
            metavar="exact|shards:RATE",
            help="Use all blocks, or a random sample of them at this rate (SHARDS).",
        ),
    ] = "exact",
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="SIZE,...",
            help="Cache sizes, as in 64MiB,1GiB (default: powers of two; in --out, four per doubling).",
        ),
    ] = None,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write all points to FILE as Parquet.")
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
    """Compute the miss ratio for each cache size.

    Reads and writes have a curve each, and both together. A write hit is an overwrite that a write
    cache of that size absorbs.
    """
    from destage.engine import traces
    from destage.engine.miss_ratio_curves import miss_ratio_curve
    from destage.queries.report.miss_ratio_chart import thin_out

    reading = reading_options(format_name, columns, units, separator, skip_bad, volume)
    check_size(block, "--block")
    rate = _parse_rate(sample)
    if plot is not None:
        check_suffix(plot, "--plot", *PLOT_SUFFIXES)
    if out is not None:
        check_suffix(out, "--out", ".parquet")
    asked = None if sizes is None else [check_size(size.strip(), "--sizes") for size in sizes.split(",")]
    with HardStop():
        loaded = traces.load(trace, **reading)
        table = miss_ratio_curve(loaded, block=block, policy=policy, rate=rate, sizes=asked, seed=seed)
    if out is not None:
        import pyarrow.parquet as pq

        pq.write_table(table, out)
        print_note(f"{table.num_rows} points written to {out}")
    rows = table.to_pylist() if asked else _doublings(table)
    if plot is not None:
        draw_curves(plot, f"{trace.name}: misses under {policy}", {"": rows if asked else thin_out(rows)})
    if as_json:
        print_json({"trace": str(trace), "policy": policy, "sample": sample, "points": table.to_pylist()})
    else:
        print_data(_as_text(rows))


def _parse_rate(sample: str) -> float | None:
    """Return the sampling rate, or None for all blocks."""
    if sample == "exact":
        return None
    kind, _, rate = sample.partition(":")
    try:
        if kind == "shards":
            return float(rate)
    except ValueError:
        pass
    raise UsageError(
        "usage.bad-value", f"{sample!r}: must be exact or shards:RATE, as in shards:0.01", "--sample"
    )


def _doublings(table: "pa.Table") -> list[dict[str, Any]]:
    """Return the points at powers of two, and the last of each side."""
    rows: list[dict[str, Any]] = table.to_pylist()
    last = {row["side"]: row for row in rows}
    return [row for row in rows if row["size_blocks"].bit_count() == 1 or row is last[row["side"]]]


def _as_text(rows: list[dict[str, Any]]) -> str:
    """Return one line per size with one column per side."""
    from destage.queries.report.miss_ratio_chart import SIDES, format_size

    cells = {(row["size_bytes"], row["side"]): row for row in rows}
    sides = [side for side in SIDES if any(row["side"] == side for row in rows)]
    if not sides:
        return "no reads and no writes\n"
    lines = [["size", *(f"{side} miss" for side in sides)]]
    lines += [
        [format_size(size), *(_cell(cells.get((size, side))) for side in sides)]
        for size in sorted({row["size_bytes"] for row in rows})
    ]
    totals = {side: next(row for row in rows if row["side"] == side) for side in sides}
    return align_cells(lines) + "".join(
        f"{side}: {row['accesses']} block accesses, {row['distinct_blocks']} distinct blocks\n"
        for side, row in totals.items()
    )


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    if row["miss_ratio_high"] is None:
        return f"{row['miss_ratio']:.4f}"
    return f"{row['miss_ratio']:.4f} [{row['miss_ratio_low']:.4f}, {row['miss_ratio_high']:.4f}]"
