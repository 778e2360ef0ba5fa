"""A query ends at its limits of time, rows and memory, and by a signal."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from destage.errors import QueryError
from destage.sql import Database, QueryLimits, filter_rows
from destage.sql.limits import read_only

ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t WHERE n < 0"
CROSS = (
    "SELECT count(*) FROM range(10000000) a, range(10000000) b, range(10000000) c WHERE a.range = b.range + 1"
)
SOON_S = 60.0
"""Bound of an end on a busy machine [s]; the statements would take hours."""


@pytest.fixture
def python_handles_interrupts() -> Iterator[None]:
    """Handle SIGINT as Python does; a worker of pytest-xdist ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("statement", [ENDLESS, CROSS])
def test_a_query_ends_at_its_time_limit_and_the_next_one_runs(statement: str) -> None:
    with Database({}, limits=QueryLimits(seconds=0.5)) as database:
        began = time.monotonic()
        with pytest.raises(QueryError) as caught:
            database.query(statement)
        assert time.monotonic() - began < SOON_S
        assert (caught.value.code, caught.value.data) == ("query.timeout", {"limit_s": 0.5})
        assert database.query("SELECT 1 AS one").to_pylist() == [{"one": 1}]


class _LateInterrupts:
    """A connection whose roll-backs end as an interruption leaves them."""

    def __init__(self, *failures: type[Exception]) -> None:
        self._failures = list(failures)
        self.statements: list[str] = []

    def execute(self, statement: str) -> None:
        self.statements.append(statement.split(maxsplit=1)[0])
        if statement == "ROLLBACK" and self._failures:
            raise self._failures.pop(0)("late")


@pytest.mark.parametrize(
    ("failures", "rolled_back"),
    [
        ((), 1),
        ((duckdb.InterruptException, duckdb.InterruptException), 3),
        ((duckdb.InterruptException, duckdb.TransactionException), 2),
    ],
)
def test_an_interruption_of_the_roll_back_leaves_no_transaction(
    failures: tuple[type[Exception], ...], rolled_back: int
) -> None:
    connection: Any = _LateInterrupts(*failures)
    with read_only(connection):
        pass
    assert connection.statements == ["BEGIN", *["ROLLBACK"] * rolled_back]


def test_a_call_that_cannot_be_interrupted_is_abandoned_with_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("destage.sql.limits._END_S", 0.1)
    database = Database({}, limits=QueryLimits(seconds=0.2))
    with pytest.raises(QueryError) as caught:
        database.query("SELECT levenshtein(repeat('a', 40000), repeat('b', 40000))")
    assert caught.value.code == "query.timeout"
    assert database.is_abandoned
    with pytest.raises(QueryError) as refused:
        database.query("SELECT 1")
    assert refused.value.code == "query.still-running"
    database.close()


def test_a_limit_beyond_what_a_clock_can_wait_for_is_none() -> None:
    with Database({}, limits=QueryLimits(seconds=3e10)) as database:
        assert database.query("SELECT 1 AS one").to_pylist() == [{"one": 1}]


@pytest.mark.parametrize("statement", [ENDLESS, CROSS])
@pytest.mark.usefixtures("python_handles_interrupts")
def test_one_signal_ends_a_query(statement: str) -> None:
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    with Database({}) as database:
        timer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            database.query(statement)
    assert time.monotonic() - began < SOON_S


def test_a_result_ends_at_its_rows() -> None:
    with Database({}, limits=QueryLimits(rows=1000)) as database:
        assert database.query("SELECT * FROM range(1000)").num_rows == 1000
        with pytest.raises(QueryError) as caught:
            database.query("SELECT * FROM range(1000000000000)")
    assert (caught.value.code, caught.value.data) == ("query.too-many-rows", {"limit": 1000})


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT list(range) FROM range(1000000000)",
        "SELECT repeat('x', 1000) || range FROM range(1000000000)",
    ],
)
def test_a_query_ends_at_its_memory(statement: str) -> None:
    limits = QueryLimits(memory_bytes=128 << 20)
    with Database({}, limits=limits) as database, pytest.raises(QueryError) as caught:
        database.query(statement)
    assert caught.value.code == "query.out-of-memory"


def test_a_condition_ends_at_its_time_limit() -> None:
    with pytest.raises(QueryError) as caught:
        filter_rows(pa.table({"x": [1]}), f"x < ({ENDLESS})", QueryLimits(seconds=0.5))
    assert (caught.value.code, caught.value.place) == ("query.timeout", "where")
