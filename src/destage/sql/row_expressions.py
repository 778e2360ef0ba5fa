"""Expressions of one row: those whose value is a function of the columns of that row alone."""

from dataclasses import dataclass

import duckdb

from destage.sql.syntax_trees import parse_expression, walk

_CLOCK = frozenset({"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"})
"""Functions that SQL calls without brackets."""
_UNMARKED = frozenset({"age"})
"""Functions that DuckDB takes for deterministic; with one argument, `age` counts from today."""
_OTHER_ROWS = {
    "WINDOW": "a window function",
    "SUBQUERY": "a subquery",
    "STAR": "a star",
    "POSITIONAL_REFERENCE": "a column by its number",
}
"""Syntax whose value depends on other rows, or on columns that are not the user's."""


@dataclass(frozen=True, slots=True)
class Dependence:
    """What makes the value of an expression depend on more than the columns of its row.

    Attributes:
        part: The function or syntax.
        is_random: Whether the value differs from call to call, as that of `random()`.
    """

    part: str
    is_random: bool


def find_dependence(expression: str) -> Dependence | None:
    """Return why an expression is not a function of its row; None if it is one, or is not valid SQL."""
    with duckdb.connect(":memory:") as connection:
        return _find(connection, expression, frozenset())


def _find(
    connection: duckdb.DuckDBPyConnection, expression: str, callers: frozenset[str]
) -> Dependence | None:
    nodes = list(walk(parse_expression(connection, expression)))
    called = {
        node["function_name"].lower()
        for node in nodes
        if node.get("class") == "FUNCTION" and not node["is_operator"]
    }
    if called - callers and (found := _find_in_functions(connection, called - callers, callers)) is not None:
        return found
    for node in nodes:
        kind = str(node.get("class"))
        if kind in _OTHER_ROWS:
            return Dependence(_OTHER_ROWS[kind], is_random=False)
        if kind == "COLUMN_REF":
            first = str(node["column_names"][0])
            if first.lower() in _CLOCK:
                return Dependence(first, is_random=True)
            # The table of the rows and their numbers, which are not columns of the user.
            if first.startswith("_"):
                return Dependence(f"the name {first}", is_random=False)
    return None


def _find_in_functions(
    connection: duckdb.DuckDBPyConnection, names: set[str], callers: frozenset[str]
) -> Dependence | None:
    rows = connection.execute(
        "SELECT function_name, function_type, stability, macro_definition FROM duckdb_functions() "
        "WHERE list_contains(?, function_name) ORDER BY ALL",
        [list(names)],
    ).fetchall()
    for name, kind, stability, macro in rows:
        if name in _UNMARKED or stability not in {None, "CONSISTENT"}:
            return Dependence(f"{name}()", is_random=True)
        if kind == "aggregate":
            shown = "count(*)" if name == "count_star" else f"{name}()"
            return Dependence(f"the aggregate {shown}", is_random=False)
        # A macro has the nature of what it calls, which may be a macro too.
        inner = _find(connection, macro, callers | names) if macro else None
        if inner is not None:
            return Dependence(f"{name}()", inner.is_random)
    return None
