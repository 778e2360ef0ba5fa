"""`destage report`."""

from pathlib import Path
from typing import Annotated

import typer

from destage.cli.completion import complete_measured_sets
from destage.cli.options import Json, Store, SweepName
from destage.cli.output import print_data, print_json, print_note
from destage.cli.prose import wrap_lines
from destage.cli.rows import find_sweep


def report(
    sweep: SweepName,
    plot: Annotated[
        str | None,
        typer.Option("--plot", metavar="FIGURE", help="Write one figure as SVG instead of the report."),
    ] = None,
    measured: Annotated[
        str | None,
        typer.Option(
            "--measured",
            metavar="NAME",
            help="A measured set of the store, drawn beside the simulated points (figure measured).",
            autocompletion=complete_measured_sets,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write to FILE (default: the sweep's directory; stdout for a figure).",
        ),
    ] = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Print a sweep's answer and write its report.

    The report is one self-contained HTML file.
    """
    from destage.queries import open_session
    from destage.queries.report import compose_answer, draw_figure, write_report

    with open_session(find_sweep(sweep, store)) as session:
        figures = None if measured is None else session.read_measured(measured)
        if plot is None:
            answer = compose_answer(session)
            file = write_report(session, out, figures)
            if as_json:
                print_json({"file": str(file), "answer": answer})
            else:
                print_data(wrap_lines(answer))
                print_note(f"report: {file}")
            return
        picture = draw_figure(session, plot, figures)
    if out is None:
        print_data(picture)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(picture)
    print_json({"file": str(out)}) if as_json else print_data(f"{out}\n")
