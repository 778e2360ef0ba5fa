"""A DuckDB connection that reads and writes files, for statements over the files of a sweep."""

from contextlib import closing
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from destage.machine import check_address_space
from destage.sql.limits import raising_failures
from destage.sql.statements import quote, quote_text, quote_texts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_TYPES: dict[pa.Schema, dict[str, str]] = {}
"""The SQL types of schemas: all sweeps have the same columns of results, and most those of an earlier one."""
_MOST_KNOWN = 100
"""Schemas up to which their types are kept."""
_PORTION = 64
"""Files merged at a time; DuckDB takes a megabyte of memory for each."""


class FileConnection:
    """A database in memory that can open files, and takes no statement of a user.

    Each method raises `QueryError` if a file cannot be read or a statement fails.
    """

    def __init__(self, *, reads_once: bool = False) -> None:
        """Open a database.

        Args:
            reads_once: Whether each file is read by one statement: its metadata is not kept, and one thread
                reads, which halves the memory of files of a few rows.
        """
        check_address_space()
        # Set later, it would not be a setting of other connections.
        self._connection = duckdb.connect(":memory:", config={"errors_as_json": "true"})
        setting = "threads = 1" if reads_once else "parquet_metadata_cache = true"
        self._connection.execute(f"SET {setting}")
        # DuckDB would draw it on stdout, between the rows of an answer.
        self._connection.execute("SET enable_progress_bar = false")

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection, for a database that takes it over and closes it."""
        return self._connection

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

    def write(self, statement: str, path: "Path") -> None:
        """Write the rows of a statement to a Parquet file."""
        with raising_failures():
            self._connection.execute(
                f"COPY ({statement}) TO {quote_text(str(path))} (FORMAT parquet, COMPRESSION zstd)"
            )

    def find_types(self, schema: pa.Schema) -> dict[str, str]:
        """Return the SQL type of each column of a schema."""
        plain = schema.remove_metadata()
        types = _TYPES.get(plain)
        if types is None:
            self._connection.register("_empty", plain.empty_table())
            relation = self._connection.sql("FROM _empty")
            types = dict(zip(relation.columns, map(str, relation.types), strict=True))
            self._connection.unregister("_empty")
            if len(_TYPES) >= _MOST_KNOWN:
                _TYPES.clear()
            _TYPES[plain] = types
        return types.copy()

    def close(self) -> None:
        """Release the files."""
        self._connection.close()


def merge_files(files: "Sequence[Path]", column: str, target: "Path") -> None:
    """Write the rows of Parquet files to another one, in this order, with a column of the name of the file.

    A column that a file lacks is null there.

    Raises:
        QueryError: A file cannot be read.
    """
    portions = []
    with closing(FileConnection(reads_once=True)) as connection:
        for start in range(0, len(files), _PORTION):
            paths = quote_texts(str(path) for path in files[start : start + _PORTION])
            read = f"read_parquet({paths}, union_by_name = true, filename = '_file')"
            portion = target.with_name(f"{target.stem}-{start}.parquet")
            name = f"parse_filename(_file) AS {quote(column)}"
            connection.write(f"SELECT * EXCLUDE (_file), {name} FROM {read}", portion)
            portions.append(portion)
        listed = quote_texts(map(str, portions))
        connection.write(f"SELECT * FROM read_parquet({listed}, union_by_name = true)", target)
    for portion in portions:
        portion.unlink()
