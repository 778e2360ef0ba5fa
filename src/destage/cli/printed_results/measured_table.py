"""Measured and simulated figures of `destage compare --measured` as text, JSON and rows."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from destage.cli.terminal.output import print_data, print_note
from destage.spec.printed_text import align_cells

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    import pyarrow as pa

    from destage.measured.line import MeasuredLine
    from destage.queries import Session
    from destage.queries.pairs.measured_pairs import LinePair, MeasuredComparison, Ratio, Unpaired

_HEADINGS = ("result", "measured", "simulated (95 % CI)", "simulated / measured (95 % CI)")
_MOST_LISTED = 20
"""Lines or points without a partner that are printed."""


def print_measured(found: "MeasuredComparison") -> None:
    """Print a table for each pair and the worst figures, and on stderr what has no partner."""
    from destage.queries.pairs.measured_pairs import describe_line
    from destage.queries.text.presentation import split_title

    for index, pair in enumerate(found.pairs):
        if index:
            print_data("\n")
        print_data(f"measured   {describe_line(pair.number, pair.line)}\nsimulated  {pair.point.name}\n\n")
        if pair.ratios:
            print_data(align_cells([_HEADINGS, *(_format(ratio) for ratio in pair.ratios)], left=1))
        for reason, titles in _group_by_reason(pair.skipped):
            print_data(f"not compared: {titles}: {reason}\n")
    worst = found.find_worst()
    if worst:
        print_data("\nfurthest from 1:\n")
        rows = [
            (
                f"line {pair.number}",
                pair.line.workload or "",
                split_title(ratio.column)[0],
                _ratio(ratio),
            )
            for pair, ratio in worst
        ]
        print_data(align_cells(rows, left=3))
        print_note(
            "intervals: spread of the simulated replicates; of the throughput, also of the measured samples, "
            "where the tool states it"
        )
    for what, unpaired in (("measured line", found.lines), ("simulated point", found.points)):
        _print_unpaired(what, unpaired)
    if not found.pairs:
        print_note("no measured line has a simulated point")


def print_basis(lines: "Sequence[MeasuredLine]", columns: "Container[str]") -> None:
    """Print which of the shown columns are derived, and why others are unknown, by lines alike."""
    derived: dict[str, list[str]] = {}
    unknown: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=1):
        titles = _list_titles(name for name in line.derived_figures if name in columns)
        if titles:
            derived.setdefault(titles, []).append(str(number))
        shown = {name: why for name, why in line.unknown_figures.items() if name in columns}
        for reason, names in _group_by_reason(shown):
            unknown.setdefault(f"{names}: {reason}", []).append(str(number))
    for what, numbers_by_text in (("derived", derived), ("unknown", unknown)):
        for text, numbers in numbers_by_text.items():
            places = ", ".join(numbers[:_MOST_LISTED]) + (", ..." if len(numbers) > _MOST_LISTED else "")
            print_note(f"line{'' if len(numbers) == 1 else 's'} {places}: {what}: {text}")


def _group_by_reason(reasons: "Mapping[str, str]") -> list[tuple[str, str]]:
    """Return each reason with the titles of its columns."""
    return [
        (reason, _list_titles(name for name, why in reasons.items() if why == reason))
        for reason in dict.fromkeys(reasons.values())
    ]


def _list_titles(columns: "Iterable[str]") -> str:
    from destage.queries.text.presentation import split_title

    return ", ".join(split_title(name)[0] for name in columns)


def tabulate(found: "MeasuredComparison") -> "pa.Table":
    """Return a row per pair and figure [base units]."""
    import pyarrow as pa

    return pa.Table.from_pylist(
        [
            {"line": pair.number, "workload": pair.line.workload, "point": pair.point.name, **asdict(ratio)}
            for pair in found.pairs
            for ratio in pair.ratios
        ]
    )


def as_json(found: "MeasuredComparison", session: "Session", name: str) -> dict[str, Any]:
    """Return a comparison as `--json` prints it; units are in the names of the columns."""
    return {
        "sweep": str(session.sweep.path),
        "measured": name,
        "pairs": [
            {
                **_name_pair(pair),
                "results": [asdict(ratio) for ratio in pair.ratios],
                "skipped": [{"column": column, "reason": why} for column, why in pair.skipped.items()],
            }
            for pair in found.pairs
        ],
        "worst": [{**_name_pair(pair), **asdict(ratio)} for pair, ratio in found.find_worst()],
        "unpaired_lines": [
            {"line": line.key, "name": line.name, "reason": line.reason} for line in found.lines
        ],
        "unpaired_points": [
            {"point_id": point.key, "name": point.name, "reason": point.reason} for point in found.points
        ],
    }


def _name_pair(pair: "LinePair") -> dict[str, Any]:
    line = pair.line
    return {
        "line": pair.number,
        "workload": line.workload,
        "source": f"{line.source_file}:{line.source_line}",
        "point_id": pair.point.point_id,
        "point": pair.point.name,
    }


def _format(ratio: "Ratio") -> tuple[str, ...]:
    from destage.queries.text.presentation import find_scale, format_rounded, title_column

    scale = find_scale(ratio.column)

    def text(value: float) -> str:
        return format_rounded(value * scale)

    interval = (
        "" if ratio.low is None or ratio.high is None else f" ({text(ratio.low)} to {text(ratio.high)})"
    )
    return (
        title_column(ratio.column),
        text(ratio.measured),
        f"{text(ratio.simulated)}{interval}",
        _ratio(ratio),
    )


def _ratio(ratio: "Ratio") -> str:
    if ratio.ratio is None:
        return ""
    if ratio.ratio_low is None or ratio.ratio_high is None:
        return f"{ratio.ratio:.3g}"
    return f"{ratio.ratio:.3g} ({ratio.ratio_low:.3g} to {ratio.ratio_high:.3g})"


def _print_unpaired(what: str, unpaired: "Sequence[Unpaired]") -> None:
    if not unpaired:
        return
    print_note(f"{len(unpaired)} {what}{'' if len(unpaired) == 1 else 's'} without a partner:")
    for entry in unpaired[:_MOST_LISTED]:
        print_note(f"  {entry.name}: {entry.reason}")
    if len(unpaired) > _MOST_LISTED:
        print_note(f"  and {len(unpaired) - _MOST_LISTED} more; --json lists all")
