"""Every format shows the rows of every query as DuckDB has them."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest

from destage.errors import QueryError
from destage.queries.text.formats import encode, format_markdown
from destage.sql import Database

_VALUES = {
    "sum(i)": (45, "45"),
    "1.25::decimal(5, 2)": (1.25, "1.25"),
    "123456789012345678901234567890::hugeint": (
        123456789012345678901234567890,
        "123456789012345678901234567890",
    ),
    "'inf'::double": ("Infinity", "inf"),
    "'-inf'::float": ("-Infinity", "-inf"),
    "'nan'::double": ("NaN", "nan"),
    "interval '1 month 2 days 3.5 seconds'": ("1 month 2 days 00:00:03.5", "1 month 2 days 00:00:03.5"),
    "'ab\\xFF'::blob": ("ab\\xFF", "ab\\xFF"),
    "[1.5, NULL, 'inf'::double]": ([1.5, None, "Infinity"], '[1.5, null, "Infinity"]'),
    "{'x': 1, 'y': [date '2020-01-31']}": (
        {"x": 1, "y": ["2020-01-31"]},
        '{"x": 1, "y": ["2020-01-31"]}',
    ),
    "map {'k': interval '1 day'}": ({"k": "1 day"}, '{"k": "1 day"}'),
    "['a'::blob]": (["a"], '["a"]'),
    "timestamp '2020-01-31 12:00:00.5'": ("2020-01-31 12:00:00.5", "2020-01-31 12:00:00.5"),
    "timestamp_ns '2020-01-01 00:00:00.123456789'": (
        "2020-01-01 00:00:00.123456789",
        "2020-01-01 00:00:00.123456789",
    ),
    "timestamp '290000-01-01'": ("290000-01-01 00:00:00", "290000-01-01 00:00:00"),
    "'infinity'::timestamp": ("infinity", "infinity"),
    "time '10:00:00'": ("10:00:00", "10:00:00"),
    "'a'::enum('a', 'b')": ("a", "a"),
    "union_value(k := 1)": (1, "1"),
    "'Größe €'": ("Größe €", "Größe €"),
    "NULL": (None, ""),
    "true": (True, "true"),
}


@pytest.mark.parametrize("expression", _VALUES)
def test_each_value_has_a_form_in_each_format(expression: str) -> None:
    with Database({}) as database:
        rows = database.query(
            f"SELECT {expression} AS x, 1 AS one FROM range(10) AS t(i) GROUP BY ALL LIMIT 1"  # noqa: S608
        )
    as_json, as_csv = _VALUES[expression]
    assert json.loads(encode(rows, "json", {})) == [{"x": as_json, "one": 1}]
    found = list(csv.DictReader(io.StringIO(encode(rows, "csv", {}).decode())))
    assert [row["x"] for row in found] == [as_csv]
    assert pq.read_table(io.BytesIO(encode(rows, "parquet", {}))).num_rows == 1
    assert len(format_markdown(rows, {}).splitlines()) == 3


def test_columns_of_one_name_are_numbered_and_kept() -> None:
    with Database({}) as database:
        rows = database.query("SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS a")
    assert json.loads(encode(rows, "json", {})) == [{"a": 1, "a_2": 2, "a_1": 3, "a_3": 4}]


def test_csv_escapes_formulas_by_option() -> None:
    with Database({}) as database:
        rows = database.query("SELECT '=1+1' AS a, '-x' AS b, -5 AS c, 'x=1' AS d")
    assert encode(rows, "csv", {}).splitlines()[1] == b'"=1+1","-x",-5,"x=1"'
    assert encode(rows, "csv", {}, escape_formulas=True).splitlines()[1] == b'"\'=1+1","\'-x",-5,"x=1"'


def test_a_query_that_fails_midway_names_its_code() -> None:
    with Database({}) as database, pytest.raises(QueryError) as caught:
        database.query("SELECT error('late') FROM range(10)")
    assert caught.value.code == "query.failed"
