"""Output formats of rows: table, csv, json, parquet, markdown."""

import io
import json
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from destage import allowance
from destage.errors import QueryError
from destage.queries.text.plain_values import flatten, rows_as_json, unmark
from destage.queries.text.presentation import present

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
FORMATS = ("table", "csv", "json", "parquet", "markdown")


def encode(table: pa.Table, form: str, units: Mapping[str, str], *, escape_formulas: bool = False) -> bytes:
    """Return rows as csv, json, parquet or markdown, in UTF-8; `table` is for the terminal only.

    Args:
        units: The base unit of an axis by its dotted path; only markdown shows quantities.
        escape_formulas: Whether csv has an apostrophe before texts that a spreadsheet reads as formulas.
    """
    sink = io.BytesIO()
    match form:
        case "csv":
            rows = flatten(table)
            pyarrow.csv.write_csv(_escape_formulas(rows) if escape_formulas else rows, sink)
            allowance.take(sink.tell())
        case "json":
            sink.write((format_json(table) + "\n").encode())
        case "parquet":
            pq.write_table(unmark(make_storable(table)), sink, compression="zstd")
        case "markdown":
            sink.write(format_markdown(table, units).encode())
        case _:
            raise QueryError(
                "query.unknown-format",
                f"unknown format {form!r}; allowed: {', '.join(FORMATS)}",
                data={"allowed": FORMATS},
            )
    return sink.getvalue()


def format_json(table: pa.Table) -> str:
    """Return rows as a JSON list, indented by one; they are converted and encoded in parts."""
    encoder = json.JSONEncoder(ensure_ascii=False, indent=1)
    texts = []
    for start in range(0, table.num_rows, allowance.STEP):
        part = "".join(allowance.watch(encoder.iterencode(rows_as_json(table.slice(start, allowance.STEP)))))
        allowance.take(len(part))
        texts.append(part.removeprefix("[").removesuffix("\n]"))
    return f"[{','.join(texts)}\n]" if texts else "[]"


def format_markdown(table: pa.Table, units: Mapping[str, str]) -> str:
    """Return rows as a markdown table."""
    shown = present(table, units)
    lines = [
        [heading.title for heading in shown.headings],
        ["---:" if heading.is_number else "---" for heading in shown.headings],
        *shown.rows,
    ]
    escaped = (" | ".join(cell.replace("|", "\\|") for cell in line) for line in allowance.watch(lines))
    return "".join(f"| {line} |\n" for line in escaped)


def make_storable(table: pa.Table) -> pa.Table:
    """Return the table with what Parquet and polars lack as texts: intervals, unions, empty structs."""
    for index, field in enumerate(table.schema):
        if _has_unstorable(field.type):
            table = table.set_column(index, field.name, flatten(table.select([index]))[0])
    return table


def _has_unstorable(kind: pa.DataType) -> bool:
    if pa.types.is_interval(kind) or pa.types.is_union(kind):
        return True
    if pa.types.is_struct(kind) and not kind.num_fields:
        return True
    return any(_has_unstorable(kind.field(index).type) for index in range(kind.num_fields))


def _escape_formulas(table: pa.Table) -> pa.Table:
    """Return the table with an apostrophe before each text, and name, that begins like a formula."""
    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            chunks = [
                pa.array(map(_escape, allowance.watch(chunk.to_pylist())), pa.string())
                for chunk in table[index].chunks
            ]
            table = table.set_column(index, field.name, pa.chunked_array(chunks, pa.string()))
    return table.rename_columns([_escape(name) or "" for name in table.column_names])


def _escape(text: str | None) -> str | None:
    return f"'{text}" if text is not None and text.startswith(_FORMULA) else text
