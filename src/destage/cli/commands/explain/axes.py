"""`destage explain axes`."""

from pathlib import Path
from typing import Annotated

import typer

from destage.cli.parameters.part_options import split_list
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


def axes(
    sweep: SweepName,
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of",
            metavar="RESULT,...",
            help="The answer of the seek, or result columns, as in response_p95,throughput; repeatable "
            "(default: the result of the study).",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        declare_conditions(
            "--where", "Points to use, an SQL condition as in \"raid = '5' AND disks > 4\" (default: all)."
        ),
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Print the shares of pairs of axes instead of those of axes.")
    ] = False,
    plot: Annotated[Path | None, declare_plot("Write the chart to FILE (.svg).")] = None,
    form: Format = "table",
    out: Out = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show how much each axis of a sweep matters for a result.

    Prints the share of the variance of the result that each axis explains: alone (first order) and together
    with other axes (total order). Grids and Saltelli designs have both, other points the first order; Morris
    designs have mean changes over the range of an axis. Computed within each replicate, with 95 % intervals.
    """
    from destage.errors import QueryError
    from destage.queries import open_session
    from destage.queries.pairs.point_choice import choose_points
    from destage.queries.report.charts.sensitivity_chart import build_sensitivity_chart
    from destage.queries.report.drawing.svg import draw
    from destage.queries.text.sensitivity_text import (
        describe_method,
        describe_sensitivity,
        has_shares,
        tabulate_axes,
    )
    from destage.sweeps.execution.analyses import analyse_sweep
    from destage.sweeps.keys.sensitivity_key import find_result

    check_suffix(plot, "--plot", ".svg")
    with open_session(find_sweep(sweep, store)) as session:
        named = [name for listed in of or () for name in split_list(listed)]
        results = [find_result(name, session.metric, "--of") for name in named or [session.result]]
        points = choose_points(session, where, "--where").written if where else None
        tables = analyse_sweep(session.sweep, list(dict.fromkeys(results)), points)
        rows = tables["sensitivity"].to_pylist()
        if not rows:
            message = "no axis varies over the points that have a value of the result"
            raise QueryError("query.no-rows", message, sweep)
        if pairs and not as_json and not tables["interactions"].num_rows:
            message = "pairs have shares on a full grid, or with a saltelli design of second order"
            raise QueryError("query.no-rows", message, "--pairs")
        if plot is not None and has_shares(rows):
            plot.write_text(draw(build_sensitivity_chart(rows), standalone=True) + "\n", encoding="utf-8")
        wanted = tables["interactions" if pairs else "sensitivity"]
        if as_json:
            print_json({name: table.to_pylist() for name, table in tables.items()}, out)
        elif pairs or form != "table" or out is not None:
            print_rows(wanted, form, out, session.units)
        else:
            for name in dict.fromkeys(row["metric"] for row in rows):
                own = [row for row in rows if row["metric"] == name]
                print_data("".join(f"{sentence}\n" for sentence in describe_sensitivity(own)) + "\n")
                if (shares := tabulate_axes(own)).num_columns > 1:
                    print_rows(shares, "table", None, {})
                print_note(describe_method(own))
    if plot is not None:
        print_note(f"chart: {plot}" if has_shares(rows) else "no chart: no axis has a share")
