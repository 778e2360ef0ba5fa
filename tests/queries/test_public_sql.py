"""Statements of users: names as in tables, several at once, PIVOT, and what DESCRIBE says."""

import io
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from destage.errors import QueryError
from destage.queries import Session
from destage.queries.named.column_meanings import RELATIONS
from destage.queries.named.named_queries import list_fitting
from destage.queries.report.figures import build_figures
from destage.queries.text.formats import encode
from destage.queries.text.presentation import present


def ask(session: Session, text: str) -> list[dict[str, Any]]:
    (statement,) = session.split(text)
    rows: list[dict[str, Any]] = session.run(statement).to_pylist()
    return rows


def test_the_words_of_tables_are_those_of_sql(seek_session: Session) -> None:
    """Each heading of the design space is a column of a relation, with underscores for spaces."""
    rows = ask(seek_session, "SELECT cache_capacity, raid, users_supported FROM answers")
    assert rows == [
        {"cache_capacity": 32 << 20, "raid": "5", "users_supported": 32.0},
        {"cache_capacity": 64 << 20, "raid": "5", "users_supported": 42.0},
    ]
    shown = present(seek_session.name_columns(seek_session.query("users_against_cache")), seek_session.units)
    words = {re.sub(r" [\[(].*", "", heading.title).replace(" ", "_").lower() for heading in shown.headings}
    columns = {
        row["column_name"] for name in ("answers", "points") for row in ask(seek_session, f"DESCRIBE {name}")
    }
    assert words <= columns


