"""`destage explain ranges`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from destage.cli.parameters.shared_options import (
    Format,
    Json,
    Out,
    Store,
    SweepName,
    check_suffix,
    declare_conditions,
    declare_plot,
)
from destage.cli.terminal.output import print_data, print_json, print_note
from destage.cli.terminal.printed_rows import find_sweep, print_rows
from destage.errors import UsageError

if TYPE_CHECKING:
    from destage.queries import Session
    from destage.queries.pairs.discovered_box import Discovery


def ranges(
    sweep: SweepName,
    where: Annotated[
        str,
        declare_conditions("--where", "The statement, an SQL condition over the columns that tables show."),
    ],
    against: Annotated[
        list[str] | None,
        declare_conditions(
            "--against",
            "Compare each point with the one that meets this SQL condition and is otherwise equal, as in "
            "'cache_capacity = 0'; its columns are base.NAME.",
        ),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option("--coverage", help="Choose the densest box of at least this coverage."),
    ] = None,
    density: Annotated[
        float | None,
        typer.Option("--density", help="Choose the box with the largest coverage of at least this density."),
    ] = None,
    plot: Annotated[Path | None, declare_plot("Write a picture of the two main axes to FILE (.svg).")] = None,
    form: Format = "table",
    out: Out = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Find the ranges of the axes under which a statement holds.

    Prints the box of points that has most of the cases, the points where the statement holds, and few others:
    its density is the share of cases among the points inside, its coverage the share of all cases that are
    inside. By default, the box has the largest harmonic mean of both.
    """
    from destage.cli.printed_results import discovery_table
    from destage.discovery.choice import Rule
    from destage.queries import open_session
    from destage.queries.pairs.discovered_box import discover

    _check_options(coverage, density, plot)
    with open_session(find_sweep(sweep, store)) as session:
        discovery = discover(session, where, against or (), Rule(coverage, density))
        if as_json:
            print_json(discovery_table.as_json(discovery), out)
        elif form != "table" or out is not None:
            print_rows(discovery_table.tabulate(discovery), form, out, session.units)
        else:
            print_data(f"{discovery.answer}\n")
            if discovery.limits:
                print_data("\n")
                print_rows(discovery_table.present_limits(discovery), "table", None, {})
        for note in discovery_table.list_notes(discovery):
            print_note(note)
        if plot is not None:
            _write_picture(discovery, session, plot)


def _write_picture(discovery: "Discovery", session: "Session", file: Path) -> None:
    from destage.queries.report.drawing.box_picture import draw_box

    if discovery.box is None or not discovery.limits:
        print_note("no picture: there is no box with limits")
        return
    file.write_text(draw_box(discovery, session.units), encoding="utf-8")
    print_note(f"picture: {file}")


def _check_options(coverage: float | None, density: float | None, plot: Path | None) -> None:
    if plot is not None:
        check_suffix(plot, "--plot", ".svg")
    if coverage is not None and density is not None:
        message = "set --coverage or --density, not both: the other one is then maximized"
        raise UsageError("usage.conflicting-options", message, "--density")
    for option, share in (("--coverage", coverage), ("--density", density)):
        if share is not None and not 0 < share <= 1:
            raise UsageError("usage.out-of-range", f"{share}: must be above 0 and at most 1", option)
