"""Conditions and texts of the values of one Arrow table."""

import re

import duckdb
import pyarrow as pa

from destage import allowance
from destage.errors import QueryError
from destage.sql.database import Database, cast_to_texts
from destage.sql.limits import QueryLimits, read_details, read_message
from destage.sql.statements import Aliases

_NUMBERS = re.compile(r'(?:, |[^.!]*: )"_\w+"')
"""The columns of row numbers, where an error suggests them."""


def filter_rows(
    table: pa.Table, where: str, limits: QueryLimits | None = None, place: str = "where"
) -> pa.Table:
    """Return the rows of a table that meet a condition, in their order.

    The last segment of a dotted column is an alias, as in a query.

    Args:
        place: The place of the condition in errors.
    """
    statement = f"SELECT _position FROM _rows WHERE (\n{where}\n) ORDER BY _position"
    return table.take(_select(table, where, statement, limits, place)["_position"])


def compute_column(
    table: pa.Table, expression: str, place: str, aliases: Aliases | None = None
) -> pa.ChunkedArray:
    """Return the value of an expression in each row of a table; names as in `filter_rows`.

    Args:
        aliases: Other names of columns (default: those of dotted columns).
    """
    statement = f"SELECT (\n{expression}\n) AS found FROM _rows ORDER BY _position"
    return _select(table, expression, statement, None, place, aliases)["found"]


def _select(
    table: pa.Table,
    expression: str,
    statement: str,
    limits: QueryLimits | None,
    place: str,
    aliases: Aliases | None = None,
) -> pa.Table:
    """Return what a statement selects from the rows of a table, numbered by `_position`."""
    try:
        duckdb.SQLExpression(expression.encode(errors="replace").decode())
    except duckdb.InvalidInputException as error:
        raise QueryError("query.bad-syntax", "more than one expression", place) from error
    except duckdb.Error as error:
        raise QueryError("query.bad-syntax", read_message(read_details(error)), place) from error
    position = pa.array(range(table.num_rows), pa.int64())
    with Database({"_rows": table.append_column("_position", position)}, limits=limits) as database:
        try:
            return database.query(statement, aliases=aliases)
        except QueryError as error:
            raise QueryError(error.code, _NUMBERS.sub("", error.message), place, error.data) from error


def render_texts(column: pa.ChunkedArray) -> list[str | None]:
    """Return values as DuckDB writes them: intervals, blobs, times before or after the years of Python.

    On the thread of a statement, its limits apply.
    """
    allowed = allowance.find()
    if allowed is not None:
        return allowed.cast(column)
    with duckdb.connect(":memory:") as connection:
        return cast_to_texts(connection, column)
