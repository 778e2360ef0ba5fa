"""Rows written out: nothing lost for programs, readable for people."""

import io
import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from destage.errors import QueryError
from destage.queries.text.formats import encode, format_markdown
from destage.queries.text.presentation import begin_sentence, format_axis_value, format_number, present

CAPACITY = "controller.cache.capacity"
UNITS = {CAPACITY: "bytes"}
ROWS = pa.table(
    {
        CAPACITY: [64 * 2**20, 2**30],
        "array.raid": ["10", "5"],
        "response_p95_us": [12_345.678, None],
        "users_supported": [46.4, 97.0],
        "users_supported_low": [44.74, None],
        "users_supported_high": [48.06, None],
        "censored": pa.array([None, "at_least"], pa.string()),
        "answers": [[46, 47], [97]],
        "n_failed": [0, 0],
    }
)


def test_parquet_keeps_every_value_and_type() -> None:
    assert pq.read_table(io.BytesIO(encode(ROWS, "parquet", UNITS))).equals(ROWS)


@pytest.mark.parametrize("end", ["low", "high"])
def test_one_end_of_an_interval_is_a_column_as_any_other(end: str) -> None:
    asked = ROWS.select(["users_supported", f"users_supported_{end}"])
    shown = present(asked, UNITS)
    assert [heading.title for heading in shown.headings] == ["users supported", f"users supported {end}"]
    assert shown.rows[0] == ("46.4", "44.74" if end == "low" else "48.06")


def test_csv_keeps_names_and_base_units() -> None:
    table = pyarrow.csv.read_csv(io.BytesIO(encode(ROWS, "csv", UNITS)))
    assert table.column_names == ROWS.column_names
    assert table[CAPACITY].to_pylist() == ROWS[CAPACITY].to_pylist()
    assert table["response_p95_us"].to_pylist() == ROWS["response_p95_us"].to_pylist()
    assert table["answers"].to_pylist() == ["[46, 47]", "[97]"]


def test_json_has_texts_for_nan_and_infinity() -> None:
    rows = json.loads(encode(pa.table({"x": [float("nan"), 1.5]}), "json", {}))
    assert rows == [{"x": "NaN"}, {"x": 1.5}]


def test_markdown_shows_units_intervals_and_bounds() -> None:
    lines = format_markdown(ROWS, UNITS).splitlines()
    assert lines[0] == "| cache capacity | RAID | response p95 [ms] | users supported (95 % CI) | answers |"
    assert lines[2] == "| 64 MiB | 1+0 | 12.35 | 46.4 (44.74 to 48.06) | [46, 47] |"
    assert lines[3] == "| 1 GiB | 5 | – | ≥ 97 | [97] |"  # noqa: RUF001 - as people read it


def test_values_of_several_axes_are_shown_as_those_of_one() -> None:
    """Rows such as those of `marginals` have texts in base units."""
    axis = ["cache_capacity", "raid", "raid", "disk", "charge_time", "write_fraction", "force", "policy"]
    value = ["16777216", "10", "5", "u320_10k_36gb", "3600000000000", "1.0", "true", "lru"]
    table = pa.table({"axis": axis, "value": value, "points": [1] * len(axis)})
    units = {"cache_capacity": "bytes", "charge_time": "ns", "write_fraction": "fraction"}
    shown = ["16 MiB", "1+0", "5", "10K Ultra320 SCSI 36 GB", "1 h", "1", "yes", "lru"]
    assert [row[1] for row in present(table, units).rows] == shown
    assert encode(table, "csv", units).decode().splitlines()[1] == '"cache_capacity","16777216",1'


def test_a_pipe_in_a_cell_is_escaped() -> None:
    assert format_markdown(pa.table({"label": ["a|b"]}), {}).splitlines()[2] == "| a\\|b |"


def test_warning_columns_are_hidden_without_a_warning() -> None:
    def titles(failed: int) -> list[str]:
        return [heading.title for heading in present(pa.table({"n": [5], "n_failed": [failed]}), {}).headings]

    assert titles(0) == ["replicates"]
    assert titles(1) == ["replicates", "failed runs"]


def test_equal_short_headings_become_longer() -> None:
    table = pa.table({"array.disk.queue.depth": [1], "array.rebuild.depth": [2]})
    assert [heading.title for heading in present(table, {}).headings] == ["queue depth", "rebuild depth"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (39.0, "39"),
        (46.4, "46.4"),
        (0.000123456, "0.0001235"),
        (12345.67, "12\u202f346"),
        (1e7, "10\u202f000\u202f000"),
        (-2.5, "-2.5"),
        (9999.96, "10\u202f000"),
        (100.0, "100"),
        (1e-12, "0"),
    ],
)
def test_numbers_have_four_digits_and_no_exponent(value: float, text: str) -> None:
    assert format_number(value) == text


def test_an_unknown_format_is_an_error_with_the_allowed_ones() -> None:
    with pytest.raises(QueryError) as caught:
        encode(ROWS, "xml", {})
    assert caught.value.code == "query.unknown-format"
    assert caught.value.data["allowed"] == ("table", "csv", "json", "parquet", "markdown")


@pytest.mark.parametrize(
    "place", ["/traces/web.parquet", "s3://bucket/traces/web.parquet?endpoint_override=10.0.0.1:9000/x"]
)
def test_a_trace_is_shown_by_its_file_name(place: str) -> None:
    assert format_axis_value("workload.streams.0.arrival.file", place, None) == "web.parquet"


def test_a_sentence_begins_with_a_capital_and_keeps_the_others() -> None:
    assert [begin_sentence(text) for text in ("users", "RAID", "cache of 4 GiB", "")] == [
        "Users",
        "RAID",
        "Cache of 4 GiB",
        "",
    ]
