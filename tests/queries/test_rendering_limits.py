"""The rendering of rows is within the limits of their statement, and a value is the same wherever it is."""

import json
import threading
import time
from collections.abc import Callable

import pyarrow as pa
import pytest

from destage import allowance
from destage.errors import QueryError
from destage.queries.text.formats import encode, format_json
from destage.queries.text.plain_values import list_json_values
from destage.queries.text.presentation import present
from destage.sql import Database, QueryLimits

SOON_S = 10.0
MANY = "SELECT {'a': INTERVAL (i) DAY} AS days, [i] AS numbers FROM range(2000000) t(i)"
RENDERINGS: dict[str, Callable[[pa.Table], object]] = {
    "json": format_json,
    "csv": lambda rows: encode(rows, "csv", {}),
    "markdown": lambda rows: encode(rows, "markdown", {}),
    "table": lambda rows: present(rows, {}),
}
SCALARS = {
    "interval": "INTERVAL '1 month 2 days'",
    "date": "DATE '290309-12-22 (BC)'",
    "infinite date": "DATE 'infinity'",
    "time": "TIME '24:00:00'",
    "timestamp": "TIMESTAMP '2026-01-02 03:04:05.678901'",
    "nanoseconds": "TIMESTAMP_NS '2026-01-02 03:04:05.678901234'",
    "blob": "BLOB '\\x00a'",
    "decimal": "1.50::DECIMAL(38, 10)",
    "infinity": "'-infinity'::DOUBLE",
    "large": "170141183460469231731687303715884105727::HUGEINT",
    "enum": "'b'::ENUM ('a', 'b')",
    "uuid": "'00000000-0000-0000-0000-00000000000a'::UUID",
}


@pytest.mark.parametrize("name", RENDERINGS)
def test_rendering_ends_at_the_time_limit_of_the_statement(name: str) -> None:
    with Database({}, limits=QueryLimits(seconds=1.5)) as database:
        rows = database.query(MANY)
        began = time.monotonic()
        with pytest.raises(QueryError) as caught:
            database.render(lambda: RENDERINGS[name](rows))
        assert time.monotonic() - began < SOON_S
        assert (caught.value.code, caught.value.data) == ("query.timeout", {"limit_s": 1.5})
        assert not database.is_abandoned
        assert database.query("SELECT 1 AS one").to_pylist() == [{"one": 1}]


@pytest.mark.parametrize("name", RENDERINGS)
def test_rendering_ends_at_the_memory_of_the_statement(name: str) -> None:
    with Database({}, limits=QueryLimits(memory_bytes=64 << 20)) as database:
        rows = database.query("SELECT [repeat('x', 1000)] AS texts FROM range(40000)")
        rows = pa.concat_tables([rows] * 2)
        with pytest.raises(QueryError) as caught:
            database.render(lambda: RENDERINGS[name](rows))
    assert caught.value.code == "query.out-of-memory"


def test_an_interrupt_of_a_statement_is_named_as_one_of_rendering() -> None:
    with Database({}) as database:
        timer = threading.Timer(0.3, database.interrupt)
        timer.start()
        with pytest.raises(QueryError) as caught:
            database.query("SELECT sum(a.i * b.i) FROM range(10000000) a(i), range(1000000) b(i)")
        assert (caught.value.code, caught.value.message) == ("query.failed", "interrupted")


def test_an_interrupt_ends_rendering() -> None:
    with Database({}) as database:
        rows = database.query(MANY)
        timer = threading.Timer(0.3, database.interrupt)
        timer.start()
        began = time.monotonic()
        with pytest.raises(QueryError) as caught:
            database.render(lambda: format_json(rows))
        assert (caught.value.code, caught.value.message) == ("query.failed", "interrupted")
        assert time.monotonic() - began < SOON_S


def test_nested_values_of_a_column_are_rendered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 10_000
    with Database({}) as database:
        rows = database.query(f"SELECT {{'a': INTERVAL (i) DAY}} AS days FROM range({count}) t(i)")  # noqa: S608
    casts: list[int] = []

    def cast(column: pa.ChunkedArray) -> list[str | None]:
        casts.append(len(column))
        return ["text"] * len(column)

    monkeypatch.setattr("destage.sql.render_texts", cast)
    assert json.loads(format_json(rows)) == [{"days": {"a": "text"}}] * count
    assert sum(casts) == count
    assert len(casts) <= 2 + count // allowance.STEP


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=SCALARS)
def test_a_value_is_the_same_within_any_nested_type(scalar: str) -> None:
    nested = {
        "alone": "v",
        "list": "[v, NULL]",
        "lists": "[[v], [], NULL]",
        "struct": "{'a': v, 'b': [v]}",
        "map": "map([1], [v])",
        "array": "array_value(v, v)",
        "union": "union_value(u := v)",
        "unions": "[union_value(u := [v])]",
        "key": "map([v], [1])",
    }
    listed = ", ".join(f'{value} AS "{name}"' for name, value in nested.items())
    with Database({}) as database:
        rows = database.query(f"SELECT {listed} FROM (SELECT {scalar} AS v)")  # noqa: S608
    # A slice begins within the buffers of its array.
    twice = pa.concat_tables([rows, rows]).combine_chunks().slice(1)
    found = {name: list_json_values(twice[name]) for name in nested}
    (value,) = found["alone"]
    assert found["list"] == [[value, None]]
    assert found["lists"] == [[[value], [], None]]
    assert found["struct"] == [{"a": value, "b": [value]}]
    assert found["map"] == [{"1": value}]
    assert found["array"] == [[value, value]]
    assert found["union"] == [value]
    assert found["unions"] == [[[value]]]
    assert list(found["key"][0].values()) == [1]
    if isinstance(value, str) and "finity" not in scalar:
        assert list(found["key"][0]) == [value]


def test_nulls_of_nested_types_stay_null() -> None:
    statement = (
        "SELECT CASE WHEN i % 2 = 0 THEN {'a': [i]} END AS s, CASE WHEN i > 0 THEN map([i], [i]) END AS m"
    )
    with Database({}) as database:
        rows = database.query(f"{statement} FROM range(3) t(i) ORDER BY i")
    assert list_json_values(rows["s"]) == [{"a": [0]}, None, {"a": [2]}]
    assert list_json_values(rows["m"]) == [None, {"1": 1}, {"2": 2}]
