"""Every type of DuckDB, alone and within nested types, in every output format."""

import io
import json
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from destage.errors import QueryError
from destage.notebook.frames import make_frame
from destage.queries.text.formats import encode
from destage.queries.text.plain_values import rows_as_json
from destage.queries.text.presentation import present
from destage.sql import Database, quote

ALONE = "SELECT * FROM test_all_types()"
NESTED = (
    "list_value(VALUE)",
    "{'a': VALUE, 'b': [VALUE]}",
    "map([1], [VALUE])",
    "array_value(VALUE, VALUE)",
    "union_value(k := VALUE)",
)
EXPECTED = {
    "uhugeint": "340282366920938463463374607431768211455",
    "bit": "10101",
    "time_tz": "24:00:00-15:59:59",
    "time": "24:00:00",
    "date": "5881580-07-10",
    "interval": "83 years 3 months 999 days 00:16:39.999999",
    "union": 5,
    "timestamp": "294247-01-10 04:00:54.775806",
}
"""The second row of some columns."""


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """Return an empty database."""
    with Database({}) as opened:
        yield opened


@pytest.fixture(scope="module")
def names(database: Database) -> list[str]:
    """Return the columns of `test_all_types`."""
    return database.query(ALONE).column_names


def nest(database: Database, names: list[str], form: str) -> pa.Table:
    """Return each column within a nested type."""
    columns = ", ".join(f"{form.replace('VALUE', quote(name))} AS {quote(name)}" for name in names)
    return database.query(f"SELECT {columns} FROM test_all_types()")  # noqa: S608


def check_formats(rows: pa.Table) -> None:
    """Write rows in each format, and read what can be read."""
    assert len(json.loads(encode(rows, "json", {}))) == rows.num_rows
    assert encode(rows, "csv", {})
    assert encode(rows, "markdown", {}).count(b"\n") >= rows.num_rows
    assert len(present(rows, {}).rows) == rows.num_rows
    assert pq.read_table(io.BytesIO(encode(rows, "parquet", {}))).num_rows == rows.num_rows
    frame = make_frame(rows)
    assert frame.columns == rows.column_names
    assert len(frame.rows()) == rows.num_rows
    # polars panics on some values only when it shows them.
    assert all(repr(frame[name]) for name in frame.columns)


def test_every_type_has_every_format(database: Database) -> None:
    check_formats(database.query(ALONE))


@pytest.mark.parametrize("form", NESTED)
def test_every_nested_type_has_every_format(database: Database, names: list[str], form: str) -> None:
    check_formats(nest(database, names, form))


def test_values_are_those_of_duckdb(database: Database) -> None:
    row = rows_as_json(database.query(ALONE))[1]
    assert {name: row[name] for name in EXPECTED} == EXPECTED


def test_values_of_a_frame_are_those_of_duckdb(database: Database, names: list[str]) -> None:
    """A value that polars lacks is a text, not null: no column has more nulls than the rows."""
    rows = database.query(ALONE)
    frame = make_frame(rows)
    assert {name: frame[name].null_count() for name in names} == {
        name: 1 if pa.types.is_union(rows[name].type) else rows[name].null_count for name in names
    }
    assert frame["time"].to_list() == ["00:00:00", "24:00:00", None]


def test_a_variant_is_its_value(database: Database) -> None:
    rows = database.query("SELECT {'a': [1]}::VARIANT AS v, ['x'::VARIANT] AS listed, 1 AS plain, 2 AS plain")
    assert rows_as_json(rows) == [{"v": "{'a': [1]}", "listed": ["x"], "plain": 1, "plain_1": 2}]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE EXTENSIONS",
        "UPDATE EXTENSIONS (httpfs);",
        "LOAD x",
        "CHECKPOINT",
        "EXECUTE x",
        "IMPORT DATABASE 'x'",
        "START TRANSACTION",
        "COMMENT ON TABLE x IS 'a'",
        "MERGE INTO x USING y ON a = b WHEN MATCHED THEN DELETE",
    ],
)
def test_a_kind_of_statement_that_does_not_read_is_refused(database: Database, statement: str) -> None:
    with pytest.raises(QueryError) as caught:
        database.query(statement)
    assert caught.value.code == "query.statement-not-allowed"


@pytest.mark.parametrize("statement", ["SELECT 1\0", "SELECT 'a\0b'", "\0", "SELECT 1; SELECT '\0'"])
def test_a_nul_is_refused(database: Database, statement: str) -> None:
    with pytest.raises(QueryError) as caught:
        database.split(statement, {})
    assert caught.value.code == "query.bad-syntax"
