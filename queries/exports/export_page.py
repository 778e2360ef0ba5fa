"""The README.md beside exported files: which files there are, how to read them, and what each column is."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from destage.queries.named.column_meanings import RELATIONS
from destage.queries.opening.session import Session
from destage.spec.printed_text import escape_controls

_RECORD = re.compile(r"<!-- export ([0-9a-f]{32}) -->\n\Z")
_END = re.compile(r"(.+)_(low|high)")
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


def write_page(session: Session, files: Sequence[ExportedFile], *, is_sweep: bool) -> str:
    """Return the page.

    Args:
        is_sweep: Whether it is in the directory of the sweep, whose other files it explains.
    """
    sweep = session.sweep.path.name
    question = session.spec.get("question")
    parts = [
        f"# {_escape(sweep)}\n",
        f"{_escape(question)}\n" if isinstance(question, str) else "",
        "Results of a sweep of Destage as flat Parquet files:\n",
        *(f"**{sentence}**\n" for sentence in session.note_missing_runs()),
        _write_table(("file", "rows", "contents"), map(_list_file, files)),
        _write_reading(sweep, files),
        _write_columns(files),
        _write_folders() if is_sweep else "",
    ]
    return "\n".join(part for part in parts if part)


def add_record(page: str, inputs: str) -> str:
    """Return a page with the digest of what the files were written from."""
    return f"{page}\n<!-- export {inputs} -->\n"


def read_record(page: bytes) -> str | None:
    """Return the digest in a page; None if no export wrote it."""
    match = _RECORD.search(page.decode(errors="replace"))
    return None if match is None else match[1]


def _list_file(file: ExportedFile) -> tuple[str, str, str]:
    rows = "not written" if file.rows is None else f"{file.rows}"
    return f"`{file.name}`", rows, RELATIONS[file.relation]


def _write_reading(sweep: str, files: Sequence[ExportedFile]) -> str:
    written = all(file.rows is not None for file in files)
    state = "" if written else f"The sweep is large: `destage admin export {sweep}` writes the files.\n\n"
    return state + _READING.replace("SWEEP", sweep)


def _write_columns(files: Sequence[ExportedFile]) -> str:
    """Return the tables of axes and of the other columns, each of which is explained once."""
    columns = {column.name: column for file in files for column in file.columns}
    held = {name: [file.relation for file in files if name in _names(file)] for name in columns}
    axes = [column for column in columns.values() if column.path]
    rest = [column for name, column in columns.items() if not column.path and not _is_end(name, columns)]
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


def _names(file: ExportedFile) -> set[str]:
    return {column.name for column in file.columns}


def _is_end(name: str, columns: "Iterable[str]") -> bool:
    match = _END.fullmatch(name)
    return match is not None and match[1] in columns


def _write_folders() -> str:
    rows = ((f"`{name}`", meaning) for name, meaning in _FOLDERS.items())
    return "\n".join(
        [
            "## Other files\n",
            "The rest of this directory is what `destage` reads; change it with `destage` only.\n",
            _write_table(("path", "contents"), rows),
        ]
    )


def _write_table(headings: Sequence[str], rows: "Iterable[Sequence[str | None]]") -> str:
    lines = [headings, ["---"] * len(headings), *(list(map(_escape, row)) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _escape(text: str | None) -> str:
    return " ".join(escape_controls(text or "").split()).replace("|", "\\|")
