"""Which columns of a statement's rows are those of a relation, with their name and values."""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from destage.sql.syntax_trees import parse_statement

PUBLIC = "sweep"
"""The schema of the views that a user's statements read, before those of Destage itself."""

_Columns = dict[str, bool]
"""Whether each column of a relation [name in lower case] is unchanged. One that is not listed is computed."""
_QUALIFIED = 2
"""Parts of a column's name with that of its relation."""


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
            known = self._relations if schema else {**self._relations, **named}
            columns = {} if schema not in {"", PUBLIC} else known.get(name, {})
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
        found = [sources[qualifiers[-1]]] if qualifiers[-1] in sources else []
    else:
        found = [columns for columns in sources.values() if name in columns]
    is_unchanged = bool(found) and all(columns.get(name, False) for columns in found)
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
