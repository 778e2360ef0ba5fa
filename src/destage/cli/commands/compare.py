"""`destage compare`: differences between points as text, JSON and rows."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.parameters.completion import complete_measured_sets
from destage.cli.parameters.shared_options import (
    EscapeFormulas,
    Format,
    Json,
    Out,
    Store,
    SweepName,
    declare_conditions,
)
from destage.cli.terminal.output import print_data, print_json, print_note
from destage.cli.terminal.printed_rows import find_sweep, print_rows
from destage.cli.terminal.terminal_text import find_width
from destage.errors import UsageError
from destage.spec.printed_text import align_cells

if TYPE_CHECKING:
    import pyarrow as pa

    from destage.queries.pairs.point_pairs import Comparison, Difference, Pair, Side

_HEADINGS = ("result", "A", "B", "B - A (95 % CI)", "B / A", "variance reduction", "verdict")
_EXPENDABLE = (5, 4)
"""The columns that a narrow terminal hides, in this order."""
_MOST_NAMED = 10
"""Points without a partner that are named."""
_MANY = 20
"""Intervals from which on some are expected to miss their value."""


def compare(
    sweep: SweepName,
    other: Annotated[
        str | None,
        typer.Argument(metavar="OTHER", help="The sweep of the points B (default: the same sweep)."),
    ] = None,
    a: Annotated[
        list[str] | None,
        declare_conditions("--a", "Points that are A, an SQL condition as in \"cache_capacity = '64MiB'\"."),
    ] = None,
    b: Annotated[
        list[str] | None,
        declare_conditions("--b", "Points that are B, an SQL condition."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="NAMES",
            help="Result columns, separated by commas (default: the answer, response times, throughput, "
            "hit ratios, dirty data).",
        ),
    ] = None,
    measured: Annotated[
        str | None,
        typer.Option(
            "--measured",
            metavar="NAME",
            help="A measured set of the store: compare its lines with the points that simulate them.",
            autocompletion=complete_measured_sets,
        ),
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="COLUMN=PARAMETER",
            help="With --measured, pair by this column and this axis or parameter, as in threads=users; "
            "repeatable (default: by load, request size, reads and random share).",
        ),
    ] = None,
    form: Format = "table",
    out: Out = None,
    escape_formulas: EscapeFormulas = False,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Compare points of sweeps, or points with measured figures.

    Two points are matched by the axes that no condition names, and compared replicate by replicate: the
    difference B - A with its 95 % interval over replicates, which use common random numbers.
    Measured lines are matched by their load: simulated over measured, with its interval.
    """
    wanted = [name.strip() for name in (columns or "").split(",") if name.strip()]
    if measured is not None:
        if other is not None or b:
            message = "one sweep is compared with measured figures; --a chooses its points"
            raise UsageError("usage.conflicting-options", message, "OTHER" if other is not None else "--b")
        _compare_measured(
            sweep, store, measured, a or (), wanted, on or (), form, out, escape_formulas, as_json
        )
        return
    if on:
        raise UsageError("usage.conflicting-options", "needs --measured", "--on")
    from destage.queries import open_session
    from destage.queries.pairs.point_choice import choose_points
    from destage.queries.pairs.point_pairs import Side, compare_points

    if other is None and not (a and b):
        message = "one sweep needs --a and --b; or give a second sweep, or --measured"
        raise UsageError("usage.conflicting-options", message, "--b" if a else "--a")
    with ExitStack() as stack:
        first = stack.enter_context(open_session(find_sweep(sweep, store)))
        second = first if other is None else stack.enter_context(open_session(find_sweep(other, store)))
        sides = (
            Side(first, choose_points(first, a or (), "--a")),
            Side(second, choose_points(second, b or (), "--b")),
        )
        comparison = compare_points(*sides, wanted)
        if as_json:
            print_json(_as_json(comparison, *sides), out)
        elif form == "table" and out is None:
            print_comparison(comparison, *sides)
        else:
            rows = _tabulate(comparison)
            print_rows(rows, form, out, {}, escape_formulas=escape_formulas)


def _compare_measured(
    sweep: str,
    store: Any,
    name: str,
    conditions: Sequence[str],
    columns: Sequence[str],
    on: Sequence[str],
    form: str,
    out: Path | None,
    escape_formulas: bool,
    as_json: bool,
) -> None:
    from destage.cli.printed_results import measured_table
    from destage.queries import open_session
    from destage.queries.pairs.measured_pairs import compare_measured
    from destage.queries.pairs.point_choice import choose_points

    with open_session(find_sweep(sweep, store)) as session:
        choice = choose_points(session, conditions, "--a")
        measured = session.read_measured(name)
        comparison = compare_measured(session, measured, choice, columns, on)
        if as_json:
            print_json(measured_table.as_json(comparison, session, name), out)
        elif form == "table" and out is None:
            measured_table.print_measured(comparison)
        else:
            print_rows(measured_table.tabulate(comparison), form, out, {}, escape_formulas=escape_formulas)


