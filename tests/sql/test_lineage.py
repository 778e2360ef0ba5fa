"""Which columns of a statement are those of a relation."""

import duckdb
import pytest

from destage.sql.syntax_trees import find_unchanged

RELATIONS = {"points": ["id", "a", "b", "c", "Users"], "runs": ["id", "b", "d"]}


@pytest.mark.parametrize(
    ("statement", "unchanged"),
    [
        ("SELECT a, b AS b, c + 1 AS c, t.id FROM points t WHERE a > 1", "a b id"),
        ("FROM points", "a b c id users"),
        ("SELECT USERS FROM sweep.points", "users"),
        ("SELECT users FROM main.points", ""),
        ("SELECT * EXCLUDE (a) REPLACE (b + 1 AS b) FROM points JOIN runs USING (id)", "c d id users"),
        ("SELECT * RENAME (a AS b) FROM points", "c id users"),
        ("SELECT * FROM points AS t(x, y)", ""),
        ("WITH x AS (SELECT a FROM points) SELECT x.*, COLUMNS('b') FROM x, (SELECT b FROM runs) y", "a b"),
        ("SELECT COLUMNS(n -> n LIKE 'a%') FROM points", "a b c id users"),
        ("SELECT COLUMNS(*) / 1000 FROM points", ""),
        ("SELECT a::INT a, -c AS c, id AS id, min(b) b FROM points GROUP BY ALL", "id"),
        ("SELECT a, a + 1 AS a FROM points", ""),
        ("SELECT a FROM (SELECT a / 1000 AS a FROM points)", ""),
        ("SELECT a FROM (SELECT a FROM points ORDER BY b)", "a"),
        ("WITH points AS (SELECT 1 AS a) SELECT a FROM points", ""),
        ("WITH t(a) AS (SELECT b FROM points) SELECT a FROM t", ""),
        ("WITH RECURSIVE t AS (SELECT a FROM points UNION ALL SELECT a + 1 FROM t) SELECT a FROM t", ""),
        ("SELECT b FROM points UNION ALL SELECT b FROM runs", "b"),
        ("SELECT a, b FROM points UNION SELECT b, a FROM points", ""),
        ("SELECT a FROM points UNION ALL BY NAME SELECT 1 AS a", ""),
        ("SELECT (SELECT a FROM points LIMIT 1) AS a", ""),
        ("SELECT x.s.a FROM points x", ""),
        ("SUMMARIZE points", ""),
        ("PIVOT points ON a USING sum(b)", ""),
        ("SELECT 1 AS a", ""),
        (f"SELECT {'-' * 20_000}1 AS a", ""),
    ],
)
def test_unchanged_columns(statement: str, unchanged: str) -> None:
    with duckdb.connect() as connection:
        assert sorted(find_unchanged(connection, statement, RELATIONS)) == unchanged.split()
