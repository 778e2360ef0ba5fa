"""The stored answers of a seek and the runs that certify them."""

from collections.abc import Mapping

import pyarrow as pa

from destage.store.files.parquet import as_parquet
from destage.store.state.head import Generation, Head


def answers_schema(axes: list[pa.Field]) -> pa.Schema:
    """Return the schema of the answers: one row per point."""
    return pa.schema(
        [
            pa.field("point_id", pa.string()),
            pa.field("label", pa.string()),
            *axes,
            pa.field("metric", pa.string()),
            pa.field("answer_mean", pa.float64()),
            pa.field("answer_low", pa.float64()),
            pa.field("answer_high", pa.float64()),
            pa.field("answer_half_width", pa.float64()),
            pa.field("passing", pa.int64()),
            pa.field("failing", pa.int64()),
            pa.field("failing_verdict", pa.string()),
            pa.field("n", pa.int64()),
            pa.field("answers", pa.list_(pa.float64())),
            pa.field("censored", pa.string()),
            pa.field("monotone", pa.bool_()),
            pa.field("binding", pa.string()),
            pa.field("limiting", pa.string()),
            pa.field("interval_met", pa.bool_()),
            pa.field("undecided", pa.int64()),
            pa.field("failed", pa.int64()),
            pa.field("price", pa.float64()),
        ]
    )


def complete_answers(answers: pa.Table, axes: list[pa.Field]) -> pa.Table:
    """Return stored answers with every column of their schema.

    A sweep without answers stores no axes, and one of an earlier version lacks columns added since.
    """
    for field in answers_schema(axes):
        if field.name not in answers.column_names:
            answers = answers.append_column(field, pa.nulls(answers.num_rows, field.type))
    return answers


def certificates_schema() -> pa.Schema:
    """Return the schema of the certificates: one row per point and replicate."""
    return pa.schema(
        [
            pa.field("point_id", pa.string()),
            pa.field("replicate", pa.int64()),
            pa.field("n", pa.float64()),
            pa.field("run_id_pass", pa.string()),
            pa.field("run_id_fail", pa.string()),
            pa.field("state", pa.string()),
        ]
    )


def write_answers(
    generation: Generation, kept: Head | None, answers: pa.Table, certificates: pa.Table
) -> tuple[str, str]:
    """Write a sweep's answers and certificates, and return their names; equal ones of `kept` stay."""
    earlier = (None, None) if kept is None else (kept.answers, kept.certificates)
    return (
        generation.keep_or_write(earlier[0], "answers", ".parquet", as_parquet(answers)),
        generation.keep_or_write(earlier[1], "certificates", ".parquet", as_parquet(certificates)),
    )


def write_analyses(
    generation: Generation, kept: Head | None, tables: Mapping[str, pa.Table]
) -> dict[str, str]:
    """Write the tables of a study's analyses, and return their names; equal ones of `kept` stay."""
    earlier = {} if kept is None else kept.analyses
    return {
        name: generation.keep_or_write(earlier.get(name), name, ".parquet", as_parquet(table))
        for name, table in tables.items()
    }
