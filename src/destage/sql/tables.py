"""Conditions and texts of the values of one Arrow table."""

from functools import cache

import duckdb
import pyarrow as pa

from destage.errors import QueryError
from destage.sql.database import Database
from destage.sql.failures import read_details, read_message
from destage.sql.limits import QueryLimits


def filter_rows(table: pa.Table, where: str, limits: QueryLimits | None = None) -> pa.Table:
    """Return the rows of a table that meet a condition, in their order.

    The last segment of a dotted column is an alias, as in a query.
    """
    try:
        duckdb.SQLExpression(where.encode(errors="replace").decode())
    except duckdb.Error as error:
        raise QueryError("query.bad-syntax", read_message(read_details(error)), "where") from error
    position = pa.array(range(table.num_rows), pa.int64())
    with Database({"rows": table.append_column("_position", position)}, limits=limits) as database:
        try:
            kept = database.query(f"SELECT _position FROM rows WHERE (\n{where}\n) ORDER BY _position")
        except QueryError as error:
            raise QueryError(error.code, error.message, "where", error.data) from error
    return table.take(kept["_position"])


def render_texts(column: pa.ChunkedArray) -> list[str | None]:
    """Return values as DuckDB writes them: intervals, blobs, times before or after the years of Python."""
    with duckdb.connect(":memory:") as connection:
        connection.register("_given", pa.table({"value": column}))
        rows = connection.execute("SELECT CAST(value AS VARCHAR) FROM _given").fetchall()
    return [text for (text,) in rows]


@cache
def list_reserved_words() -> frozenset[str]:
    """Return the words of SQL that cannot name a column without quotes."""
    with duckdb.connect(":memory:") as connection:
        rows = connection.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
        ).fetchall()
    return frozenset(word for (word,) in rows)
