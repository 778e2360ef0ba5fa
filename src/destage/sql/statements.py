"""Parts of statements: quoted names and texts, other names of columns, joined replicates, types of results.

DuckDB has types that Arrow lacks or whose values it changes; their values become texts. Without this, the
largest UHUGEINT is -1, a time loses its zone, and BIT, GEOMETRY and VARIANT are bytes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
from duckdb import sqltypes

from destage.errors import QueryError
from destage.spec.axis_names import name_axes

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
