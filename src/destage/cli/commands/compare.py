"""`destage compare`."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

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
from destage.cli.terminal.output import print_json
from destage.cli.terminal.printed_rows import find_sweep, print_rows
from destage.errors import UsageError


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
    from destage.cli.printed_results import comparison_table
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
            print_json(comparison_table.as_json(comparison, *sides), out)
        elif form == "table" and out is None:
            comparison_table.print_comparison(comparison, *sides)
        else:
            rows = comparison_table.tabulate(comparison)
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
