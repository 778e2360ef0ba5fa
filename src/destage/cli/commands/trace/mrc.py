"""`destage trace mrc`: miss ratio curves."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
from destage.cli.parameters.completion import complete_policies
from destage.cli.parameters.part_options import split_list
from destage.cli.parameters.shared_options import Json, check_size, check_suffix, translate_places
from destage.cli.terminal.hard_stop import HardStop
from destage.cli.terminal.output import print_data, print_json, print_note
from destage.errors import UsageError
from destage.spec.printed_text import align_cells

if TYPE_CHECKING:
    import pyarrow as pa


def mrc(
    trace: TraceFile,
    block: Block = "4KiB",
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            metavar="POLICY,...",
            help="Replacement policies of the cache, as in lru,arc: those of `controller.cache.read.policy`.",
            autocompletion=complete_policies,
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
    cache of that size absorbs. A text with one number per line is read as block numbers.
    """
    from destage.engine.miss_ratio_curves import check_policies, load_accesses, miss_ratio_curve
    from destage.queries.report.charts.miss_ratio_chart import thin_out

    reading = reading_options(format_name, columns, units, separator, skip_bad, volume)
    check_size(block, "--block", "KiB")
    with translate_places(PLACES):
        policies = check_policies(split_list(policy))
    rate = _parse_rate(sample)
    check_suffix(plot, "--plot", *PLOT_SUFFIXES)
    check_suffix(out, "--out", ".parquet")
    asked = None if sizes is None else [check_size(size, "--sizes") for size in split_list(sizes)]
    with HardStop(), translate_places(PLACES):
        loaded = load_accesses(trace, block, **reading)
        table = miss_ratio_curve(loaded, block=block, policy=policies, rate=rate, sizes=asked, seed=seed)
    if out is not None:
        import pyarrow.parquet as pq

        pq.write_table(table, out)
        print_note(f"{table.num_rows} points written to {out}")
    rows = table.to_pylist() if asked else _doublings(table)
    if plot is not None:
        title = f"{trace.name}: misses under {', '.join(policies)}"
        draw_curves(plot, title, {"": rows if asked else thin_out(rows)})
    if as_json:
        print_json({"trace": str(trace), "policies": policies, "sample": sample, "points": table.to_pylist()})
    else:
        print_data(_as_text(rows, policies))


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
    """Return the points at powers of two, and the last of each curve."""
    rows: list[dict[str, Any]] = table.to_pylist()
    last = {(row["policy"], row["side"]): row for row in rows}
    return [
        row for row in rows if row["size_blocks"].bit_count() == 1 or row is last[row["policy"], row["side"]]
    ]


def _as_text(rows: list[dict[str, Any]], policies: Sequence[str]) -> str:
    """Return one line per size: a column per side, or a table per side with a column per policy."""
    from destage.queries.report.charts.miss_ratio_chart import SIDES

    sides = [side for side in SIDES if any(row["side"] == side for row in rows)]
    if not sides:
        return "no reads and no writes\n"
    if len(policies) == 1:
        text = _tabulate(rows, "side", {side: f"{side} miss" for side in sides})
    else:
        text = "".join(
            f"{side} miss\n{_tabulate(_of_side(rows, side), 'policy', {name: name for name in policies})}\n"
            for side in sides
        )
    totals = {side: _of_side(rows, side)[0] for side in sides}
    return text + "".join(
        f"{side}: {row['accesses']} block accesses, {row['distinct_blocks']} distinct blocks\n"
        for side, row in totals.items()
    )


def _of_side(rows: list[dict[str, Any]], side: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["side"] == side]


def _tabulate(rows: list[dict[str, Any]], by: str, titles: Mapping[str, str]) -> str:
    """Return one line per size, with one column per value of `by`."""
    from destage.queries.report.charts.miss_ratio_chart import format_size

    cells = {(row["size_bytes"], row[by]): row for row in rows}
    lines = [["size", *titles.values()]]
    lines += [
        [format_size(size), *(_cell(cells.get((size, name))) for name in titles)]
        for size in sorted({row["size_bytes"] for row in rows})
    ]
    return align_cells(lines)


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    if row["miss_ratio_high"] is None:
        return f"{row['miss_ratio']:.4f}"
    return f"{row['miss_ratio']:.4f} [{row['miss_ratio_low']:.4f}, {row['miss_ratio_high']:.4f}]"


def draw_curves(plot: Path, title: str, panels: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Draw the points of each panel, by the panel's title, as SVG or HTML."""
    from destage.queries.report.charts.miss_ratio_chart import build_curves
    from destage.queries.report.drawing.svg import draw

    picture = draw(build_curves(title, panels), standalone=True)
    if plot.suffix == ".html":
        picture = f'<!doctype html><meta charset="utf-8"><title>{escape(title)}</title>{picture}\n'
    plot.write_text(picture)
    print_note(f"plot written to {plot}")
