"""`destage query`."""

import re
import sys
from functools import partial
from typing import Annotated

import typer

from destage.cli.parameters.completion import complete_questions
from destage.cli.parameters.shared_options import (
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
    split_assignment,
)
from destage.cli.terminal.output import print_json, print_pairs
from destage.cli.terminal.printed_rows import find_sweep, print_results, print_rows
from destage.cli.terminal.terminal_text import note_left_out
from destage.errors import UsageError

_LIST = "design_space"
"""The query with a row per point, of which a table shows the most important ones."""
_NAME = re.compile(r"[^\s;()]+")
"""What may name a query; everything else is a statement."""
_STDIN = "-"


def query(
    sweep: SweepName,
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME|STATEMENTS",
            help="A named query; SELECT, DESCRIBE, PIVOT or EXPLAIN statements with semicolons between; or - "
            "for a prompt on a terminal, else statements from standard input (default: list the queries).",
            autocompletion=complete_questions,
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", metavar="NAME=VALUE", help="Set a parameter of a named query; repeatable."),
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
    """Run a named query or read-only SQL on a sweep's results.

    SHOW TABLES lists the relations and the named queries; DESCRIBE NAME explains the columns of one.
    At the prompt, a statement ends with ;, Tab completes names, and Ctrl-D exits.
    """
    from destage.queries import open_session

    parameters = dict(split_assignment(text, "--param", "idle=1") for text in param or [])
    is_name = question is not None and question != _STDIN and _NAME.fullmatch(question) is not None
    if parameters and not is_name:
        raise UsageError("usage.conflicting-options", "requires a named query", "--param")
    is_prompt = question == _STDIN and sys.stdin.isatty()
    if is_prompt and out is not None:
        raise UsageError("usage.conflicting-options", "not allowed at the prompt; give a statement", "--out")
    limits = make_limits(timeout, max_rows, memory)
    chosen: str = "json" if as_json else form
    show = partial(print_rows, escape_formulas=escape_formulas)
    with open_session(find_sweep(sweep, store), limits) as session:
        if question is None:
            purposes = {named_query.name: named_query.purpose for named_query in session.queries.values()}
            print_json(purposes, out) if as_json else print_pairs(purposes)
        elif is_prompt:
            from destage.cli.sql_prompt import run_prompt

            run_prompt(session, lambda rows: show(rows, chosen, None, session.public.units, session=session))
        elif is_name:
            # Imported here because a statement needs none of the report, which takes long to import.
            from destage.queries.report.sentences.excerpt import MOST_LISTED, describe_excerpt, open_excerpt
            from destage.queries.text.plain_values import name_products

            # A query that aggregates points needs all of them.
            is_list = question == _LIST and chosen == "table" and out is None
            shown = open_excerpt(session, MOST_LISTED) if is_list else session
            table = shown.query(question, parameters)
            rows = shown.name_columns(name_products(table) if chosen in {"table", "markdown"} else table)
            show(rows, chosen, out, shown.find_units(question, parameters), session=shown)
            note_left_out(describe_excerpt(shown), sweep)
        else:
            if question == _STDIN:
                question = sys.stdin.buffer.read().decode(errors="surrogateescape")
            statements = session.split(decode_argument(question))
            print_results(session, statements, chosen, out, escape_formulas=escape_formulas)
