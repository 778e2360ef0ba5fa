"""`destage sql`."""

import sys
from typing import Annotated

import typer

from destage.cli.completion import complete_statements
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
from destage.cli.rows import find_sweep, print_results, print_rows
from destage.errors import UsageError

_Statements = Annotated[
    str | None,
    typer.Argument(
        metavar="STATEMENTS",
        help="SELECT, DESCRIBE, PIVOT or EXPLAIN statements, separated by ; (default: a prompt on a "
        "terminal, otherwise statements from standard input).",
        autocompletion=complete_statements,
    ),
]


def sql(
    sweep: SweepName,
    statements: _Statements = None,
    form: Format = "table",
    out: Out = None,
    escape_formulas: EscapeFormulas = False,
    timeout: QueryTimeout = DEFAULT_TIMEOUT,
    max_rows: MaxRows = DEFAULT_ROWS,
    memory: Memory = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Run read-only SQL statements on a sweep's results.

    SHOW TABLES lists the relations and the named queries; DESCRIBE NAME explains the columns of one.
    At the prompt, a statement ends with ;, Tab completes names, and Ctrl-D exits.
    """
    from destage.queries import open_session

    limits = make_limits(timeout, max_rows, memory)
    form = "json" if as_json else form
    is_prompt = statements is None and sys.stdin.isatty()
    if is_prompt and out is not None:
        raise UsageError("usage.conflicting-options", "not allowed at the prompt; give a statement", "--out")
    with open_session(find_sweep(sweep, store), limits) as session:
        if is_prompt:
            from destage.cli.sql_prompt import run_prompt

            run_prompt(
                session,
                lambda rows: print_rows(
                    rows, form, None, session.public.units, escape_formulas=escape_formulas, session=session
                ),
            )
            return
        text = sys.stdin.buffer.read().decode(errors="surrogateescape") if statements is None else statements
        found = session.split(decode_argument(text))
        print_results(session, found, form, out, escape_formulas=escape_formulas)
