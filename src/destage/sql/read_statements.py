"""The statements that a database takes from its users: those that read, one or several.

DESCRIBE, SHOW, SUMMARIZE, UNPIVOT and VALUES are a SELECT to DuckDB. A PIVOT that finds its columns in the
rows is several statements, of which one creates a type; it is allowed where it can stand in a subquery, which
no statement that changes anything can.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from destage.errors import QueryError
from destage.sql.failures import read_details, read_message

_EXPLAIN = re.compile(
    r"(?P<space>(?:\s|--[^\n]*\n|/\*.*?\*/)*)EXPLAIN\b(?:\s+ANALYZE\b|\s*\([^()]*\))?",
    re.IGNORECASE | re.DOTALL,
)
_END = re.compile(r"(?:\s|;)+\Z")


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """One statement that reads.

    Attributes:
        explain: The EXPLAIN before it, if any.
        select: What reads.
        is_compound: Whether DuckDB runs it in several parts.
    """

    explain: str
    select: str
    is_compound: bool = False


def split_statements(
    connection: duckdb.DuckDBPyConnection, text: str, names: Mapping[str, str] | None = None
) -> list[ReadStatement]:
    """Return the statements of a text, none of which has been run.

    Args:
        names: How to write the columns that have a dotted path, for an error about a path without quotes.

    Raises:
        QueryError: The text has no statement, is not valid SQL, or one of its statements does not only read.
    """
    statements = _extract(connection, text, names or {})
    if not statements:
        message = "no statement; write a SELECT, DESCRIBE, PIVOT or EXPLAIN"
        raise QueryError("query.no-statement", message)
    return [_check(connection, statement, kind, names or {}) for kind, statement in statements]


def _check(
    connection: duckdb.DuckDBPyConnection, statement: str, kind: str, names: Mapping[str, str]
) -> ReadStatement:
    text = _END.sub("", statement)
    prefix = _EXPLAIN.match(text)
    explain = ""
    if prefix is not None:
        explain, text = prefix.group(), text[prefix.end() :]
        kinds = [kind for kind, _ in _extract(connection, text, names)]
    elif kind == "EXPLAIN":
        raise QueryError(
            "query.statement-not-allowed",
            "this form of EXPLAIN is not allowed; write EXPLAIN or EXPLAIN ANALYZE before a SELECT",
            data={"types": [kind]},
        )
    else:
        kinds = [kind]
    if kinds == ["SELECT"] or (kinds == ["MULTI"] and _is_subquery(connection, text)):
        return ReadStatement(explain, text, kinds == ["MULTI"])
    raise QueryError(
        "query.statement-not-allowed",
        f"{' '.join(kinds)} is not allowed; write a SELECT, DESCRIBE, PIVOT or EXPLAIN",
        data={"types": kinds},
    )


def _is_subquery(connection: duckdb.DuckDBPyConnection, text: str) -> bool:
    """Return whether a statement of several parts is valid within brackets, as only a query is."""
    try:
        statements = connection.extract_statements(f"FROM (\n{text}\n)")
    except duckdb.Error:
        return False
    return len(statements) == 1


def _extract(
    connection: duckdb.DuckDBPyConnection, text: str, names: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the kind and the text of each statement."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise QueryError("query.bad-syntax", "invalid UTF-8") from error
    if "\0" in text:
        raise QueryError("query.bad-syntax", "a statement has a NUL character; remove it")
    try:
        return [(_name_kind(statement), statement.query) for statement in connection.extract_statements(text)]
    except duckdb.Error as error:
        message = read_message(read_details(error))
        unquoted = [path for path in names if re.search(rf'(?<!["\w.]){re.escape(path)}(?!["\w])', text)]
        if unquoted:
            message += f"; write an axis by its name: {', '.join(names[path] for path in unquoted)}"
        raise QueryError("query.bad-syntax", message, data={"unquoted": unquoted}) from error


def _name_kind(statement: duckdb.Statement) -> str:
    try:
        return statement.type.name
    except ValueError:
        # DuckDB has kinds that its Python package does not know, such as UPDATE EXTENSIONS.
        return " ".join(statement.query.split()[:2]).rstrip(";").upper()
