"""The verbs that ask a sweep's rows: query, sql, report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from destage.cli.options import Format, Out, Store, SweepName
from destage.cli.output import Json, print_data, print_json, print_pairs, say, warn
from destage.cli.table import print_table
from destage.errors import QueryError

if TYPE_CHECKING:
    import pyarrow as pa

    from destage.store import Location


def query(
    sweep: SweepName,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A named query; without it, they are listed.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="A parameter of the query.")
    ] = None,
    form: Format = "table",
    out: Out = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Answer a named question from a sweep's rows."""
    from destage.queries import named_queries, open_session
    from destage.queries.named import FITTING, find_query

    with open_session(_found(sweep, store)) as session:
        if name is None:
            names = {each.name for each in named_queries() if each.studies in FITTING[session.kind]}
            purposes = {each: find_query(each, session.kind).purpose for each in sorted(names)}
            print_json(purposes) if as_json else print_pairs(purposes)
            return
        rows = session.query(name, _parameters(param or []))
        _write(rows, "json" if as_json else form, out, session.units)


def sql(
    sweep: SweepName,
    statement: Annotated[str, typer.Argument(help="One SELECT or EXPLAIN.")],
    form: Format = "table",
    out: Out = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Ask a sweep's rows in SQL: views runs, points, certified, answers, configurations, timeline."""
    from destage.queries import open_session

    with open_session(_found(sweep, store)) as session:
        _write(session.sql(statement), "json" if as_json else form, out, session.units)


def report(
    sweep: SweepName,
    plot: Annotated[
        str | None,
        typer.Option("--plot", help="One figure as SVG instead of the report.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file; by default the sweep's report, or stdout for a figure."),
    ] = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Write a sweep's report, one HTML file that needs no network, and print where it is."""
    from destage.queries import open_session
    from destage.queries.report import draw_figure, write_report

    with open_session(_found(sweep, store)) as session:
        if plot is None:
            file = write_report(session, out)
        else:
            picture = draw_figure(session, plot)
            if out is None:
                print_data(picture)
                return
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(picture)
            file = out
    print_json({"file": str(file)}) if as_json else print_data(f"{file}\n")


def _found(sweep: str, store: "Location | None") -> "Location":
    """Find a sweep, and warn when its figures are not the last word."""
    from destage.store import find_sweep
    from destage.store.layout import SweepLayout

    path = find_sweep(sweep, store)
    if not SweepLayout(path).finished.is_file():
        warn(f"{path.name} is unfinished: these are the figures so far")
    return path


def _write(rows: "pa.Table", form: str, out: Path | None, units: dict[str, str]) -> None:
    from destage.queries.formats import encode

    if form == "table" and out is None:
        print_table(rows, units)
        return
    data = encode(rows, "markdown" if form == "table" else form, units)
    if out is None:
        print_data(data)
    else:
        out.write_bytes(data)
        say(f"{rows.num_rows} rows in {out}")


def _parameters(given: list[str]) -> dict[str, str]:
    parameters = {}
    for text in given:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise QueryError(f"--param {text!r}: write it as NAME=VALUE")
        parameters[name] = value
    return parameters
