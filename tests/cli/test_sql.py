"""`destage query` with several statements, from a pipe and into files."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a function that sets what standard input has."""

    def set_input(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return set_input


def test_a_pipe_has_statements(destage: Any, sweep: str, pipe: Any) -> None:
    pipe(b"-- both\nSELECT 1 AS a;\nPIVOT points ON users USING count(*) GROUP BY battery_state;\n")
    done = destage("query", sweep, "-", "--json")
    assert (done.code, done.err) == (0, "")
    first, second = json.loads(done.out)
    assert first == [{"a": 1}]
    assert {row["battery_state"]: row["5"] + row["10"] for row in second} == {"present": 2, "absent": 2}


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "query.no-statement"),
        (b"SELECT 1; DELETE FROM plan", "query.statement-not-allowed"),
        (b"SELECT", "query.bad-syntax"),
        (b"SELECT '\xff'", "query.bad-syntax"),
    ],
)
def test_nothing_of_a_bad_pipe_runs(destage: Any, sweep: str, pipe: Any, content: bytes, code: str) -> None:
    pipe(content)
    done = destage("query", sweep, "-")
    assert (done.code, done.out, done.issues) == (2, "", [(code, "")])


def test_a_statement_that_fails_ends_a_pipe(destage: Any, sweep: str, pipe: Any) -> None:
    pipe(b"SELECT 41 + 1 AS a; SELECT nope FROM points; SELECT 'never' AS b")
    done = destage("query", sweep, "-")
    assert (done.code, done.issues) == (2, [("query.unknown-name", "")])
    assert "42" in done.out
    assert "never" not in done.out


def test_limits_hold_for_each_statement(destage: Any, sweep: str) -> None:
    done = destage("query", sweep, "SELECT 1; FROM range(1000)", "--max-rows", "10")
    assert (done.code, done.issues) == (2, [("query.too-many-rows", "")])


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_format_of_one_table_takes_one_statement(destage: Any, sweep: str, form: str) -> None:
    done = destage("query", sweep, "SELECT 1; SELECT 2", "--format", form)
    assert (done.code, done.out, done.issues) == (2, "", [("usage.several-results", "--format")])


def test_several_results_go_to_a_file(destage: Any, sweep: str, tmp_path: Path) -> None:
    out = tmp_path / "rows.md"
    assert destage("query", sweep, "SELECT 1 AS a; SELECT 2 AS b", "--out", str(out)).code == 0
    assert out.read_text() == "| a |\n| ---: |\n| 1 |\n\n| b |\n| ---: |\n| 2 |\n"


def test_named_questions_are_commands(destage: Any, sweep: str) -> None:
    done = destage("query", sweep, "write_through_penalty", "--json")
    rows = json.loads(done.out)
    assert [row["users"] for row in rows] == [5, 10]
    assert all(row["penalty_ratio"] > 1 for row in rows)
    done = destage("query", sweep, "next_megabyte")
    assert (done.code, done.issues) == (2, [("query.missing-axis", "next_megabyte")])
    assert "next_megabyte" in json.loads(destage("query", sweep, "--json").out)


@pytest.mark.parametrize("question", [(), ("SELECT 1",), ("VALUES(1)",), ("-",)])
def test_only_a_named_query_has_parameters(destage: Any, sweep: str, question: tuple[str, ...]) -> None:
    done = destage("query", sweep, *question, "--param", "idle=1")
    assert (done.code, done.issues) == (2, [("usage.conflicting-options", "--param")])


def test_a_table_has_the_columns_that_the_study_asks_for(destage: Any, sweep: str) -> None:
    """All others are in CSV, which begins with the same columns."""
    shown = destage("query", sweep, "FROM points")
    assert len(shown.out.splitlines()) == 5
    assert "response p95 [ms]" in shown.out
    assert "flushes" not in shown.out
    assert "DESCRIBE points" in shown.err
    columns = destage("query", sweep, "FROM points", "--format", "csv").out.splitlines()[0].split(",")
    assert columns[:4] == ['"label"', '"battery_state"', '"users"', '"response_p95_us"']
    assert len(columns) > 300
    listed = destage("query", sweep, "SELECT users, flushes FROM points")
    assert "flushes" in listed.out
    assert listed.err == ""
