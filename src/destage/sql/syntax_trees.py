"""DuckDB's syntax trees of statements: the columns that they read, and conditions on rows.

Read from them: the columns that a statement names and the quantities that it compares with them; which
columns of its rows are those of a relation, with their name and values; and which expressions are of one row,
a function of the columns of that row alone.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    columns = [operand["column_names"][-1] for operand in operands if operand["class"] == "COLUMN_REF"]
    units = [unit for unit in map(find_unit, columns) if unit is not None and unit in quantities.UNITS]
    for operand in operands if units else ():
        literal = operand.get("literal") or {}
        # DuckDB itself reads a text that is a number without a unit.
        if literal.get("kind") == "STRING" and not literal["text"][-1:].isdigit():
            try:
                yield operand, quantities.parse(literal["text"], units[0])
            except ConfigError:
                continue  # DuckDB says that the text is not a number.


PUBLIC = "sweep"
"""The schema of the views that a user's statements read, before those of Destage itself."""

_Columns = dict[str, bool]
"""Whether each column of a relation [name in lower case] is unchanged. One that is not listed is computed."""


def find_unchanged(
    connection: duckdb.DuckDBPyConnection, select: str, relations: Mapping[str, Sequence[str]]
) -> frozenset[str]:
    """Return the columns [names in lower case] that a SELECT takes from relations as they are.

    A column of a subquery, a join or a UNION is one if it is in each of its parts. Statements that DuckDB
    does not show as a tree, such as PIVOT, have none.

    Args:
        relations: The columns of each relation.
    """
    try:
        parsed = parse_statement(connection, select)
        if parsed["error"]:
            return frozenset()
        columns = _Lineage(relations).read(parsed["statements"][0]["node"], {})
    except RecursionError:
        return frozenset()
    return frozenset(name for name, is_unchanged in columns.items() if is_unchanged)


class _Lineage:
    """The columns of the parts of one statement."""

    def __init__(self, relations: Mapping[str, Sequence[str]]) -> None:
        self._relations = {
            name.lower(): dict.fromkeys(map(str.lower, columns), True) for name, columns in relations.items()
        }

    def read(self, node: Mapping[str, Any], outer: Mapping[str, _Columns]) -> _Columns:
        """Return the columns of a query.

        Args:
            outer: The columns of the common table expressions that it may name.
        """
        named = dict(outer)
        for entry in node["cte_map"]["map"]:
            value = entry["value"]
            columns = self.read(_node(value["query"] if "query" in value else value["query_node"]), named)
            named[entry["key"].lower()] = {} if value["aliases"] else columns
        if node["type"] == "SET_OPERATION_NODE":
            parts = [self.read(part, named) for part in _parts(node)]
            if any(list(part) != list(parts[0]) for part in parts):
                return {}
            return {name: all(part[name] for part in parts) for name in parts[0]}
        if node["type"] != "SELECT_NODE":
            return {}
        sources = self._sources(node["from_table"], named)
        selected: _Columns = {}
        for item in node["select_list"]:
            for name, is_unchanged in _select(item, sources):
                selected[name] = is_unchanged and selected.get(name, True)
        return selected

    def _sources(self, table: Mapping[str, Any] | None, named: Mapping[str, _Columns]) -> dict[str, _Columns]:
        """Return the columns of each relation of a FROM clause, by its alias."""
        kind = None if table is None else table["type"]
        if table is None or kind not in {"BASE_TABLE", "SUBQUERY", "JOIN"}:
            return {}
        if kind == "JOIN":
            left, right = (self._sources(table[side], named) for side in ("left", "right"))
            return left | right if not left.keys() & right.keys() else {}
        if kind == "SUBQUERY":
            name, columns = "", self.read(_node(table["subquery"]), named)
        else:
            name = table["table_name"].lower()
            schema = table["schema_name"].lower()
            relations = self._relations if schema else {**self._relations, **named}
            columns = {} if schema not in {"", PUBLIC} else relations.get(name, {})
        alias = (table["alias"] or name).lower()
        return {alias: {} if table["column_name_alias"] else columns}


def _node(query: Mapping[str, Any]) -> Mapping[str, Any]:
    node: Mapping[str, Any] = query.get("node", query)
    return node


def _parts(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return node["children"] if node.get("children") else [node["left"], node["right"]]


def _select(item: Mapping[str, Any], sources: Mapping[str, _Columns]) -> list[tuple[str, bool]]:
    """Return the columns of one entry of a SELECT list, each with whether it is unchanged."""
    if item["class"] == "STAR":
        return _expand(item, sources)
    if item["class"] != "COLUMN_REF":
        return [(item["alias"].lower(), False)]
    *qualifiers, name = (part.lower() for part in item["column_names"])
    if qualifiers:
        # A field of a STRUCT is written in the same way as a column of a relation.
        origins = [sources[qualifiers[-1]]] if qualifiers[-1] in sources else []
    else:
        origins = [columns for columns in sources.values() if name in columns]
    is_unchanged = bool(origins) and all(columns.get(name, False) for columns in origins)
    alias = item["alias"].lower()
    return [(alias or name, is_unchanged and alias in {"", name})]


def _expand(item: Mapping[str, Any], sources: Mapping[str, _Columns]) -> list[tuple[str, bool]]:
    """Return the columns of `*`, `x.*` or COLUMNS; of the last, all that it may have."""
    if item["alias"]:
        return [(item["alias"].lower(), False)]
    wanted = item["relation_name"].lower()
    left_out = {str(name).lower() for name in item["exclude_list"]}
    replaced = {entry["key"].lower() for entry in item["replace_list"]}
    renamed = {_renamed(entry).lower(): entry["value"].lower() for entry in item["rename_list"]}
    return [
        (renamed.get(name, name), is_unchanged and name not in replaced and name not in renamed)
        for alias, columns in sources.items()
        if wanted in {"", alias}
        for name, is_unchanged in columns.items()
        if name not in left_out
    ]


def _renamed(entry: Mapping[str, Any]) -> str:
    key = entry["key"]
    return str(key if isinstance(key, str) else key["column"])


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
    if called - callers and (cause := _find_in_functions(connection, called - callers, callers)) is not None:
        return cause
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