def print_comparison(found: "Comparison", a: "Side", b: "Side") -> None:
    """Print a table for each pair, and on stderr what to know about them."""
    for index, pair in enumerate(found.pairs):
        if index:
            print_data("\n")
        _print_pair(pair)
    _print_unmatched("A", found.unmatched_a)
    _print_unmatched("B", found.unmatched_b)
    found_below = [
        (side.session.kind.below_answer, side.session.names[path])
        for side in (a, b)
        if side.choice.probe is None
        for path in side.session.probed
    ]
    for where, name in found_below[:1]:
        print_note(
            f"results of a seek are those {where.format(name=name)} each point's answer; for those at one "
            f"value, add AND {name} = N to the conditions"
        )
    intervals = sum(difference.low is not None for pair in found.pairs for difference in pair.differences)
    if intervals >= _MANY:
        print_note(f"about {intervals * 0.05:.0f} of {intervals} intervals miss the true value by chance")


def _tabulate(found: "Comparison") -> "pa.Table":
    """Return a row per pair and result [base units]."""
    import pyarrow as pa

    return pa.Table.from_pylist(
        [
            {"points": pair.common, "a": pair.name_a, "b": pair.name_b, **_as_row(difference)}
            for pair in found.pairs
            for difference in pair.differences
        ]
    )


def _as_json(found: "Comparison", a: "Side", b: "Side") -> dict[str, Any]:
    """Return a comparison as `--json` prints it; units are in the names of the columns."""
    return {
        "a": str(a.session.sweep.path),
        "b": str(b.session.sweep.path),
        "pairs": [
            {
                **{name: value for name, value in asdict(pair).items() if name != "differences"},
                "differences": [_as_row(difference) for difference in pair.differences],
            }
            for pair in found.pairs
        ],
        "unmatched_a": list(found.unmatched_a),
        "unmatched_b": list(found.unmatched_b),
    }


def _as_row(difference: "Difference") -> dict[str, Any]:
    return asdict(difference) | {"verdict": difference.verdict}


def _print_pair(pair: "Pair") -> None:
    lines = [f"{pair.common}:"] if pair.common else []
    lines += [f"A  {pair.name_a or 'the same'}", f"B  {pair.name_b or 'the same'}"]
    counts = sorted({difference.count for difference in pair.differences})
    if not counts:
        lines.append(
            "no replicate has results at both points: one of them has no answer, or only a bound of it; "
            "`destage explain point --where` with its condition says why"
        )
    else:
        number = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        lines.append(f"{number} pair{'' if counts == [1] else 's'} of replicates")
    if pair.shares_runs and pair.name_a != pair.name_b:
        lines.append("A and B have the same runs: the settings in which they differ have no effect")
    print_data("\n".join(lines) + "\n\n")
    rows = [_HEADINGS, *(_format(difference, with_count=len(counts) > 1) for difference in pair.differences)]
    for hidden in ((), _EXPENDABLE[:1], _EXPENDABLE):
        kept = [[cell for index, cell in enumerate(row) if index not in hidden] for row in rows]
        text = align_cells(kept, left=1, ends_in_text=True)
        if max(map(len, text.splitlines())) <= find_width():
            break
    if pair.differences:
        print_data(text)
    if hidden:
        titles = ", ".join(_HEADINGS[index] for index in hidden)
        print_note(f"hidden columns: {titles}; --format csv or --json prints all")


def _format(compared: "Difference", *, with_count: bool) -> tuple[str, ...]:
    """Return the cells of a result; the verdict has the number of pairs where results differ in it."""
    from destage.queries.text.presentation import (
        find_scale,
        format_count,
        format_number,
        format_rounded,
        title_column,
    )

    scale = find_scale(compared.column)

    def text(value: float) -> str:
        return format_rounded(value * scale)

    def difference() -> str:
        if compared.is_negligible:
            return "0"
        if compared.low is None or compared.high is None:
            return text(compared.difference)
        return f"{text(compared.difference)} ({text(compared.low)} to {text(compared.high)})"

    return (
        title_column(compared.column),
        format_number(compared.mean_a * scale),
        format_number(compared.mean_b * scale),
        difference(),
        "" if compared.ratio is None else format_rounded(compared.ratio),
        "" if compared.variance_reduction is None else format_rounded(compared.variance_reduction, 2),
        compared.verdict + (f" ({format_count(compared.count, 'pair')})" if with_count else ""),
    )


def _print_unmatched(side: str, names: "Sequence[str]") -> None:
    if not names:
        return
    listed = "; ".join(names[:_MOST_NAMED]) + ("; ..." if len(names) > _MOST_NAMED else "")
    print_note(f"{len(names)} point{'' if len(names) == 1 else 's'} of {side} without a partner: {listed}")
