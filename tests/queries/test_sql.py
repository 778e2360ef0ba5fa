"""The database is read-only: allowed and rejected queries."""

import pyarrow as pa
import pytest

from destage.errors import QueryError
from destage.sql import Database, filter_rows

ROWS = pa.table(
    {
        "point_id": ["a", "b"],
        "controller.cache.capacity": [1, 2],
        "array.disk.capacity": [3, 4],
        "array.disks": [4, 5],
        "hit_ratio": [0.1, 0.2],
    }
)


@pytest.fixture
def database() -> Database:
    return Database({"runs": ROWS}, {"points": "SELECT * FROM runs"})


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT disks FROM points ORDER BY disks",
        "SELECT p.disks FROM points p WHERE disks > 1 ORDER BY p.disks",
        "WITH x AS (SELECT max(disks) AS d FROM points) SELECT 4 UNION ALL SELECT d FROM x",
        "SELECT\n  -- a comment: é\n  disks AS d FROM points GROUP BY disks HAVING min(disks) > 0 ORDER BY d",
    ],
)
def test_the_last_segment_is_an_alias_of_an_axis(database: Database, statement: str) -> None:
    assert database.query(statement).column(0).to_pylist() == [4, 5]


def test_a_name_that_binds_is_not_an_alias(database: Database) -> None:
    assert database.query("WITH x AS (SELECT 7 AS disks) SELECT disks FROM x").to_pylist() == [{"disks": 7}]


def test_an_ambiguous_alias_is_an_error_with_its_candidates(database: Database) -> None:
    with pytest.raises(QueryError) as caught:
        database.query("SELECT capacity FROM points")
    assert caught.value.code == "query.ambiguous-axis"
    assert caught.value.data["candidates"] == ["array.disk.capacity", "controller.cache.capacity"]


def test_an_axis_without_quotes_is_an_error(database: Database) -> None:
    with pytest.raises(QueryError) as caught:
        database.query("SELECT array.disks FROM points")
    assert caught.value.code == "query.bad-syntax"
    assert caught.value.data["unquoted"] == ["array.disks"]


def test_parameters_are_bound(database: Database) -> None:
    assert database.query("SELECT point_id FROM points WHERE disks = $n", {"n": 5}).to_pylist() == [
        {"point_id": "b"}
    ]


@pytest.mark.parametrize(
    "statement",
    ["EXPLAIN SELECT disks FROM runs", "explain analyze SELECT 1;", "/* x */ EXPLAIN (FORMAT json) SELECT 1"],
)
def test_explain_is_allowed(database: Database, statement: str) -> None:
    assert database.query(statement).num_rows == 1


