"""`destage sql`."""

from typing import Annotated

import typer

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
    decode_argument,
    make_limits,
)
from destage.cli.rows import find_sweep, print_rows

Statement = Annotated[str, typer.Argument(metavar="STATEMENT", help="One SELECT or EXPLAIN statement.")]


def sql(
    sweep: SweepName,
    statement: Statement,
    form: Format = "table",
    out: Out = None,
    escape_formulas: EscapeFormulas = False,
    timeout: QueryTimeout = DEFAULT_TIMEOUT,
    max_rows: MaxRows = DEFAULT_ROWS,
    memory: Memory = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Run a read-only SQL statement on a sweep's results.

    Views: runs, points, certified, replicates, answers, configurations, timeline. `destage columns` lists
    the result columns.
    """
    from destage.queries import open_session

    limits = make_limits(timeout, max_rows, memory)
    with open_session(find_sweep(sweep, store), limits) as session:
        form = "json" if as_json else form
        print_rows(
            session.sql(decode_argument(statement)), form, out, session.units, escape_formulas=escape_formulas
        )
