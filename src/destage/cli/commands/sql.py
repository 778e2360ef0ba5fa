"""`destage sql`."""

from typing import Annotated

import typer

from destage.cli.options import Format, Json, Out, Store, SweepName
from destage.cli.rows import find_sweep, print_rows

Statement = Annotated[str, typer.Argument(metavar="STATEMENT", help="One SELECT or EXPLAIN statement.")]


def sql(
    sweep: SweepName,
    statement: Statement,
    form: Format = "table",
    out: Out = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Run a read-only SQL statement on a sweep's results.

    Views: runs, points, certified, replicates, answers, configurations, timeline. `destage columns` lists
    the result columns.
    """
    from destage.queries import open_session

    with open_session(find_sweep(sweep, store)) as session:
        print_rows(session.sql(statement), "json" if as_json else form, out, session.units)
