"""SQL over Arrow tables: an in-memory DuckDB database that reaches nothing outside the tables it was given.

A query is one statement, SELECT or EXPLAIN, run in a read-only transaction under a locked configuration:
no file, no network, no extension, no Python variable, no change of a setting or of a row.

An axis is a column named by its dotted path, in double quotes: ``"controller.cache.capacity"``. Its last
segment, ``capacity``, stands for it wherever that name means nothing else and only one axis ends in it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import duckdb
import pyarrow as pa

from destage.errors import QueryError

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
_EXPLAIN = re.compile(
    r"(?P<space>(?:\s|--[^\n]*\n|/\*.*?\*/)*)EXPLAIN\b(?:\s+ANALYZE\b|\s*\([^()]*\))?",
    re.IGNORECASE | re.DOTALL,
)
_QUALIFIER = r"(?<![\w.\"]){}\s*\.(?=\s*[A-Za-z_\"])"
_NAME = r'(?:"(?:[^"]|"")+"|\w+)'
_REFERENCE = re.compile(rf"((?:{_NAME}\s*\.\s*)*)({_NAME})")


class Database:
    """A closed database over Arrow tables, with views above them."""

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        views: Mapping[str, str] | None = None,
        macros: Mapping[str, str] | None = None,
    ) -> None:
        """Open the database and close it to everything else.

        Args:
            tables: The tables by the names they have in SQL.
            views: The views' SELECT statements by name; a view may use the tables and the views before it.
            macros: The expressions of scalar macros by name and parameters: `double(x)`.

        Raises:
            QueryError: A view's statement does not fit the tables.
        """
        self._connection = duckdb.connect(":memory:")
        for name, table in tables.items():
            self._connection.register("_given", table)
            self._connection.execute(f"CREATE TABLE {quote(name)} AS SELECT * FROM _given")
            self._connection.unregister("_given")
        for name, statement in (views or {}).items():
            try:
                self._connection.execute(f"CREATE VIEW {quote(name)} AS {statement}")
            except duckdb.Error as error:
                raise QueryError("query.broken-view", _message(_details(error)), f"view {name}") from error
        for signature, expression in (macros or {}).items():
            self._connection.execute(f"CREATE MACRO {signature} AS {expression}")
        for setting, value in _SETTINGS.items():
            self._connection.execute(f"SET {setting} = {value}")
        columns = self._connection.execute(
            "SELECT DISTINCT column_name FROM duckdb_columns() WHERE contains(column_name, '.')"
        ).fetchall()
        self._paths_by_alias = _aliases([str(column) for (column,) in columns])

    def query(self, statement: str, parameters: Mapping[str, object] | None = None) -> pa.Table:
        """Run one SELECT or EXPLAIN.

        Args:
            statement: The statement; `$name` stands for a parameter.
            parameters: The parameters' values by name.

        Returns:
            The rows.

        Raises:
            QueryError: It is not exactly one SELECT or EXPLAIN, reaches outside, does not bind, or fails.
        """
        explain, select = self._split(statement)
        values = dict(parameters or {})
        with self._read_only():
            select = self._resolve_aliases(select, values)
            try:
                relation = self._connection.sql(explain + select, params=values or None)
                return relation.to_arrow_table()
            except duckdb.Error as error:
                raise _query_error(_details(error)) from error

    def close(self) -> None:
        """Let go of the tables."""
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
            return [found.type.name for found in self._connection.extract_statements(statement)]
        except duckdb.Error as error:
            message = _message(_details(error))
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
        # A SELECT may hold a data-changing WITH: only the transaction keeps the rows as they are.
        self._connection.execute("BEGIN TRANSACTION READ ONLY")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

    def _resolve_aliases(self, select: str, values: dict[str, object]) -> str:
        """Replace each name that means nothing, but is the last segment of one axis, by its dotted path."""
        command = "EXPLAIN "
        while True:
            try:
                self._connection.execute(command + select, values or None)
            except duckdb.BinderException as error:
                details = _details(error)
                found = self._unknown_name(select, details, len(command))
                if found is None:
                    raise _query_error(details) from error
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
                raise _query_error(_details(error)) from error
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


def quote(name: str) -> str:
    """Return a column or table name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def qualifiers(expression: str, names: "Iterable[str]") -> list[str]:
    """Return which table names an expression qualifies its columns by, in the order of `names`.

    Args:
        expression: An SQL expression such as `on.reads / off.reads`.
        names: The tables there are.
    """
    return [name for name in names if re.search(_QUALIFIER.format(re.escape(name)), expression)]


