"""The rows of a sweep as flat Parquet files for other programs, with a README.md that explains them.

A column has its unit and its meaning as metadata: of the field in Arrow, and as JSON in the file's key-value
metadata, which every Parquet reader shows. Destage writes the files and does not read them: the fragments
have the rows. A session that adds rows removes the files (`store.removal`).
"""

import json
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from destage.errors import StoreError
from destage.objects import Location, ObjectPath
from destage.queries.exports.export_page import (
    ExportedColumn,
    ExportedFile,
    add_record,
    read_record,
    write_page,
)
from destage.queries.exports.report_record import digest_inputs
from destage.queries.opening.session import Session
from destage.store import open_sweep
from destage.store.files.durable import temporary_name, write_durably
from destage.store.files.layout import EXPORTS, README
from destage.store.files.regular_files import MOST_RECORD, read_file

MOST_AT_END = 10_000
"""Runs up to which the files are written at the end of a sweep, which takes a second or two."""
_WRITTEN = "destage"
"""The prefix of the keys in a file's metadata."""


@dataclass(frozen=True, slots=True)
class Export:
    """The files that were written.

    Attributes:
        rows: The number of rows by the name of the file.
    """

    folder: Location
    rows: dict[str, int]


def export_sweep(session: Session, folder: Location | None = None) -> Export:
    """Write the files of a sweep to a folder, by default to its directory."""
    place = session.sweep.path if folder is None else folder
    inputs = digest_inputs(session.sweep, session.relations.fragments)
    files = [_write_relation(session, file, place) for file in list_files(session)]
    _write_page(session, place, files, inputs)
    return Export(place, {file.name: file.rows or 0 for file in files})


def update_export(session: Session) -> None:
    """Write the files of a sweep to its directory, unless they are up to date or the sweep is large."""
    path = session.sweep.path
    inputs = digest_inputs(session.sweep, session.relations.fragments)
    if _read_inputs(path) == inputs:
        return
    if session.planned_runs <= MOST_AT_END:
        export_sweep(session)
        return
    _write_page(session, path, [_describe(session, file) for file in list_files(session)], inputs)


def is_exported(path: Location) -> bool:
    """Return whether the files in a sweep's directory are up to date."""
    try:
        sweep = open_sweep(path)
        return _read_inputs(path) == digest_inputs(sweep, (fragment.name for fragment in sweep.row_files()))
    except (FileNotFoundError, StoreError):
        return False  # opening the sweep raises the error


def find_foreign(folder: Path) -> Path | None:
    """Return a file in a folder that an export would replace although no export wrote it."""
    present = [folder / name for name in EXPORTS if (folder / name).exists()]
    return present[0] if present and _read_inputs(folder) is None else None


def list_files(session: Session) -> list[str]:
    """Return the names of the files that a sweep has: the answers only of a study that seeks a value."""
    return [
        name for name in EXPORTS if name not in (README, "answers.parquet" if session.metric is None else "")
    ]


def _read_inputs(folder: Location) -> str | None:
    with suppress(FileNotFoundError, StoreError):
        return read_record(read_file(folder / README, MOST_RECORD))
    return None


def _write_page(session: Session, place: Location, files: Sequence[ExportedFile], inputs: str) -> None:
    page = write_page(session, files, is_sweep=place == session.sweep.path)
    if not isinstance(place, ObjectPath):
        place.mkdir(parents=True, exist_ok=True)
    write_durably(place / README, add_record(page, inputs).encode())


def _describe(session: Session, name: str, rows: int | None = None) -> ExportedFile:
    """Return a file with its columns: those of its relation that are neither lists nor tables."""
    relation = Path(name).stem
    (statement,) = session.split(f"DESCRIBE {relation}")
    paths = {column: path for path, column in session.names.items()}
    columns = tuple(
        ExportedColumn(row["column_name"], row["unit"] or None, row["meaning"], paths.get(row["column_name"]))
        for row in session.run(statement).to_pylist()
        if not row["column_type"].endswith("]")
    )
    return ExportedFile(name, relation, columns, rows)


def _write_relation(session: Session, name: str, place: Location) -> ExportedFile:
    """Write the rows of a relation to its file, in batches."""
    described = _describe(session, name)
    if isinstance(place, ObjectPath):
        with tempfile.TemporaryDirectory(prefix="destage-") as folder:
            rows = _stream_rows(session, described, Path(folder) / name)
            write_durably(place / name, (Path(folder) / name).read_bytes())
    else:
        place.mkdir(parents=True, exist_ok=True)
        temporary = place / temporary_name(name)
        try:
            rows = _stream_rows(session, described, temporary)
            temporary.replace(place / name)
        finally:
            temporary.unlink(missing_ok=True)
    return ExportedFile(name, described.relation, described.columns, rows)


def _stream_rows(session: Session, file: ExportedFile, place: Path) -> int:
    """Write the rows to a Parquet file on this machine and return their number."""
    rows = 0
    stored = [column.path or column.name for column in file.columns]
    writer: pq.ParquetWriter | None = None
    try:
        for batch in session.stream(file.relation, stored):
            if writer is None:
                writer = pq.ParquetWriter(place, _explain(session, file, batch.schema), compression="zstd")
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=writer.schema))
            rows += batch.num_rows
        if writer is None:
            empty = session.sql(f"FROM {file.relation} LIMIT 0").select(stored)
            writer = pq.ParquetWriter(place, _explain(session, file, empty.schema), compression="zstd")
    finally:
        if writer is not None:
            writer.close()
    return rows


def _explain(session: Session, file: ExportedFile, schema: pa.Schema) -> pa.Schema:
    """Return a schema with the names, units and meanings of the columns of a file."""
    fields = [
        pa.field(column.name, field.type, metadata=column.as_metadata())
        for column, field in zip(file.columns, schema, strict=True)
    ]
    columns = [{"name": column.name, **column.as_metadata()} for column in file.columns]
    return pa.schema(
        fields,
        {
            f"{_WRITTEN}.sweep": session.sweep.path.name,
            f"{_WRITTEN}.relation": file.relation,
            f"{_WRITTEN}.columns": json.dumps(columns, ensure_ascii=False),
        },
    )
