"""A DuckDB connection that reads and writes files, for statements over the files of a sweep."""

from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from destage.sql.failures import raising_failures
from destage.sql.statements import quote_text
from destage.system_failures import check_address_space

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np


class FileConnection:
    """A database in memory that can open files, and takes no statement of a user.

    Each method raises `QueryError` if a file cannot be read or a statement fails.
    """

    def __init__(self) -> None:
        check_address_space()
        self._connection = duckdb.connect(":memory:", config={"errors_as_json": "true"})
        self._connection.execute("SET parquet_metadata_cache = true")
        # DuckDB would draw it on stdout, between the rows of an answer.
        self._connection.execute("SET enable_progress_bar = false")

    def add_table(self, name: str, table: pa.Table) -> None:
        """Add an Arrow table, which is not copied."""
        self._connection.register(name, table)

    def list_columns(self, statement: str) -> list[str]:
        """Return the names of a statement's columns."""
        with raising_failures():
            return list(self._connection.sql(statement).columns)

    def fetch(self, statement: str) -> pa.Table:
        """Return the rows of a statement."""
        with raising_failures():
            return self._connection.sql(statement).to_arrow_table()

    def fetch_values(self, statement: str) -> "np.ndarray[Any, Any]":
        """Return the values of a statement's only column."""
        with raising_failures():
            (values,) = self._connection.sql(statement).fetchnumpy().values()
        array: np.ndarray[Any, Any] = values
        return array

    def write(self, statement: str, path: "Path") -> None:
        """Write the rows of a statement to a Parquet file."""
        with raising_failures():
            self._connection.execute(
                f"COPY ({statement}) TO {quote_text(str(path))} (FORMAT parquet, COMPRESSION zstd)"
            )

    def find_types(self, schema: pa.Schema) -> dict[str, str]:
        """Return the SQL type of each column of a schema."""
        self._connection.register("_empty", schema.remove_metadata().empty_table())
        relation = self._connection.sql("FROM _empty")
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        self._connection.unregister("_empty")
        return types

    def close(self) -> None:
        """Release the files."""
        self._connection.close()
