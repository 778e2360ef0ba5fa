"""SQL statements as texts: names and literals in them, and those that a database takes from its users.

DESCRIBE, SHOW, SUMMARIZE, UNPIVOT and VALUES are a SELECT to DuckDB. A PIVOT that finds its columns in the
rows is several statements, of which one creates a type; it is allowed where it can stand in a subquery, which
no statement that changes anything can.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import duckdb
from duckdb import sqltypes

from destage.errors import QueryError
from destage.spec.axis_names import name_axes
from destage.sql.limits import read_details, read_message

_QUALIFIER = r"(?<![\w.\"]){}\s*\.(?=\s*[A-Za-z_\"])"


def quote(name: str) -> str:
    """Return a column or table name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def quote_texts(texts: Iterable[str]) -> str:
    """Return texts as an SQL list."""
    return f"[{', '.join(map(quote_text, texts))}]"


@cache
def list_reserved_words() -> frozenset[str]:
    """Return the words of SQL that cannot name a column without quotes."""
    with duckdb.connect(":memory:") as connection:
        rows = connection.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
        ).fetchall()
    return frozenset(word for (word,) in rows)


def find_qualifiers(expression: str, names: Iterable[str]) -> list[str]:
    """Return the table names that qualify columns of an expression, as in `on.reads / off.reads`."""
    return [name for name in names if re.search(_QUALIFIER.format(re.escape(name)), expression)]


def join_statement(expression: str, tables: Mapping[str, str], keys: Sequence[str] = ()) -> str:
    """Return the statement of an expression's `value` for each replicate that all its tables have.

    Args:
        expression: An SQL expression over the tables' columns; a table's name may be a reserved word.
        tables: A table name or a statement in brackets, by the name in the expression; empty for plain
            arithmetic.
        keys: Columns to join on besides the replicate; they are columns of the result.
    """
    for name in tables:
        expression = re.sub(_QUALIFIER.format(re.escape(name)), f"{quote(name)}.", expression)
    if not tables:
        return f"SELECT (\n{expression}\n)::DOUBLE AS value"
    on = ", ".join(["replicate", *map(quote, keys)])
    first, *others = (f"{table} AS {quote(name)}" for name, table in tables.items())
    joined = "".join(f" JOIN {table} USING ({on})" for table in others)
    return f"SELECT {on}, (\n{expression}\n)::DOUBLE AS value FROM {first}{joined} ORDER BY {on}"


# DuckDB has types that Arrow lacks or whose values it changes; their values become texts. Without this, the
# largest UHUGEINT is -1, a time loses its zone, and BIT, GEOMETRY and VARIANT are bytes.
_TEXTS = frozenset({"bignum", "bit", "geometry", "time with time zone", "uhugeint", "variant"})


def replace_types(rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return rows whose columns all have types of Arrow, within nested types too."""
    replaced = [_replace(kind) for kind in rows.types]
    if not any(replaced):
        return rows
    columns = (
        f"{f'CAST(#{position} AS {kind})' if kind else f'#{position}'} AS {quote(name)}"
        for position, (name, kind) in enumerate(zip(rows.columns, replaced, strict=True), 1)
    )
    return rows.project(", ".join(columns))


def _replace(kind: sqltypes.DuckDBPyType) -> str | None:
    """Return the SQL type to cast a type to, if any."""
    if kind.id in _TEXTS:
        return "VARCHAR"
    if kind.id not in ("list", "array", "struct", "tuple", "map", "union"):
        return None
    members = [(name, member) for name, member in kind.children if isinstance(member, sqltypes.DuckDBPyType)]
    if kind.id == "union":
        members = members[1:]  # the first is its tag
    replaced = [_replace(member) for _, member in members]
    if not any(replaced):
        return None
    kinds = [new or str(member) for new, (_, member) in zip(replaced, members, strict=True)]
    if kind.id == "list":
        written = f"{kinds[0]}[]"
    elif kind.id == "array":
        written = f"{kinds[0]}[{dict(kind.children)['size']}]"
    elif kind.id in ("struct", "union"):
        named = (f"{quote(name)} {new}" for (name, _), new in zip(members, kinds, strict=True))
        written = f"{kind.id}({', '.join(named)})"
    else:
        written = f"{kind.id}({', '.join(kinds)})"
    return written


_NAME = r'(?:"(?:[^"]|"")+"|\w+)'
_REFERENCE = re.compile(rf"((?:{_NAME}\s*\.\s*)*)({_NAME})")
Aliases = Mapping[str, Sequence[str]]
"""The columns that each other name may mean."""


def alias_paths(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the short names of columns named by dotted paths: the last segment, and the name in tables."""
    paths = sorted(paths)
    aliases: dict[str, list[str]] = {}
    for path in paths:
        aliases.setdefault(path.rpartition(".")[2], []).append(path)
    return aliases | {name: [path] for path, name in name_axes(paths).items()}


def alias_names(names: Mapping[str, str]) -> dict[str, list[str]]:
    """Return other names of columns that have a name in place of their dotted path: path and last segment.

    Args:
        names: The column of each path.
    """
    aliases: dict[str, list[str]] = {path: [name] for path, name in names.items()}
    for path in sorted(names):
        aliases.setdefault(path.rpartition(".")[2], []).append(names[path])
    return aliases


def replace_alias(select: str, details: Mapping[str, Any], aliases: Aliases, offset: int) -> str | None:
    """Return a statement with the column that an unknown name means; None where it means none.

    Args:
        details: The error about the name, with its position in bytes.
        offset: The length of what stood before the statement.

    Raises:
        QueryError: The name may mean several columns.
    """
    if "position" not in details:
        return None
    start = len(select.encode()[: max(int(details["position"]) - offset, 0)].decode(errors="ignore"))
    reference = _REFERENCE.match(select, start)
    if reference is None:
        return None
    name = reference[2].strip('"')
    columns = aliases.get(name, ())
    if len(columns) > 1:
        candidates = " or ".join(map(quote, columns))
        raise QueryError(
            "query.ambiguous-axis",
            f"{name!r} is the end of several axes; write {candidates}, in double quotes",
            data={"candidates": list(columns)},
        )
    if not columns or columns[0] == name:
        return None
    return select[: reference.start(2)] + quote(columns[0]) + select[reference.end(2) :]


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
