"""Parts of SQL statements: quoted names and texts, and statements that join replicates."""

import re
from collections.abc import Iterable, Mapping, Sequence

_QUALIFIER = r"(?<![\w.\"]){}\s*\.(?=\s*[A-Za-z_\"])"


def quote(name: str) -> str:
    """Return a column or table name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


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
