"""The closed database: what it answers, and all that it refuses."""

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
def test_the_last_segment_stands_for_an_axis(database: Database, statement: str) -> None:
    assert database.query(statement).column(0).to_pylist() == [4, 5]


def test_a_name_that_means_something_is_left_alone(database: Database) -> None:
    assert database.query("WITH x AS (SELECT 7 AS disks) SELECT disks FROM x").to_pylist() == [{"disks": 7}]


def test_an_ambiguous_alias_lists_its_candidates(database: Database) -> None:
    with pytest.raises(
        QueryError, match=r'ambiguous.*"array\.disk\.capacity" or "controller\.cache\.capacity"'
    ):
        database.query("SELECT capacity FROM points")


def test_an_axis_without_quotes_is_pointed_out(database: Database) -> None:
    with pytest.raises(QueryError, match=r'"array\.disks"'):
        database.query("SELECT array.disks FROM points")


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
    "statement",
    [
        "",
        "-- nothing",
        "SELECT 1; SELECT 2",
        "COPY runs TO 'out.csv'",
        "COPY (SELECT 1) TO 'out.parquet' (FORMAT parquet)",
        "ATTACH 'other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA database_list",
        "SET threads = 1",
        "RESET lock_configuration",
        "CALL duckdb_settings()",
        "CREATE TABLE t AS SELECT 1",
        "DELETE FROM runs",
        "DROP VIEW points",
        "EXPORT DATABASE 'out'",
        "BEGIN; DELETE FROM runs",
        "EXPLAIN DELETE FROM runs",
        "EXPLAIN ANALYZE DELETE FROM runs",
        "EXPLAIN ANALYZE COPY runs TO 'out.csv'",
        "EXPLAIN (ANALYZE) DELETE FROM runs",
        "EXPLAIN /* x */ ANALYZE DELETE FROM runs",
        "EXPLAIN ANALYZE WITH x AS (DELETE FROM runs RETURNING *) SELECT * FROM x",
        "WITH x AS (INSERT INTO runs SELECT * FROM runs RETURNING *) SELECT * FROM x",
        "WITH x AS (DELETE FROM runs RETURNING *) SELECT * FROM x",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM 'data.parquet'",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM read_parquet('https://example.org/x.parquet')",
        "SELECT * FROM query('COPY runs TO ''out.csv''')",
        "SELECT getenv('HOME')",
        "SELECT * FROM duckdb_secrets()",
        "SELECT * FROM ROWS_OF_PYTHON",
    ],
)
def test_everything_else_is_refused(
    database: Database, statement: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    ROWS_OF_PYTHON = ROWS  # noqa: F841, N806 - what a replacement scan would find
    with pytest.raises(QueryError):
        database.query(statement)
    assert list(__import__("pathlib").Path.cwd().iterdir()) == []
    assert database.query("SELECT count(*) AS n FROM runs").to_pylist() == [{"n": 2}]


def test_the_rows_survive_a_refusal_in_the_middle_of_a_transaction(database: Database) -> None:
    for _ in range(2):
        with pytest.raises(QueryError, match="nope"):
            database.query("SELECT nope FROM runs")
    assert database.query("SELECT sum(hit_ratio) AS s FROM runs").to_pylist() == [{"s": pytest.approx(0.3)}]


def test_a_view_that_does_not_fit_says_which() -> None:
    with pytest.raises(QueryError, match="view points"):
        Database({"runs": ROWS}, {"points": "SELECT nothing FROM runs"})


def test_filter_keeps_order_types_and_all_columns() -> None:
    table = pa.table({"a.n": pa.array(range(5000), pa.int32()), "b.text": ["x", "y"] * 2500})
    kept = filter_rows(table, "n % 7 = 3 AND text = 'y'")
    assert kept.schema == table.schema
    assert kept["a.n"].to_pylist() == [n for n in range(5000) if n % 7 == 3 and n % 2 == 1]


def test_filter_takes_null_for_no() -> None:
    table = pa.table({"a.n": [1, None, 3]})
    assert filter_rows(table, "n > 0")["a.n"].to_pylist() == [1, 3]


@pytest.mark.parametrize(
    "where",
    [
        "capacity > 1",
        "nope = 1",
        "disks > 1; DROP TABLE rows",
        "disks > 1) OR (1 = 1",
        "",
        "EXISTS (SELECT * FROM read_csv('/etc/passwd'))",
    ],
)
def test_filter_refuses_what_is_no_condition(where: str) -> None:
    with pytest.raises(QueryError, match=r"^where: "):
        filter_rows(ROWS, where)


def test_filter_allows_a_comment_and_parentheses() -> None:
    assert filter_rows(ROWS, "(disks = 4) -- the smaller").num_rows == 1


def test_the_doors_are_shut_one_by_one(database: Database) -> None:
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