@pytest.mark.parametrize(
    ("code", "statement"),
    [
        ("query.no-statement", ""),
        ("query.no-statement", "-- nothing"),
        ("query.not-one-statement", "SELECT 1; SELECT 2"),
        ("query.statement-not-allowed", "COPY runs TO 'out.csv'"),
        ("query.statement-not-allowed", "COPY (SELECT 1) TO 'out.parquet' (FORMAT parquet)"),
        ("query.statement-not-allowed", "ATTACH 'other.db'"),
        ("query.statement-not-allowed", "INSTALL httpfs"),
        ("query.statement-not-allowed", "LOAD httpfs"),
        ("query.statement-not-allowed", "PRAGMA database_list"),
        ("query.statement-not-allowed", "SET threads = 1"),
        ("query.statement-not-allowed", "RESET lock_configuration"),
        ("query.statement-not-allowed", "CALL duckdb_settings()"),
        ("query.statement-not-allowed", "CREATE TABLE t AS SELECT 1"),
        ("query.statement-not-allowed", "DELETE FROM runs"),
        ("query.statement-not-allowed", "DROP VIEW points"),
        ("query.statement-not-allowed", "EXPORT DATABASE 'out'"),
        ("query.statement-not-allowed", "BEGIN; DELETE FROM runs"),
        ("query.statement-not-allowed", "EXPLAIN DELETE FROM runs"),
        ("query.statement-not-allowed", "EXPLAIN ANALYZE DELETE FROM runs"),
        ("query.statement-not-allowed", "EXPLAIN ANALYZE COPY runs TO 'out.csv'"),
        ("query.statement-not-allowed", "EXPLAIN (ANALYZE) DELETE FROM runs"),
        ("query.bad-syntax", "EXPLAIN /* x */ ANALYZE DELETE FROM runs"),
        ("query.failed", "EXPLAIN ANALYZE WITH x AS (DELETE FROM runs RETURNING *) SELECT * FROM x"),
        ("query.failed", "WITH x AS (INSERT INTO runs SELECT * FROM runs RETURNING *) SELECT * FROM x"),
        ("query.failed", "WITH x AS (DELETE FROM runs RETURNING *) SELECT * FROM x"),
        ("query.access-denied", "SELECT * FROM read_csv('/etc/passwd')"),
        ("query.access-denied", "SELECT * FROM read_text('/etc/passwd')"),
        ("query.unknown-name", "SELECT * FROM '/etc/passwd'"),
        ("query.access-denied", "SELECT * FROM 'data.parquet'"),
        ("query.access-denied", "SELECT * FROM glob('/*')"),
        ("query.access-denied", "SELECT * FROM read_parquet('https://example.org/x.parquet')"),
        ("query.bad-syntax", "SELECT * FROM query('COPY runs TO ''out.csv''')"),
        ("query.unknown-name", "SELECT getenv('HOME')"),
        ("query.access-denied", "SELECT * FROM duckdb_secrets()"),
        ("query.unknown-name", "SELECT * FROM ROWS_OF_PYTHON"),
    ],
)
def test_everything_else_is_rejected(
    database: Database, code: str, statement: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    ROWS_OF_PYTHON = ROWS  # noqa: F841, N806 - what a replacement scan would find
    with pytest.raises(QueryError) as caught:
        database.query(statement)
    assert caught.value.code == code
    assert list(__import__("pathlib").Path.cwd().iterdir()) == []
    assert database.query("SELECT count(*) AS n FROM runs").to_pylist() == [{"n": 2}]


def test_rows_are_unchanged_after_an_error_in_a_transaction(database: Database) -> None:
    for _ in range(2):
        with pytest.raises(QueryError) as caught:
            database.query("SELECT nope FROM runs")
        assert (caught.value.code, caught.value.data["name"]) == ("query.unknown-name", "nope")
    assert database.query("SELECT sum(hit_ratio) AS s FROM runs").to_pylist() == [{"s": pytest.approx(0.3)}]


def test_a_view_of_a_view_is_there_wherever_it_is_named() -> None:
    """In capitals, in a text, and after a statement that failed."""
    views = {
        "points": "FROM runs",
        "few": "SELECT * FROM points LIMIT 1",
        "broken": "SELECT nothing FROM few",
    }
    macros = {"twice(value)": "2 * once(value)", "once(value)": "value"}
    with Database({"runs": ROWS}, views, macros) as database:
        for _ in range(2):
            with pytest.raises(QueryError):
                database.query("FROM broken")
        assert database.query("SELECT * FROM FEW").num_rows == 1
        assert database.query("FROM query_table('points')").num_rows == ROWS.num_rows
        assert database.query("SELECT twice(4) AS n").to_pylist() == [{"n": 8}]
        assert database.list_columns("few") == ROWS.column_names
        assert database.list_columns("fewer") == []


def test_a_view_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(QueryError) as caught:
        Database({"runs": ROWS}, {"points": "SELECT nothing FROM runs"}).query("FROM points")
    assert (caught.value.code, caught.value.place) == ("query.broken-view", "view points")


def test_filter_keeps_order_types_and_all_columns() -> None:
    table = pa.table({"a.n": pa.array(range(5000), pa.int32()), "b.text": ["x", "y"] * 2500})
    kept = filter_rows(table, "n % 7 = 3 AND text = 'y'")
    assert kept.schema == table.schema
    assert kept["a.n"].to_pylist() == [n for n in range(5000) if n % 7 == 3 and n % 2 == 1]


def test_filter_drops_rows_where_the_condition_is_null() -> None:
    table = pa.table({"a.n": [1, None, 3]})
    assert filter_rows(table, "n > 0")["a.n"].to_pylist() == [1, 3]


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("capacity > 1", "query.ambiguous-axis"),
        ("nope = 1", "query.unknown-name"),
        ("disks > 1; DROP TABLE rows", "query.bad-syntax"),
        ("disks > 1) OR (1 = 1", "query.bad-syntax"),
        ("", "query.bad-syntax"),
        ("EXISTS (SELECT * FROM read_csv('/etc/passwd'))", "query.access-denied"),
    ],
)
def test_filter_rejects_what_is_not_a_condition(where: str, code: str) -> None:
    with pytest.raises(QueryError) as caught:
        filter_rows(ROWS, where)
    assert (caught.value.code, caught.value.place) == (code, "where")


def test_filter_allows_a_comment_and_parentheses() -> None:
    assert filter_rows(ROWS, "(disks = 4) -- the smaller").num_rows == 1


def test_external_access_is_disabled_and_locked(database: Database) -> None:
    shut = (
        "python_enable_replacements",
        "autoinstall_known_extensions",
        "autoload_known_extensions",
        "allow_community_extensions",
        "enable_external_access",
    )
    for setting in shut:
        found = database.query("SELECT current_setting($name) AS value", {"name": setting}).to_pylist()
        assert found == [{"value": False}], setting
    locked = database.query("SELECT current_setting('lock_configuration') AS value").to_pylist()
    assert locked == [{"value": True}]