def show(session: Session, text: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a statement as a table has them: cells by heading."""
    (statement,) = session.split(text)
    shown = present(session.run(statement), session.public.units)
    return tuple(dict(zip([each.title for each in shown.headings], row, strict=True)) for row in shown.rows)


def test_a_cell_is_shown_in_the_unit_of_its_axis(seek_session: Session) -> None:
    rows = show(seek_session, "SELECT cache_capacity, response_p95_us FROM points LIMIT 1")
    assert rows[0]["cache capacity"] == "32 MiB"
    assert "response p95 [ms]" in rows[0]


@pytest.mark.parametrize(
    ("expression", "heading", "cell"),
    [
        ("50652::DECIMAL(12,1) AS response_p95_us", "response_p95_us", "50652.0"),
        ("count(*) n", "n", "2"),
        ("sum(cache_capacity)::BIGINT AS cache_capacity", "cache_capacity", "100\u202f663\u202f296"),
        ("1500.0::DOUBLE AS response_p95_us", "response_p95_us", "1500"),
        ("0.5::DOUBLE AS read_hit_ratio", "read_hit_ratio", "0.5"),
        ("'[{\"kind\": 1}]' AS faults", "faults", '[{"kind": 1}]'),
        ("0 AS n_failed", "n_failed", "0"),
        ("true AS monotone", "monotone", "yes"),
        ("NULL AS binding", "binding", "\u2013"),
        ("'below' AS censored", "censored", "below"),
        ("'10' AS raid", "raid", "10"),
    ],
)
def test_an_expression_keeps_its_name_and_value(
    seek_session: Session, expression: str, heading: str, cell: str
) -> None:
    """Only a column that a relation has under that name has its heading and unit."""
    rows = show(seek_session, f"SELECT {expression} FROM answers")  # noqa: S608
    assert rows[0][heading] == cell


def test_parquet_has_no_marks_of_computed_columns(seek_session: Session) -> None:
    (statement,) = seek_session.split("SELECT 1 AS a, users_supported FROM answers")
    data = encode(seek_session.run(statement), "parquet", {})
    assert [field.metadata for field in pq.read_schema(io.BytesIO(data))] == [None, None]


@pytest.mark.parametrize("name", ['"controller.cache.capacity"', "capacity", "x.capacity"])
def test_path_and_last_segment_of_an_axis_are_understood(seek_session: Session, name: str) -> None:
    """As in the SQL of a study, which a report prints."""
    assert len(ask(seek_session, f"SELECT {name} FROM answers AS x")) == 2  # noqa: S608


@pytest.mark.parametrize(
    "statement",
    [
        "PIVOT answers ON cache_capacity USING first(users_supported) GROUP BY raid",
        "SELECT * FROM (PIVOT answers ON cache_capacity USING first(users_supported) GROUP BY raid);",
        "WITH x AS (PIVOT answers ON cache_capacity USING first(users_supported) GROUP BY raid) FROM x",
        "PIVOT answers ON cache_capacity IN (33554432, 67108864) USING first(users_supported) GROUP BY raid",
    ],
)
def test_pivot(seek_session: Session, statement: str) -> None:
    assert ask(seek_session, statement) == [{"raid": "5", "33554432": 32.0, "67108864": 42.0}]
    # Nothing stays of it.
    assert ask(seek_session, statement) == [{"raid": "5", "33554432": 32.0, "67108864": 42.0}]


def test_explain_of_a_pivot(seek_session: Session) -> None:
    assert ask(seek_session, "EXPLAIN PIVOT answers ON raid USING count(*)")


def test_several_statements_run_in_order(seek_session: Session) -> None:
    found = seek_session.split(
        "SELECT 1 AS a; -- two\nPIVOT answers ON raid USING count(*); SUMMARIZE answers;"
    )
    assert [seek_session.run(each).num_rows > 0 for each in found] == [True, True, True]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1; DROP VIEW sweep.answers",
        "SELECT 1; SET threads = 1; SELECT 2",
        "PIVOT answers ON raid USING count(*); COPY plan TO 'x.csv'",
        "CREATE TABLE t AS FROM (PIVOT answers ON raid USING count(*))",
        "INSERT INTO found_answers FROM (PIVOT answers ON raid USING count(*))",
        "COPY (PIVOT answers ON raid USING count(*)) TO 'x.csv'",
        "EXPLAIN ANALYZE COPY (PIVOT answers ON raid USING count(*)) TO 'x.csv'",
        "SET search_path = 'main'",
        "USE main",
        "BEGIN; SELECT 1",
        "ROLLBACK; DELETE FROM found_answers",
        "PREPARE x AS DELETE FROM found_answers; EXECUTE x",
        "CREATE TYPE colour AS ENUM ('red')",
    ],
)
def test_nothing_runs_of_a_text_that_writes(
    seek_session: Session, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    with pytest.raises(QueryError) as caught:
        seek_session.split(text)
    assert caught.value.code == "query.statement-not-allowed"
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "advice"),
    [("answer", "did you mean 'answers'"), ("Runz", "did you mean 'runs'"), ("qqq", "SHOW TABLES")],
)
def test_an_unknown_relation_suggests_public_ones(seek_session: Session, name: str, advice: str) -> None:
    for text in (f"FROM {name}", f"PIVOT {name} ON raid USING count(*)", f"DESCRIBE {name}"):
        with pytest.raises(QueryError) as caught:
            seek_session.run(*seek_session.split(text))
        assert (caught.value.code, caught.value.data["name"]) == ("query.unknown-name", name)
        assert advice in caught.value.message
        assert "Did you mean" not in caught.value.message


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("query.failed", "WITH x AS (DELETE FROM main.found_answers RETURNING *) SELECT * FROM x"),
        (
            "query.unknown-name",
            "PIVOT (WITH x AS (DELETE FROM main.found_answers RETURNING *) FROM x) ON raid",
        ),
        ("query.access-denied", "SELECT * FROM read_csv('/etc/passwd')"),
        ("query.access-denied", "PIVOT read_csv('/etc/passwd') ON column0 USING count(*)"),
        ("query.access-denied", "PIVOT (FROM glob('/*')) ON file USING count(*)"),
        ("query.access-denied", "FROM 'data.parquet'"),
        ("query.unknown-name", "FROM ROWS_OF_PYTHON"),
    ],
)
def test_what_reads_elsewhere_or_writes_within_is_refused(
    seek_session: Session, code: str, text: str
) -> None:
    ROWS_OF_PYTHON = pa.table({"x": [1]})  # noqa: F841, N806 - what a replacement scan would find
    with pytest.raises(QueryError) as caught:
        ask(seek_session, text)
    assert caught.value.code in {code, "query.bad-syntax"}
    assert ask(seek_session, "SELECT count(*) AS n FROM answers") == [{"n": 2}]


def test_every_column_of_every_relation_is_explained(make_session: Any, seek_session: Session) -> None:
    for session in (seek_session, make_session()):
        for name in [*RELATIONS, *list_fitting(session.kind)]:
            if not session.public.list_columns(name):
                continue  # it needs an axis that the study lacks
            described = ask(session, f"DESCRIBE {name}")
            assert {row["column_name"] for row in described if row["meaning"] is None} == set(), name


def test_describe_has_unit_and_meaning(seek_session: Session) -> None:
    found = {row["column_name"]: row for row in ask(seek_session, "DESCRIBE points")}
    assert found["cache_capacity"] == {
        "column_name": "cache_capacity",
        "column_type": "BIGINT",
        "unit": "bytes",
        "meaning": found["cache_capacity"]["meaning"],
    }
    assert found["response_p95_us_low"]["unit"] == "us"
    assert "95 %" in found["response_p95_us_low"]["meaning"]
    (row,) = ask(seek_session, "DESCRIBE SELECT users_supported AS u, users_supported FROM answers LIMIT 0")[
        1:
    ]
    assert "workload.users" in row["meaning"]


def test_show_tables_lists_relations_and_named_queries(seek_session: Session) -> None:
    for text in ("SHOW TABLES", "show all tables;", "DESCRIBE"):
        names = {row["name"] for row in ask(seek_session, text)}
        assert {"points", "answers", "axes", "knee", "cheapest"} <= names


def test_a_named_query_is_a_relation(seek_session: Session) -> None:
    rows = ask(seek_session, "SELECT cache_capacity, gain_users_supported FROM pareto OFFSET 1")
    assert rows == [{"cache_capacity": 64 << 20, "gain_users_supported": 10.0}]


def test_a_named_query_without_its_axis_says_which(seek_session: Session) -> None:
    with pytest.raises(QueryError) as caught:
        ask(seek_session, "FROM split_optimum")
    assert caught.value.code == "query.missing-axis"
    assert ask(seek_session, "SELECT 1 AS split_optimum") == [{"split_optimum": 1}]


def test_the_axes_are_listed(seek_session: Session) -> None:
    assert ask(seek_session, "SELECT name, path, unit FROM axes") == [
        {"name": "cache_capacity", "path": "controller.cache.capacity", "unit": "bytes"},
        {"name": "raid", "path": "array.raid", "unit": None},
        {"name": "users", "path": "workload.users", "unit": None},
    ]


def test_settings_of_the_database_hold_for_users(seek_session: Session) -> None:
    for setting in ("python_enable_replacements", "enable_external_access", "autoload_known_extensions"):
        assert ask(seek_session, f"SELECT current_setting('{setting}') AS x") == [{"x": False}]
    assert ask(seek_session, "SELECT current_setting('lock_configuration') AS x") == [{"x": True}]


def test_the_sql_of_a_report_can_be_pasted(seek_session: Session) -> None:
    """Its own statements have dotted paths; the page prints them with the names that users write."""
    chart = {
        "title": "users",
        "x": "controller.cache.capacity",
        "y": "users_supported",
        "where": "raid = '5'",
    }
    seek_session.spec["charts"] = [chart, {**chart, "y": "response_p95_us", "where": "capacity > 0"}]
    printed = [figure.sql for figure in build_figures(seek_session) if figure.sql]
    assert len(printed) >= 2
    for statement in (*printed, seek_session.write_query("design_space")):
        assert ask(seek_session, seek_session.name_paths(statement))
