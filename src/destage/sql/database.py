"""A DuckDB database of Arrow tables and Parquet files, without access to anything but these."""

import re
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import duckdb
import pyarrow as pa

from destage.errors import QueryError
from destage.sql.failures import build_error, build_memory_error, read_details, read_message
from destage.sql.limits import QueryLimits, execute_limited
from destage.sql.statements import quote, quote_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SETTINGS = {
    "python_enable_replacements": "false",
    "temp_directory": "''",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "errors_as_json": "true",
    "enable_external_access": "false",
    "lock_configuration": "true",
}
_BATCH_ROWS = 65_536
"""Rows fetched at a time."""
_EXPLAIN = re.compile(
    r"(?P<space>(?:\s|--[^\n]*\n|/\*.*?\*/)*)EXPLAIN\b(?:\s+ANALYZE\b|\s*\([^()]*\))?",
    re.IGNORECASE | re.DOTALL,
)
_NAME = r'(?:"(?:[^"]|"")+"|\w+)'
_REFERENCE = re.compile(rf"((?:{_NAME}\s*\.\s*)*)({_NAME})")


class Database:
    """A read-only database of Arrow tables and Parquet files, with views over them."""

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        views: Mapping[str, str] | None = None,
        macros: Mapping[str, str] | None = None,
        limits: QueryLimits | None = None,
        files: "Iterable[str]" = (),
    ) -> None:
        """Create the tables, then the views over them and over earlier views, then the scalar macros.

        Args:
            files: The paths of Parquet files that the views read, which do not change while it is open.
        """
        self._limits = limits or QueryLimits()
        self._connection = duckdb.connect(":memory:")
        self._connection.execute("SET parquet_metadata_cache = true")
        for name, table in tables.items():
            self.add_table(name, table)
        for name, statement in (views or {}).items():
            self.add_view(name, statement)
        for signature, expression in (macros or {}).items():
            self._connection.execute(f"CREATE MACRO {signature} AS {expression}")
        self._connection.execute(f"SET allowed_paths = [{', '.join(map(quote_text, files))}]")
        memory = {"memory_limit": f"'{self._limits.memory_bytes // 1024}KiB'"}
        for setting, value in (memory | _SETTINGS).items():
            self._connection.execute(f"SET {setting} = {value}")
        columns = self._connection.execute(
            "SELECT DISTINCT column_name FROM duckdb_columns() WHERE contains(column_name, '.')"
        ).fetchall()
        self._paths_by_alias = _aliases([str(column) for (column,) in columns])

    def add_table(self, name: str, table: pa.Table) -> None:
        """Add a table; its columns have no aliases."""
        self._connection.register("_given", table)
        self._connection.execute(f"CREATE TABLE {quote(name)} AS SELECT * FROM _given")
        self._connection.unregister("_given")

    def add_view(self, name: str, statement: str) -> None:
        """Add a view; its columns have no aliases of their own."""
        try:
            self._connection.execute(f"CREATE VIEW {quote(name)} AS {statement}")
        except duckdb.Error as error:
            raise QueryError(
                "query.broken-view", read_message(read_details(error)), f"view {name}"
            ) from error

    def query(self, statement: str, parameters: Mapping[str, object] | None = None) -> pa.Table:
        """Run one SELECT or EXPLAIN, in which `$name` is a parameter.

        A column whose name another column has before it gets a number: `a`, `a_1`.

        Raises:
            QueryError: It is not exactly one SELECT or EXPLAIN, is not allowed, does not bind, fails, or
                exceeds a limit.
        """

        def run() -> pa.Table:
            explain, select = self._split(statement)
            values = dict(parameters or {})
            with self._read_only():
                select = self._resolve_aliases(select, values)
                try:
                    return self._fetch(explain + select, values)
                except duckdb.Error as error:
                    raise build_error(read_details(error)) from error

        return execute_limited(run, self._connection, self._limits.seconds)

    def _fetch(self, statement: str, values: Mapping[str, object]) -> pa.Table:
        """Return the rows of a statement, as long as they are within the limits."""
        batches: list[pa.RecordBatch] = []
        with self._connection.sql(statement, params=dict(values) or None).to_arrow_reader(
            _BATCH_ROWS
        ) as reader:
            self._read_batches(reader, batches)
            table = pa.Table.from_batches(batches, reader.schema)
        return table.rename_columns(_distinct(table.column_names))

    def _read_batches(self, reader: pa.RecordBatchReader, batches: list[pa.RecordBatch]) -> None:
        rows = size = 0
        for batch in reader:
            rows += batch.num_rows
            size += batch.nbytes
            if rows > self._limits.rows:
                message = f"more than {self._limits.rows:,} rows; add a LIMIT, or raise --max-rows"
                raise QueryError("query.too-many-rows", message, data={"limit": self._limits.rows})
            if size > self._limits.memory_bytes:
                raise build_memory_error(self._limits.memory_bytes)
            batches.append(batch)

    def stream(self, statement: str) -> "Iterator[pa.RecordBatch]":
        """Run one of Destage's own statements and yield its rows in batches; errors as in `query`."""
        with self._connection.cursor() as connection:
            try:
                yield from connection.sql(statement).to_arrow_reader(_BATCH_ROWS)
            except duckdb.Error as error:
                raise build_error(read_details(error)) from error

    def close(self) -> None:
        """Release the tables."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _split(self, statement: str) -> tuple[str, str]:
        """Return the EXPLAIN prefix (or nothing) and the SELECT of the one statement allowed."""
        kinds = self._kinds(statement)
        if len(kinds) != 1:
            raise QueryError(
                "query.not-one-statement",
                f"{len(kinds)} statements; write exactly one SELECT or EXPLAIN",
                data={"statements": len(kinds)},
            )
        text = statement.strip().rstrip(";")
        explain = ""
        if kinds == ["EXPLAIN"]:
            prefix = _EXPLAIN.match(text)
            if prefix is None:
                raise QueryError(
                    "query.statement-not-allowed",
                    "this form of EXPLAIN is not allowed; write EXPLAIN or EXPLAIN ANALYZE before a SELECT",
                    data={"types": kinds},
                )
            explain, text = prefix.group(), text[prefix.end() :]
            kinds = self._kinds(text)
        if kinds != ["SELECT"]:
            raise QueryError(
                "query.statement-not-allowed",
                f"{' '.join(kinds)} is not allowed; write one SELECT or EXPLAIN",
                data={"types": kinds},
            )
        return explain, text

    def _kinds(self, statement: str) -> list[str]:
        try:
            statement.encode()
        except UnicodeEncodeError as error:
            raise QueryError("query.bad-syntax", "invalid UTF-8") from error
        try:
            return [found.type.name for found in self._connection.extract_statements(statement)]
        except duckdb.Error as error:
            message = read_message(read_details(error))
            unquoted = [
                path
                for paths in self._paths_by_alias.values()
                for path in paths
                if re.search(rf'(?<!["\w.]){re.escape(path)}(?!["\w])', statement)
            ]
            if unquoted:
                message += f"; write an axis in double quotes: {', '.join(map(quote, unquoted))}"
            raise QueryError("query.bad-syntax", message, data={"unquoted": unquoted}) from error

    @contextmanager
    def _read_only(self) -> "Iterator[None]":
        # A SELECT may contain a WITH that changes rows: only the transaction prevents it.
        self._connection.execute("BEGIN TRANSACTION READ ONLY")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

    def _resolve_aliases(self, select: str, values: dict[str, object]) -> str:
        """Replace each name that does not bind, but is the last segment of one axis, by the dotted path."""
        command = "EXPLAIN "
        while True:
            try:
                self._connection.execute(command + select, values or None)
            except duckdb.BinderException as error:
                details = read_details(error)
                found = self._unknown_name(select, details, len(command))
                if found is None:
                    raise build_error(details) from error
                reference, name = found
                paths = self._paths_by_alias[name]
                if len(paths) > 1:
                    candidates = " or ".join(quote(path) for path in paths)
                    raise QueryError(
                        "query.ambiguous-axis",
                        f"{name!r} is the end of several axes; write {candidates}, in double quotes",
                        data={"candidates": paths},
                    ) from error
                select = select[: reference.start(2)] + quote(paths[0]) + select[reference.end(2) :]
                self._connection.execute("ROLLBACK")
                self._connection.execute("BEGIN TRANSACTION READ ONLY")
            except duckdb.Error as error:
                raise build_error(read_details(error)) from error
            else:
                return select

    def _unknown_name(
        self, select: str, details: dict[str, Any], offset: int
    ) -> tuple[re.Match[str], str] | None:
        if "position" not in details:
            return None
        # DuckDB counts bytes.
        start = len(select.encode()[: int(details["position"]) - offset].decode(errors="ignore"))
        reference = _REFERENCE.match(select, start)
        if reference is None:
            return None
        name = reference[2].strip('"')
        return (reference, name) if name in self._paths_by_alias else None


def _distinct(names: Sequence[str]) -> list[str]:
    """Return column names of which none occurs twice."""
    found: dict[str, None] = {}
    for name in names:
        number, unique = 0, name
        while unique in found or (number and unique in names):
            number += 1
            unique = f"{name}_{number}"
        found[unique] = None
    return list(found)


def _aliases(paths: Sequence[str]) -> dict[str, list[str]]:
    aliases: dict[str, list[str]] = {}
    for path in sorted(paths):
        aliases.setdefault(path.rpartition(".")[2], []).append(path)
    return aliases
