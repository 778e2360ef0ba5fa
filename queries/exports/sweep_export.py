"""The rows of a sweep as flat Parquet files for other programs, with a README.md that explains them.

A column has its unit and its meaning as metadata: of the field in Arrow, and as JSON in the file's key-value
metadata, which every Parquet reader shows. Destage writes the files and does not read them: the fragments
have the rows. A session that adds rows removes the files (`store.removal`).
"""

import json
import re
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from destage.errors import StoreError
from destage.objects import Location, ObjectPath
from destage.queries.exports.report_record import digest_inputs
from destage.queries.named.column_meanings import RELATIONS
from destage.queries.opening.session import Session
from destage.spec.printed_text import escape_controls
from destage.store import open_sweep
from destage.store.files.durable import temporary_name, write_durably
from destage.store.files.layout import EXPORTS, README
from destage.store.files.regular_files import MOST_RECORD, read_file

MOST_AT_END = 10_000
"""Runs up to which the files are written at the end of a sweep, which takes a second or two."""
_WRITTEN = "destage"
"""The prefix of the keys in a file's metadata."""


_RECORD = re.compile(r"<!-- export ([0-9a-f]{32}) -->\n\Z")
_FOLDERS = {
    "fragments/": "the rows of runs as they were committed, by run id and without axes",
    "generations/": "the study (YAML), the plan with each run's configuration, the answers, and an index",
    "report/report.html": "the report",
    "lease": "locked by the process that writes the sweep",
    "quarantine/": "damaged or foreign files that were among the fragments",
}
"""What else is in the directory of a sweep."""
_READING = """\
```console
$ duckdb -c "SELECT * FROM 'points.parquet'"
$ duckdb -c "SELECT decode(value) FROM parquet_kv_metadata('points.parquet')"     # units and meanings
$ python -c "import polars; print(polars.read_parquet('points.parquet'))"
$ python -c "import pandas; print(pandas.read_parquet('points.parquet'))"
```

The columns are those of the relations of `destage query SWEEP`. Values are in base units (bytes, us, s, 1/s).
Units and meanings are metadata of each column, `pyarrow.parquet.read_schema(file).field(name).metadata`, and
are in the file's metadata as JSON under the key `destage.columns`. `x_low` and `x_high` are the ends of the
95 % interval of the mean `x` over replicates. Lists, such as those of the relation `timeline`, are left out.
Destage does not read these files; `destage admin export SWEEP` writes them.
"""


@dataclass(frozen=True, slots=True)
class ExportedColumn:
    """A column; `path` is the dotted path in the study, of an axis."""

    name: str
    unit: str | None
    meaning: str | None
    path: str | None

    def as_metadata(self) -> dict[str, str]:
        """Return what is known of it, by the key in Parquet metadata."""
        facts = {"unit": self.unit, "meaning": self.meaning, "path": self.path}
        return {key: value for key, value in facts.items() if value}


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file with the rows of a relation; `rows` is None if it is not written."""

    name: str
    relation: str
    columns: tuple[ExportedColumn, ...]
    rows: int | None


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
    """Return the digest of what the files in a folder were written from; None if no export wrote them."""
    with suppress(FileNotFoundError, StoreError):
        match = _RECORD.search(read_file(folder / README, MOST_RECORD).decode(errors="replace"))
        return None if match is None else match[1]
    return None


def _write_page(session: Session, place: Location, files: Sequence[ExportedFile], inputs: str) -> None:
    page = _write_page_text(session, files, is_sweep=place == session.sweep.path)
    if not isinstance(place, ObjectPath):
        place.mkdir(parents=True, exist_ok=True)
    write_durably(place / README, f"{page}\n<!-- export {inputs} -->\n".encode())


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


def _write_page_text(session: Session, files: Sequence[ExportedFile], *, is_sweep: bool) -> str:
    """Return the page.

    Args:
        is_sweep: Whether it is in the directory of the sweep, whose other files it explains.
    """
    sweep = session.sweep.path.name
    contents = (
        (f"`{file.name}`", "not written" if file.rows is None else f"{file.rows}", RELATIONS[file.relation])
        for file in files
    )
    folders = ((f"`{name}`", meaning) for name, meaning in _FOLDERS.items())
    others = [
        "## Other files\n",
        "The rest of this directory is what `destage` reads; change it with `destage` only.\n",
        _write_table(("path", "contents"), folders),
    ]
    question = session.spec.get("question")
    parts = [
        f"# {_escape(sweep)}\n",
        f"{_escape(question)}\n" if isinstance(question, str) else "",
        "Results of a sweep of Destage as flat Parquet files:\n",
        *(f"**{sentence}**\n" for sentence in session.note_missing_runs()),
        _write_table(("file", "rows", "contents"), contents),
        _write_reading(sweep, files),
        _write_columns(files),
        *(others if is_sweep else []),
    ]
    return "\n".join(part for part in parts if part)


def _write_reading(sweep: str, files: Sequence[ExportedFile]) -> str:
    written = all(file.rows is not None for file in files)
    state = "" if written else f"The sweep is large: `destage admin export {sweep}` writes the files.\n\n"
    return state + _READING.replace("SWEEP", sweep)


def _write_columns(files: Sequence[ExportedFile]) -> str:
    """Return the tables of axes and of the other columns, each of which is explained once."""
    columns = {column.name: column for file in files for column in file.columns}
    held: dict[str, list[str]] = {}
    for file in files:
        for column in file.columns:
            held.setdefault(column.name, []).append(file.relation)
    axes = [column for column in columns.values() if column.path]
    ends = {f"{name}_{end}" for name in columns for end in ("low", "high")}
    rest = [column for name, column in columns.items() if not column.path and name not in ends]
    axis_rows = ((f"`{column.name}`", f"`{column.path}`", column.unit, column.meaning) for column in axes)
    rest_rows = (
        (f"`{column.name}`", ", ".join(held[column.name]), column.unit, column.meaning) for column in rest
    )
    parts = [
        "## Axes\n",
        _write_table(("column", "path in the study", "unit", "meaning"), axis_rows),
        "## Columns\n",
        _write_table(("column", "files", "unit", "meaning"), rest_rows),
    ]
    return "\n".join(parts if axes else parts[2:])


def _write_table(headings: Sequence[str], rows: "Iterable[Sequence[str | None]]") -> str:
    lines = [headings, ["---"] * len(headings), *(list(map(_escape, row)) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _escape(text: str | None) -> str:
    return " ".join(escape_controls(text or "").split()).replace("|", "\\|")
