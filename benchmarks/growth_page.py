"""Write the measured parts of docs/benchmarks.md, and its picture, from the stored results.

Usage: growth_page.py [--check]

The page has a part per result between two comments; the text around them is written by hand. With --check
nothing is written, and the exit code is 1 if the page or the picture differs from the results.
"""

import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from growth import RESULT, fit_exponent, list_costs

from destage.queries.report.drawing.chart import ChartGrid, LineChart, Mark, Panel, Series
from destage.queries.report.drawing.svg import draw

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
PICTURE = ROOT / "docs" / "images" / "growth.svg"
REPLACEMENT = RESULT.with_name("replacement.json")
SCALE = RESULT.with_name("scale.json")
_DIGITS = 3
_MICRO = 1e6


def format_source(result: dict[str, Any]) -> str:
    """Return when, where and how a result was measured."""
    note = f" {result['note']}" if "note" in result else ""
    return (
        f"Measured on {result['date']} with `{result['command']}`. Machine: {result['machine']}. "
        f"Engine: {result['build']}.{note}"
    )


def format_growth(result: dict[str, Any]) -> list[str]:
    """Return the table of exponents."""
    lines = [
        "| what | against | sizes | exponent | per added unit, at the largest |",
        "| --- | --- | --- | --- | --- |",
    ]
    excluded = []
    for measured in result["quantities"].values():
        sizes, costs = list_costs(measured)
        slope, half = fit_exponent(sizes, costs)
        if abs(slope - 1) > half:
            excluded.append(measured["unit"])
        each = float(f"{_MICRO * costs[-1] / sizes[-1]:.{_DIGITS}g}")
        least, most = measured["sizes"][1], measured["sizes"][-1]
        lines.append(
            f"| {measured['title']} | {measured['unit']} | {least:,} to {most:,} "
            f"| {slope:.2f} ± {half:.2f} | {each:,g} µs |"
        )
    *earlier, last = excluded or [""]
    listed = f"{', '.join(earlier)} and {last}" if earlier else last
    found = f", except for {listed}" if excluded else ""
    return [*lines, "", f"Every interval includes 1{found}. {format_source(result)}"]


def format_replacement(result: dict[str, Any]) -> list[str]:
    """Return a table of policies for each load."""
    lines: list[str] = []
    rows = result["results"]
    for load in dict.fromkeys(row["load"] for row in rows):
        found = [row for row in rows if row["load"] == load]
        lines += [
            f"{load}, N = {found[0]['n']:,} accesses, {found[0]['capacity']:,} entries:",
            "",
            "| policy | miss ratio | libCacheSim's | M accesses/s | libCacheSim's | its table | ratio |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            *(_format_policy(row) for row in found),
            "",
        ]
    peer = f"libCacheSim {rows[0]['peer_version']}. " if rows[0]["peer_version"] else ""
    return [*lines, f"{peer}{format_source(result)}"]


def _format_policy(row: dict[str, Any]) -> str:
    ours = f"| `{row['policy']}` | {row['miss_ratio']:.6f}"
    rate = f"{row['rate'] / _MICRO:.1f}"
    if row["peer_rate"] is None:
        return f"{ours} | not run | {rate} | not run | | |"
    return (
        f"{ours} | {row['peer_miss_ratio']:.6f} | {rate} | {row['peer_rate'] / _MICRO:.1f} "
        f"| 2^{row['peer_power']} | {row['verdict']} |"
    )


def format_scale(result: dict[str, Any]) -> list[str]:
    """Return the table of the steps of a large sweep."""
    lines = ["| step | N | processor time [s] | peak memory [MiB] |", "| --- | --- | --- | --- |"]
    for step in result["steps"].values():
        count = f"{step['count']:,} {step['unit']}"
        if "processor_s" not in step:
            lines.append(f"| {step['title']} | {count} | not measured | not measured |")
            continue
        lines.append(f"| {step['title']} | {count} | {step['processor_s']:.1f} | {step['peak_mib']:,.0f} |")
    return [*lines, "", f"At the end, the store takes {result['stored_mb']:,} MB. {format_source(result)}"]


def draw_growth(result: dict[str, Any]) -> str:
    """Return the picture: added cost against added size, with a line of slope 1 through the largest."""
    charts = []
    for measured in result["quantities"].values():
        sizes, costs = list_costs(measured)
        fixed = statistics.median(measured["seconds"][0])
        runs = [[second - fixed for second in seconds] for seconds in measured["seconds"][1:]]
        marks = [
            Mark(float(size), cost, min(each), max(each), note=f"{size:,}: {cost:.3g} s")
            for size, cost, each in zip(sizes, costs, runs, strict=True)
        ]
        linear = [Mark(float(size), costs[-1] * size / sizes[-1]) for size in (sizes[0], sizes[-1])]
        slope, half = fit_exponent(sizes, costs)
        charts.append(
            LineChart(
                title=measured["title"],
                x_title=f"{measured['unit']}, in addition to {measured['sizes'][0]:,}",
                x_unit=None,
                y_title="processor time [s]",
                panels=(
                    Panel(
                        f"{measured['title']}: exponent {slope:.2f} ± {half:.2f}",
                        (
                            Series("measured", "scattered", tuple(marks)),
                            Series("linear", "reference", tuple(linear)),
                        ),
                    ),
                ),
                legend=("measured", "linear"),
                y_log=True,
                x_log=True,
            )
        )
    grid = ChartGrid("Processor time against size, each less that of the smallest size", (), tuple(charts))
    return draw(grid, standalone=True) + "\n"


def fill(page: str, parts: dict[str, list[str]]) -> str:
    """Replace the parts of a page between `<!-- NAME: begin ... -->` and `<!-- NAME: end -->`.

    Raises:
        ValueError: The page has no such comments.
    """
    for name, lines in parts.items():
        before, begin, rest = page.partition(f"<!-- {name}: begin")
        opening, close, rest = rest.partition("-->\n")
        _, end, after = rest.partition(f"<!-- {name}: end -->")
        if not (begin and close and end):
            raise ValueError(f"the page has no part {name}")
        page = "\n".join([f"{before}{begin}{opening}-->", "", *lines, "", f"{end}{after}"])
    return page


def build(page: str) -> Iterator[tuple[Path, str]]:
    """Return each file with the text that the results give it; `page` is that of the page now."""
    growth = json.loads(RESULT.read_text(encoding="utf-8"))
    parts = {"growth": format_growth(growth)}
    for place, show in ((REPLACEMENT, format_replacement), (SCALE, format_scale)):
        parts[place.stem] = show(json.loads(place.read_text(encoding="utf-8")))
    yield PAGE, fill(page, parts)
    yield PICTURE, draw_growth(growth)


def main() -> int:
    """Write the files, or print which differ from the results."""
    files = dict(build(PAGE.read_text(encoding="utf-8")))
    if "--check" not in sys.argv[1:]:
        for place, text in files.items():
            place.write_text(text, encoding="utf-8")
        return 0
    stale = [
        place
        for place, text in files.items()
        if not place.exists() or place.read_text(encoding="utf-8") != text
    ]
    for place in stale:
        print(f"{place.relative_to(ROOT)} differs from the results; run make bench-page", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
