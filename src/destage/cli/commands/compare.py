"""`destage compare`."""

from contextlib import ExitStack
from typing import Annotated

import typer

from destage.cli.options import EscapeFormulas, Format, Json, Out, Store, SweepName
from destage.cli.output import print_json
from destage.cli.rows import find_sweep, print_rows
from destage.errors import UsageError


def compare(
    sweep: SweepName,
    other: Annotated[
        str | None,
        typer.Argument(metavar="OTHER", help="The sweep of the points B (default: the same sweep)."),
    ] = None,
    a: Annotated[
        list[str] | None,
        typer.Option(
            "--a",
            metavar="CONDITIONS",
            help="Points that are A, as in 'cache_capacity=0,raid=5'; repeatable.",
        ),
    ] = None,
    b: Annotated[
        list[str] | None,
        typer.Option("--b", metavar="CONDITIONS", help="Points that are B, in the same form."),
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
    form: Format = "table",
    out: Out = None,
    escape_formulas: EscapeFormulas = False,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Compare points of one sweep or of two, replicate by replicate.

    Points are matched by the axes that no condition names. Prints the difference B - A with its 95 % interval
    over replicates, which use common random numbers.
    """
    from destage.cli import comparison_table
    from destage.queries import open_session
    from destage.queries.point_choice import choose_points
    from destage.queries.point_pairs import Side, compare_points

    if other is None and not (a and b):
        message = "one sweep needs --a and --b; or give a second sweep"
        raise UsageError("usage.conflicting-options", message, "--b" if a else "--a")
    with ExitStack() as stack:
        first = stack.enter_context(open_session(find_sweep(sweep, store)))
        second = first if other is None else stack.enter_context(open_session(find_sweep(other, store)))
        sides = (
            Side(first, choose_points(first, a or (), "--a")),
            Side(second, choose_points(second, b or (), "--b")),
        )
        wanted = [name.strip() for name in (columns or "").split(",") if name.strip()]
        found = compare_points(*sides, wanted)
        if as_json:
            print_json(comparison_table.as_json(found, *sides))
        elif form == "table" and out is None:
            comparison_table.print_comparison(found, *sides)
        else:
            rows = comparison_table.tabulate(found)
            print_rows(rows, form, out, {}, escape_formulas=escape_formulas)
