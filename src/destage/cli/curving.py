"""The verb that shows a trace's miss ratio curves: trace mrc."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.output import Json, print_data, print_json, say
from destage.cli.tracing import FormatName, SkipBad, TraceFile, VolumeNumber
from destage.errors import TraceError

if TYPE_CHECKING:
    import pyarrow as pa

_SIDES = ("reads", "writes", "both")
_PLOTS = (".svg", ".html")
_SHORT = 8
_NEAR = 1.25
"""An end of a curve below so many times the last doubling would have its mark on top of that one's."""
MOST_SEED = 2**64 - 1
"""The longest size that is written exactly [characters]."""

Block = Annotated[str, typer.Option("--block", help="The cache's unit; a request touches each it covers.")]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw it, as .svg or .html.", show_default=False),
]


def mrc(
    trace: TraceFile,
    block: Block = "4KiB",
    policy: Annotated[str, typer.Option("--policy", help="A replacement policy of the read cache.")] = "lru",
    sample: Annotated[
        str,
        typer.Option(
            "--sample", metavar="exact|shards:RATE", help="Look at all blocks, or at a share of them."
        ),
    ] = "exact",
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes", metavar="SIZE,...", help="Cache sizes; by default doublings, in --out four each."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=MOST_SEED, help="Chooses the blocks of a sample.")
    ] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write all points as Parquet.")
    ] = None,
    plot: Plot = None,
    format_name: FormatName = None,
    skip_bad: SkipBad = 0,
    volume: VolumeNumber = None,
    as_json: Json = False,
) -> None:
    """Show what share of its accesses a cache of each size would miss: reads, writes, both.

    The write curve's hits are the overwrites that a write cache of that size can absorb.
    """
    from destage.engine import traces
    from destage.engine.miss_ratio_curves import miss_ratio_curve

    rate = _rate(sample)
    check_plot(plot)
    if out is not None and out.suffix != ".parquet":
        raise TraceError(f"{out}: the points are written as Parquet; name it with .parquet")
    asked = None if sizes is None else [size.strip() for size in sizes.split(",")]
    loaded = traces.load(trace, format_name=format_name, skip_bad=skip_bad, volume=volume)
    table = miss_ratio_curve(loaded, block=block, policy=policy, rate=rate, sizes=asked, seed=seed)
    if out is not None:
        import pyarrow.parquet as pq

        pq.write_table(table, out)
        say(f"{table.num_rows} points in {out}")
    rows = table.to_pylist() if asked else _doublings(table)
    if plot is not None:
        write_plot(plot, f"{trace.name}: misses under {policy}", {"": rows if asked else apart(rows)})
    if as_json:
        print_json({"trace": str(trace), "policy": policy, "sample": sample, "points": table.to_pylist()})
    else:
        print_data(_text(rows))


def check_plot(plot: Path | None) -> None:
    """Refuse a picture's name that says no form that can be drawn.

    Args:
        plot: The file to draw.

    Raises:
        TraceError: It ends with something else.
    """
    if plot is not None and plot.suffix not in _PLOTS:
        raise TraceError(f"{plot}: the form {plot.suffix!r} is not known; allowed is {' or '.join(_PLOTS)}")


def write_plot(plot: Path, title: str, panels: dict[str, list[dict[str, Any]]]) -> None:
    """Draw curves.

    Args:
        plot: The file to make.
        title: What they show.
        panels: The points of each panel by its title.
    """
    from html import escape

    from destage.queries.report.chart import LineChart, Mark, Panel, Series
    from destage.queries.report.svg import draw

    def series(side: str, rows: list[dict[str, Any]]) -> Series:
        marks = tuple(
            Mark(
                row["size_bytes"],
                row["miss_ratio"],
                row["miss_ratio_low"],
                row["miss_ratio_high"],
                f"{side}, {size_text(row['size_bytes'])}: {row['miss_ratio']:.4f}",
            )
            for row in rows
            if row["side"] == side
        )
        return Series(side, "line", marks)

    chart = LineChart(
        title,
        "cache size",
        "bytes",
        "miss ratio",
        y_most=1.0,
        panels=tuple(
            Panel(name, tuple(one for side in _SIDES if (one := series(side, rows)).marks))
            for name, rows in panels.items()
        ),
        legend=_SIDES,
    )
    picture = draw(chart, standalone=True)
    if plot.suffix == ".html":
        picture = f'<!doctype html><meta charset="utf-8"><title>{escape(title)}</title>{picture}\n'
    plot.write_text(picture)
    say(f"drawn in {plot}")


def size_text(size: int) -> str:
    """Return a size as people read it.

    Args:
        size: The size [bytes].
    """
    from destage.queries.presentation import quantity

    exact = quantity(size, "bytes")
    return exact if len(exact) <= _SHORT else f"{size / 2**20:.1f} MiB"


def apart(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the points that a picture shows: doublings, and a curve's end unless it is too near the last.

    Args:
        rows: The points at doublings, and the last of each curve.
    """
    doublings = [row for row in rows if row["size_blocks"].bit_count() == 1]
    near = {row["side"]: _NEAR * row["size_blocks"] for row in doublings}
    return [row for row in rows if row in doublings or row["size_blocks"] >= near.get(row["side"], 0)]


def _rate(sample: str) -> float | None:
    """The sampling rate; none where all blocks are looked at."""
    if sample == "exact":
        return None
    kind, _, rate = sample.partition(":")
    try:
        if kind == "shards":
            return float(rate)
    except ValueError:
        pass
    raise TraceError(f"--sample: {sample!r}; allowed is exact, or shards: and a share, as shards:0.01")


def _doublings(table: "pa.Table") -> list[dict[str, Any]]:
    """The points at powers of two, and the last of each side."""
    rows: list[dict[str, Any]] = table.to_pylist()
    last = {row["side"]: row for row in rows}
    return [row for row in rows if row["size_blocks"].bit_count() == 1 or row is last[row["side"]]]


def _text(rows: list[dict[str, Any]]) -> str:
    """One line for each size, one column for each side."""
    cells = {(row["size_bytes"], row["side"]): row for row in rows}
    sides = [side for side in _SIDES if any(row["side"] == side for row in rows)]
    if not sides:
        return "no reads and no writes\n"
    titles = ["size", *(f"{side} miss" for side in sides)]
    lines = [titles]
    lines += [
        [size_text(size), *(_cell(cells.get((size, side))) for side in sides)]
        for size in sorted({row["size_bytes"] for row in rows})
    ]
    widths = [max(len(line[at]) for line in lines) for at in range(len(titles))]
    text = "".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + "\n"
        for line in lines
    )
    about = {side: next(row for row in rows if row["side"] == side) for side in sides}
    return text + "".join(
        f"{side}: {row['accesses']} block accesses, {row['distinct_blocks']} different blocks\n"
        for side, row in about.items()
    )


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    if row["miss_ratio_high"] is None:
        return f"{row['miss_ratio']:.4f}"
    return f"{row['miss_ratio']:.4f} [{row['miss_ratio_low']:.4f}, {row['miss_ratio_high']:.4f}]"
