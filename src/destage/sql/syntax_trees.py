"""The syntax tree of a statement: the columns that it names, and quantities that it compares with them."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import duckdb

from destage.errors import ConfigError
from destage.spec import quantities

_COMPARED = {"COMPARISON": ("left", "right"), "BETWEEN": ("input", "lower", "upper")}
"""The operands of comparisons; those of IN are a list."""


def parse_statement(connection: duckdb.DuckDBPyConnection, statement: str) -> Any:
    """Return the syntax tree of a statement; only an `error` if it is not valid, or not shown, as PIVOT."""
    text = statement.encode(errors="replace").decode()
    try:
        row = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [text]).fetchone()
        return json.loads(row[0]) if row else {"error": True}
    except (duckdb.Error, RecursionError):
        return {"error": True}


def parse_expression(connection: duckdb.DuckDBPyConnection, expression: str) -> object:
    """Return the syntax tree of an expression; see `parse_statement`."""
    return parse_statement(connection, f"SELECT (\n{expression}\n)")


def walk(tree: object) -> Iterator[dict[str, Any]]:
    """Yield every table of a tree, one before those in it."""
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            yield node
        if isinstance(node, dict | list):
            left += reversed(list(node.values()) if isinstance(node, dict) else node)


def find_columns(expression: str) -> frozenset[str]:
    """Return the columns that an expression names, without the names of their tables."""
    with duckdb.connect(":memory:") as connection:
        nodes = list(walk(parse_expression(connection, expression)))
    return frozenset(str(node["column_names"][-1]) for node in nodes if node.get("class") == "COLUMN_REF")


def replace_quantities(statement: str, find_unit: Callable[[str], str | None]) -> str:
    """Return a statement with quantities in the unit of the column that they are compared with.

    `cache_capacity = '64MiB'` becomes `cache_capacity = 67108864`: a column that has a unit has numbers.

    Args:
        find_unit: Returns the base unit of a column, if it has one.
    """
    if "'" not in statement:
        return statement
    with duckdb.connect(":memory:") as connection:
        tree = parse_statement(connection, statement)
    values = {
        (operand["query_location"], operand["query_location_length"]): value
        for node in walk(tree)
        for operand, value in _read_quantities(_list_operands(node), find_unit)
    }
    text = statement.encode(errors="replace")
    for (start, length), value in sorted(values.items(), reverse=True):
        text = text[:start] + repr(value).encode() + text[start + length :]
    return text.decode() if values else statement


def _list_operands(node: dict[str, Any]) -> list[dict[str, Any]]:
    if node.get("type") in {"COMPARE_IN", "COMPARE_NOT_IN"}:
        return list(node["children"])
    return [node[name] for name in _COMPARED.get(str(node.get("class")), ())]


def _read_quantities(
    operands: list[dict[str, Any]], find_unit: Callable[[str], str | None]
) -> Iterator[tuple[dict[str, Any], int | float]]:
    """Yield the texts among operands with their values in the unit of the column among them."""
    columns = [each["column_names"][-1] for each in operands if each["class"] == "COLUMN_REF"]
    units = [unit for unit in map(find_unit, columns) if unit is not None and unit in quantities.UNITS]
    for operand in operands if units else ():
        literal = operand.get("literal") or {}
        # DuckDB itself reads a text that is a number without a unit.
        if literal.get("kind") == "STRING" and not literal["text"][-1:].isdigit():
            try:
                yield operand, quantities.parse(literal["text"], units[0])
            except ConfigError:
                continue  # DuckDB says that the text is not a number.