def joined_statement(expression: str, tables: Mapping[str, str], keys: Sequence[str] = ()) -> str:
    """Return the statement of an expression's `value` for each replicate that all its tables have.

    Args:
        expression: An SQL expression over the tables' columns; a table's name may be a reserved word.
        tables: What stands for each table, a name or a statement in brackets, by the name it has in the
            expression; none for plain arithmetic.
        keys: Columns that the tables are joined on beside the replicate; the rows carry them.
    """
    for name in tables:
        expression = re.sub(_QUALIFIER.format(re.escape(name)), f"{quote(name)}.", expression)
    if not tables:
        return f"SELECT (\n{expression}\n)::DOUBLE AS value"
    on = ", ".join(["replicate", *map(quote, keys)])
    first, *others = (f"{table} AS {quote(name)}" for name, table in tables.items())
    joined = "".join(f" JOIN {table} USING ({on})" for table in others)
    return f"SELECT {on}, (\n{expression}\n)::DOUBLE AS value FROM {first}{joined} ORDER BY {on}"


def filter_rows(table: pa.Table, where: str) -> pa.Table:
    """Return the rows of a table that meet a condition, in their order.

    Args:
        table: The rows; the last segment of a dotted column names it too, where that is unique.
        where: An SQL expression over the columns.

    Raises:
        QueryError: The condition is not one expression over the columns.
    """
    try:
        duckdb.SQLExpression(where)
    except duckdb.Error as error:
        raise QueryError("query.bad-syntax", _message(_details(error)), "where") from error
    position = pa.array(range(table.num_rows), pa.int64())
    with Database({"rows": table.append_column("_position", position)}) as database:
        try:
            kept = database.query(f"SELECT _position FROM rows WHERE (\n{where}\n) ORDER BY _position")
        except QueryError as error:
            raise QueryError(error.code, error.message, "where", error.data) from error
    return table.take(kept["_position"])


def _aliases(paths: Sequence[str]) -> dict[str, list[str]]:
    aliases: dict[str, list[str]] = {}
    for path in sorted(paths):
        aliases.setdefault(path.rpartition(".")[2], []).append(path)
    return aliases


def _details(error: duckdb.Error) -> dict[str, Any]:
    """Return what DuckDB says of an error: as it gives it when asked for JSON, or the plain text."""
    text = str(error)
    try:
        details: dict[str, Any] = json.loads(text[text.index("{") :])
    except ValueError:
        return {"exception_message": text.partition("Error: ")[2] or text}
    return details


def _query_error(details: dict[str, Any]) -> QueryError:
    """Return the error of a statement that could not be bound or run."""
    message = _message(details)
    match details.get("exception_type"):
        case "Permission":
            message = "a query can only read the sweep's rows, not files, directories or the network"
            return QueryError("query.access-denied", message)
        case "Parser" | "Syntax Error":
            return QueryError("query.bad-syntax", message)
        case "Binder" | "Catalog":
            if "Referenced table" in message:
                message += '; write an axis in double quotes, as in "controller.cache.capacity"'
            return QueryError("query.unknown-name", message, data={"name": details.get("name")})
    return QueryError("query.failed", message)


def _message(details: dict[str, Any]) -> str:
    return " ".join(str(details["exception_message"]).split())
