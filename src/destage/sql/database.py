"""A DuckDB database of Arrow tables and Parquet files, without access to anything but these."""

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Self, TypeVar

import duckdb
import pyarrow as pa

from destage import allowance
from destage.errors import QueryError
from destage.sql.deferred_relations import DeferredRelations
from destage.sql.file_connection import FileConnection
from destage.sql.limits import (
    FAILURES,
    QueryLimits,
    build_error,
    execute_limited,
    raising_failures,
    read_details,
    read_message,
    read_only,
)
from destage.sql.statements import (
    Aliases,
    ReadStatement,
    alias_paths,
    quote,
    quote_texts,
    replace_alias,
    replace_types,
    split_statements,
)
from destage.sql.syntax_trees import PUBLIC, find_unchanged

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

_Result = TypeVar("_Result")
_SETTINGS = {
    "python_enable_replacements": "false",
    "temp_directory": "''",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "enable_external_access": "false",
}
_BATCH_ROWS = 65_536
"""Rows fetched at a time."""
_SHORTEST_S = 0.05
"""Time that the rendering of rows has at least [s]."""


class Database:
    """A read-only database of Arrow tables and Parquet files, with views over them.

    A table, view or macro is created when a statement first names it: to bind hundreds of columns takes
    longer than to read the rows of a small sweep.
    """

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        views: Mapping[str, str] | None = None,
        macros: Mapping[str, str] | None = None,
        limits: QueryLimits | None = None,
        files: "Iterable[str]" = (),
        *,
        paths: "Iterable[str]" = (),
        copied: "Collection[str]" = (),
        opened: FileConnection | None = None,
    ) -> None:
        """Take tables, views over them and over other views, and scalar macros.

        Args:
            files: The paths of Parquet files that the views read, which do not change while it is open.
            paths: The columns of the views that have a dotted path, for their aliases.
            copied: The views of which a copy is in memory, so that statements need not bind their columns to
                files again.
            opened: A connection that the database takes over, with what it has cached of the files.
        """
        self._limits = limits or QueryLimits()
        self._closing, self._is_closed = threading.Lock(), False
        self.is_abandoned = False
        self._stop = threading.Event()
        self._left_s = self._limits.seconds
        self._connection = (opened or FileConnection()).connection
        self._connection.execute(f"CREATE SCHEMA {PUBLIC}")
        self._relations: set[str] = set()
        self._copied = copied
        self._deferred = DeferredRelations()
        for name, table in tables.items():
            self.add_table(name, table)
        for name, statement in (views or {}).items():
            self.add_view(name, statement)
        for signature, expression in (macros or {}).items():
            create = partial(self._connection.execute, f"CREATE MACRO {signature} AS {expression}")
            self._deferred.add(signature.partition("(")[0], expression, create)
        self._connection.execute(f"SET allowed_paths = {quote_texts(files)}")
        memory = {"memory_limit": f"'{self._limits.memory_bytes // 1024}KiB'"}
        self._public = self._connection.cursor()
        self._public.execute(f"SET search_path = '{PUBLIC},main'")
        self._rendering = self._connection.cursor()
        for setting, value in (memory | _SETTINGS).items():
            # Some settings are those of the database, others those of a connection.
            for connection in (self._connection, self._public, self._rendering):
                connection.execute(f"SET {setting} = {value}")
        self._connection.execute("SET lock_configuration = true")
        columns = {*paths, *chain.from_iterable(table.column_names for table in tables.values())}
        dotted = sorted(column for column in columns if "." in column)
        self._names = {path: quote(path) for path in dotted}
        self._aliases: Aliases = alias_paths(dotted)

    def add_table(self, name: str, table: pa.Table) -> None:
        """Add a table; its columns have no aliases."""
        self._relations.add(name)
        self._deferred.add(name, "", partial(self._create_table, name, table))

    def _create_table(self, name: str, table: pa.Table) -> None:
        self._connection.register("_given", table)
        self._connection.execute(f"CREATE TABLE {quote(name)} AS SELECT * FROM _given")
        self._connection.unregister("_given")

    def add_view(self, name: str, statement: str) -> None:
        """Add a view of Destage itself; its columns have no aliases of their own.

        What is wrong with it is an error of the statement that first names it.
        """
        self._relations.add(name)
        self._deferred.add(name, statement, partial(self._create_own_view, name, statement))

    def publish_view(self, name: str, statement: str) -> None:
        """Create a view that statements of users read, or replace it.

        Raises:
            QueryError: It does not bind.
        """
        self._deferred.create_named(statement)
        self._create_view(name, statement, PUBLIC)

    def _create_own_view(self, name: str, statement: str) -> None:
        """Create a view of Destage itself, or a table of its rows if it is one to be copied.

        Where a column cannot be read, the others still can through the view.
        """
        if name in self._copied:
            with suppress(duckdb.Error):
                self._connection.execute(f"CREATE TABLE main.{quote(name)} AS {statement}")
                return
        self._create_view(name, statement, "main")

    def _create_view(self, name: str, statement: str, schema: str) -> None:
        try:
            self._connection.execute(f"CREATE OR REPLACE VIEW {schema}.{quote(name)} AS {statement}")
        except duckdb.Error as error:
            raise QueryError(
                "query.broken-view", read_message(read_details(error)), f"view {name}"
            ) from error

    def list_columns(self, name: str) -> list[str]:
        """Return the columns of a table or a view of Destage itself; none if there is no such relation."""
        if name not in self._relations:
            return []
        self._deferred.create_named(name)
        return list(self._connection.sql(f"FROM main.{quote(name)}").columns)

    def query(
        self,
        statement: str,
        parameters: Mapping[str, object] | None = None,
        aliases: Aliases | None = None,
    ) -> pa.Table:
        """Run one SELECT or EXPLAIN, in which `$name` is a parameter.

        A column whose name another column has before it gets a number: `a`, `a_1`.

        Args:
            aliases: Other names of columns (default: those of dotted columns).

        Raises:
            QueryError: It is not exactly one statement that reads, does not bind, fails, or exceeds a limit.
        """

        def run() -> pa.Table:
            self._deferred.create_named(statement)
            statements = split_statements(self._connection, statement, self._names)
            if len(statements) > 1:
                message = f"{len(statements)} statements; write exactly one"
                raise QueryError("query.not-one-statement", message, data={"statements": len(statements)})
            names = self._aliases if aliases is None else aliases
            return self._execute(self._connection, statements[0], names, dict(parameters or {}))[0]

        return self._execute_limited(run, self._limits.seconds)

    def split(self, text: str, names: Mapping[str, str]) -> list[ReadStatement]:
        """Return the statements of a user's text; see `split_statements`."""
        return split_statements(self._public, text, names)

    def run(
        self,
        statement: ReadStatement,
        aliases: Aliases,
        relations: Mapping[str, Sequence[str]],
        seconds: float | None = None,
    ) -> tuple[pa.Table, frozenset[str]]:
        """Run a statement of a user over the views of the schema `PUBLIC`; errors as in `query`.

        Returns the rows, and the columns that are those of a view; see `find_unchanged`.

        Args:
            relations: The columns of each view.
            seconds: The time that is left of a limit on several statements [s]; by default the limit of one.
        """

        def run() -> tuple[pa.Table, frozenset[str]]:
            self._deferred.create_named(statement.select)
            rows, select = self._execute(self._public, statement, aliases, {})
            if statement.explain or statement.is_compound:
                return rows, frozenset()
            return rows, find_unchanged(self._public, select, relations)

        return self._execute_limited(run, self._limits.seconds if seconds is None else seconds)

    def render(self, function: "Callable[[], _Result]") -> _Result:
        """Call a function that renders the rows of the last statement, within what is left of its limits."""
        return self._execute_limited(function, self._left_s)

    def _execute_limited(self, function: "Callable[[], _Result]", seconds: float) -> _Result:
        if self.is_abandoned:
            message = "a statement that could not be stopped is still running; open the sweep again"
            raise QueryError("query.still-running", message)
        self._stop.clear()
        began = time.monotonic()

        def run() -> _Result:
            allowed = allowance.Allowance(self._stop, self._limits.memory_bytes, self._cast)
            with allowance.use(allowed):
                return function()

        try:
            return execute_limited(run, self, seconds, self._limits.seconds)
        finally:
            self._left_s = max(seconds - (time.monotonic() - began), _SHORTEST_S)

    def _cast(self, column: pa.ChunkedArray) -> list[str | None]:
        with raising_failures():
            return cast_to_texts(self._rendering, column)

    def _execute(
        self,
        connection: duckdb.DuckDBPyConnection,
        statement: ReadStatement,
        aliases: Aliases,
        values: Mapping[str, object],
    ) -> tuple[pa.Table, str]:
        """Return the rows of a statement and its text, with an unknown name replaced if it is an alias."""
        select = statement.select
        command = statement.explain if statement.is_compound else "EXPLAIN "
        while True:
            try:
                with read_only(connection):
                    return self._fetch(connection, statement.explain + select, values), select
            except FAILURES as error:
                failure: Exception = error
            if not statement.is_compound and not self._stop.is_set():
                failure = _explain_failure(connection, command + select, values, failure)
            details = read_details(failure)
            is_name = isinstance(failure, duckdb.BinderException)
            replaced = replace_alias(select, details, aliases, len(command.encode())) if is_name else None
            if replaced is None:
                raise build_error(details) from failure
            select = replaced

    def _fetch(
        self, connection: duckdb.DuckDBPyConnection, statement: str, values: Mapping[str, object]
    ) -> pa.Table:
        """Return the rows of a statement, as long as they are within the limits."""
        batches: list[pa.RecordBatch] = []
        rows = replace_types(connection.sql(statement, params=dict(values) or None))
        with rows.to_arrow_reader(_BATCH_ROWS) as reader:
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
                raise allowance.build_memory_error(self._limits.memory_bytes)
            batches.append(batch)

    def compute(self, function: "Callable[[Callable[[str], Iterator[pa.RecordBatch]]], _Result]") -> _Result:
        """Call a function with one that yields the rows of a statement, within the limits of one statement.

        The statements are Destage's own, and their rows are in the order of what they select from. The
        function bounds its own memory; see `memory_bytes`.
        """

        def read(statement: str) -> "Iterator[pa.RecordBatch]":
            self._deferred.create_named(statement)
            with raising_failures(), self._connection.sql(statement).to_arrow_reader(_BATCH_ROWS) as reader:
                for batch in reader:
                    if self._stop.is_set():
                        raise QueryError("query.failed", "interrupted")
                    yield batch

        return self._execute_limited(lambda: function(read), self._limits.seconds)

    @property
    def memory_bytes(self) -> int:
        """The most memory of a statement."""
        return self._limits.memory_bytes

    @contextmanager
    def lend_table(self, name: str, table: pa.Table) -> "Iterator[None]":
        """Let Destage's own statements read a table, which is not copied, within a block."""
        self._connection.register(name, table)
        try:
            yield
        finally:
            self._connection.unregister(name)

    def stream(self, statement: str) -> "Iterator[pa.RecordBatch]":
        """Run one of Destage's own statements and yield its rows in batches; errors as in `query`."""
        self._deferred.create_named(statement)
        with self._connection.cursor() as connection, raising_failures():
            yield from connection.sql(statement).to_arrow_reader(_BATCH_ROWS)

    def interrupt(self) -> None:
        """End the statement that another thread is running, if there is one, or the rendering of its rows."""
        self._stop.set()
        with self._closing:
            if not self._is_closed:
                for connection in (self._connection, self._public, self._rendering):
                    connection.interrupt()

    def close(self) -> None:
        """Release the tables; those of an abandoned statement when it ends."""
        if not self.is_abandoned:
            self.release()

    def release(self) -> None:
        """Release the tables. No statement may be running."""
        with self._closing:
            self._is_closed = True
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def cast_to_texts(connection: duckdb.DuckDBPyConnection, column: pa.ChunkedArray) -> list[str | None]:
    """Return values as DuckDB writes them."""
    connection.register("_given", pa.table({"value": column}))
    try:
        rows = connection.execute("SELECT CAST(value AS VARCHAR) FROM _given").fetchall()
    finally:
        connection.unregister("_given")
    return [text for (text,) in rows]


def _explain_failure(
    connection: duckdb.DuckDBPyConnection, explain: str, values: Mapping[str, object], failure: Exception
) -> Exception:
    """Return the same failure of a statement's EXPLAIN, if it has one.

    The error about an unknown name has its position if the statement has several parts; that of any other
    statement does not, but that of its EXPLAIN does. To plan a statement takes longer than to run it over the
    rows of a small sweep, so the EXPLAIN does not come first.
    """
    try:
        with read_only(connection):
            connection.execute(explain, dict(values) or None)
    except FAILURES as explained:
        return explained if type(explained) is type(failure) else failure
    return failure


def _distinct(names: Sequence[str]) -> list[str]:
    """Return column names of which none occurs twice."""
    distinct: dict[str, None] = {}
    for name in names:
        number, unique = 0, name
        while unique in distinct or (number and unique in names):
            number += 1
            unique = f"{name}_{number}"
        distinct[unique] = None
    return list(distinct)
