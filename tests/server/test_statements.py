"""The SQL box has the sandbox and the limits of `destage query`."""

import json
import threading
import time

import pytest
from served_sweep import ENDLESS, SOON_S, Served

pytestmark = pytest.mark.xdist_group("served")


def test_results_are_as_in_a_table(served: Served) -> None:
    answer = served.sql(
        "SELECT users, count(*) AS total FROM runs GROUP BY users ORDER BY users; SELECT 'a' AS letter"
    ).json
    first, second = answer["results"]
    assert first["headings"] == [
        {"title": "users", "name": "users", "is_number": True},
        {"title": "total", "name": "total", "is_number": True},
    ]
    assert first["rows"] == [["5", "2"], ["10", "2"]]
    assert (first["row_count"], first["left_out"]) == (2, 0)
    assert second["rows"] == [["a"]]


def test_nested_values_are_rendered_within_the_limit(served: Served) -> None:
    rows = "SELECT list({'a': INTERVAL (i % 3) DAY}) AS days FROM range(100000) t(i) GROUP BY i // 100"
    began = time.monotonic()
    answer = served.sql(f"{rows} LIMIT 1000; FROM duckdb_settings()")
    assert answer.status == 200
    assert time.monotonic() - began < 60
    assert answer.json["results"][0]["rows"][0][0].startswith('[{"a": ')


def test_a_wide_relation_has_the_columns_that_the_study_asks_for(served: Served) -> None:
    wide, one = served.sql("FROM points; SELECT response_p95_us_high FROM points").json["results"]
    names = [heading["name"] for heading in wide["headings"]]
    assert len(names) < 60
    assert {"users", "response_p95_us"} <= set(names)
    assert "DESCRIBE points" in wide["remark"]
    assert [heading["name"] for heading in one["headings"]] == ["response_p95_us_high"]
    assert one["remark"] == ""


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("DELETE FROM runs", "query.statement-not-allowed"),
        ("CREATE TABLE x (a INT)", "query.statement-not-allowed"),
        ("COPY runs TO 'x.csv'", "query.statement-not-allowed"),
        ("SET lock_configuration = false", "query.statement-not-allowed"),
        ("ATTACH 'x.db'", "query.statement-not-allowed"),
        ("SELECT 1; DROP TABLE stored_rows", "query.statement-not-allowed"),
        ("SELECT * FROM read_text('/etc/passwd')", "query.access-denied"),
        ("SELECT * FROM '/etc/passwd'", "query."),
        ("SELECT nope FROM runs", "query.unknown-name"),
        ("SELEC 1", "query.bad-syntax"),
        ("SELECT 'a\0b'", "query.bad-syntax"),
        ("UPDATE EXTENSIONS", "query.statement-not-allowed"),
        ("", "query.no-statement"),
        ("SELECT * FROM range(1000000)", "query.too-many-rows"),
        ("SELECT repeat('x', 5000000) AS x", "query.row-too-large"),
    ],
)
def test_a_refused_statement_is_one_line_with_its_code(served: Served, statement: str, code: str) -> None:
    _check_refused(served, statement, code)


def test_a_statement_that_takes_too_long_is_refused(hasty: Served) -> None:
    _check_refused(hasty, ENDLESS, "query.timeout")


def _check_refused(served: Served, statement: str, code: str) -> None:
    answer = served.sql(statement)
    assert answer.status == 400
    assert answer.json["error"].startswith(code)
    assert "\n" not in answer.json["error"]
    assert served.sql("SELECT 1").status == 200


def test_a_statement_that_cannot_be_interrupted_does_not_block_others(hasty: Served) -> None:
    """DuckDB does not interrupt one call of a function; three of them would take both seats."""
    for _ in range(3):
        answer = hasty.sql("SELECT levenshtein(repeat('a', 40000), repeat('b', 40000))")
        assert answer.status == 200 or answer.json["error"].startswith("query.timeout")
        assert hasty.sql("SELECT 1").status == 200


def test_the_limits_hold_for_all_statements_of_a_request(served: Served, hasty: Served) -> None:
    answer = served.sql("SELECT repeat('x', 1900) AS x FROM range(1000);" * 30)
    assert answer.status == 400
    assert answer.json["error"].startswith("query.row-too-large")
    results = served.sql("SELECT repeat('x', 1900) AS x FROM range(1000);" * 3).json["results"]
    assert sum(len(row[0]) for result in results for row in result["rows"]) <= 4 << 20
    endless = hasty.sql("SELECT count(*) FROM range(20000000) a WHERE a.range % 7 = 1;" * 200)
    assert endless.json["error"].startswith("query.timeout")


def test_values_that_python_does_not_have_are_shown(served: Served) -> None:
    answer = served.sql("SELECT * FROM test_all_types()")
    assert answer.status == 200
    (result,) = answer.json["results"]
    assert result["row_count"] == 3


def test_the_page_gets_the_first_rows_of_a_long_result(served: Served) -> None:
    (result,) = served.sql("SELECT * FROM range(50000)").json["results"]
    assert (len(result["rows"]), result["row_count"], result["left_out"]) == (1000, 50000, 49000)
    (result,) = served.sql("SELECT repeat('x', 100000) AS x FROM range(500)").json["results"]
    assert 0 < len(result["rows"]) <= 41
    assert len(result["rows"]) + result["left_out"] == 500
    assert max(len(cell) for row in result["rows"] for cell in row) == 2000


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("", 400),
        ("[]", 400),
        ('{"statements": 1}', 400),
        ('{"statements": "' + "x" * 70_000 + '"}', 413),
        ('{"statements": ' + "[" * 60_000, 400),
    ],
)
def test_a_malformed_request_is_refused(served: Served, body: str, status: int) -> None:
    assert served.ask("/sql", "POST", body, Content_Type="application/json").status == status


def test_statements_beyond_those_that_may_run_wait(hasty: Served) -> None:
    """Four that each take their whole time are two pairs, of which the second waits as long at most."""
    connections = [hasty.send_endless() for _ in range(4)]
    errors = sorted(json.loads(each.getresponse().read())["error"].partition(":")[0] for each in connections)
    assert errors.count("query.timeout") >= 2
    assert set(errors) <= {"query.timeout", "query.busy"}
    assert hasty.sql("SELECT 1").status == 200


def test_state_is_answered_while_statements_run(hasty: Served) -> None:
    connections = [hasty.send_endless() for _ in range(2)]
    assert hasty.ask("/state").status == 200
    for each in connections:
        each.getresponse().read()


def test_many_readers_are_answered(served: Served) -> None:
    found: list[int] = []

    def read() -> None:
        found.extend(served.ask(path).status for path in ("/state", "/", "/assets/serve.css") * 5)

    threads = [threading.Thread(target=read) for _ in range(20)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [200] * 300
    assert time.monotonic() - began < SOON_S
