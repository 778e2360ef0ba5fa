"""Output formats of rows: table, csv, json, parquet, markdown."""

import io
import json
import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from destage.errors import QueryError
from destage.queries.presentation import present

FORMATS = ("table", "csv", "json", "parquet", "markdown")


def encode(table: pa.Table, form: str, units: Mapping[str, str]) -> bytes:
    """Return rows as csv, json, parquet or markdown; `table` is for the terminal only.

    `units` has the base unit of an axis by its dotted path; only markdown shows quantities.
    """
    sink = io.BytesIO()
    match form:
        case "csv":
            pyarrow.csv.write_csv(_flat(table), sink)
        case "json":
            sink.write((json.dumps(rows_as_json(table), ensure_ascii=False, indent=1) + "\n").encode())
        case "parquet":
            pq.write_table(table, sink, compression="zstd")
        case "markdown":
            sink.write(format_markdown(table, units).encode())
        case _:
            raise QueryError(
                "query.unknown-format",
                f"unknown format {form!r}; allowed: {', '.join(FORMATS)}",
                data={"allowed": FORMATS},
            )
    return sink.getvalue()


def rows_as_json(table: pa.Table) -> list[dict[str, Any]]:
    """Return rows as JSON values: times as text, NaN and infinity as null."""
    return [{name: _plain(value) for name, value in row.items()} for row in table.to_pylist()]


def format_markdown(table: pa.Table, units: Mapping[str, str]) -> str:
    """Return rows as a markdown table."""
    shown = present(table, units)
    lines = [
        [heading.title for heading in shown.headings],
        ["---:" if heading.is_number else "---" for heading in shown.headings],
        *shown.rows,
    ]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _plain(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _flat(table: pa.Table) -> pa.Table:
    """Return the table with lists as JSON text, which csv can contain."""
    for index, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            texts = pa.array(
                [None if value is None else json.dumps(value) for value in table[field.name].to_pylist()]
            )
            table = table.set_column(index, field.name, texts)
    return table
