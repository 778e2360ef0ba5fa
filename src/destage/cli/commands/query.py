"""`destage query`."""

from typing import Annotated

import typer

from destage.cli.completion import complete_queries
from destage.cli.options import (
    DEFAULT_ROWS,
    DEFAULT_TIMEOUT,
    EscapeFormulas,
    Format,
    Json,
    MaxRows,
    Memory,
    Out,
    QueryTimeout,
    Store,
    SweepName,
    make_limits,
    split_assignment,
)
from destage.cli.output import print_json, print_pairs
from destage.cli.rows import find_sweep, note_left_out, print_rows

_LIST = "design_space"
"""The query with a row per point, of which a table shows the most important ones."""


def query(
    sweep: SweepName,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Named query to run (default: list all).",
            autocompletion=complete_queries,
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", metavar="NAME=VALUE", help="Set a parameter of the query; repeatable."),
    ] = None,
    form: Format = "table",
    out: Out = None,
    escape_formulas: EscapeFormulas = False,
    timeout: QueryTimeout = DEFAULT_TIMEOUT,
    max_rows: MaxRows = DEFAULT_ROWS,
    memory: Memory = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Run a named query on a sweep's results."""
    from destage.queries import open_session
    from destage.queries.product_names import name_products
    from destage.queries.report.excerpt import MOST_LISTED, describe_excerpt, open_excerpt

    parameters = dict(split_assignment(text, "--param", "idle=1") for text in param or [])
    limits = make_limits(timeout, max_rows, memory)
    with open_session(find_sweep(sweep, store), limits) as session:
        if name is None:
            purposes = {each.name: each.purpose for each in session.queries.values()}
            print_json(purposes) if as_json else print_pairs(purposes)
            return
        form = "json" if as_json else form
        # A query that aggregates points needs all of them.
        is_list = name == _LIST and form == "table" and out is None
        shown = open_excerpt(session, MOST_LISTED) if is_list else session
        found = shown.query(name, parameters)
        rows = shown.name_columns(name_products(found) if form in {"table", "markdown"} else found)
        units = shown.find_units(name, parameters)
        print_rows(rows, form, out, units, escape_formulas=escape_formulas, session=shown)
        note_left_out(describe_excerpt(shown), sweep)
