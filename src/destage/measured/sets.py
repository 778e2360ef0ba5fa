"""Named sets of measured lines in a store: `<store>/measured/<name>/<number>-<digest>.parquet`.

A set is one file that is written once, complete or absent, and carries the digest of its content in its name.
A set that replaces another has a higher number; readers take the highest, and the others are deleted
afterwards.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pyarrow as pa

from destage.errors import StoreError, UsageError
from destage.measured.line import Meaning, MeasuredLine, list_meanings
from destage.objects import Location, ObjectPath
from destage.spec.near_names import suggest
from destage.store.files.digests import digest_of, find_digest
from destage.store.files.durable import sync_directory, write_durably
from destage.store.files.layout import list_sizes
from destage.store.files.parquet import as_parquet, read_parquet

SET, LINE = "measured_set", "line"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FILE = re.compile(r"(\d{6})-[0-9a-f]{32}\.parquet")
_TYPES = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    datetime: pa.timestamp("us"),
    tuple: pa.list_(pa.string()),
    Mapping: pa.map_(pa.string(), pa.string()),
}
_DAMAGED = "store.damaged-file"
_READS = 3
"""Attempts to read a set, whose file a replacement may delete meanwhile."""


@dataclass(frozen=True, slots=True)
class MeasuredSet:
    """A set of measured lines, in the order of their numbers, which count from 1.

    Attributes:
        name: The name that it was imported under.
        lines: The lines; the first has number 1.
    """

    name: str
    lines: tuple[MeasuredLine, ...]


def find_store(sweep: Location) -> Location | None:
    """Return the store that a sweep's directory is in; None for a directory elsewhere."""
    folder = sweep.absolute().parent
    return folder.parent if folder.name == "sweeps" else None


@cache
def schema() -> pa.Schema:
    """Return the columns of the table of all sets."""
    hints = get_type_hints(MeasuredLine)
    columns = [
        pa.field(column.name, _TYPES[_plain_type(hints[column.name])]) for column in fields(MeasuredLine)
    ]
    return pa.schema([pa.field(SET, pa.string()), pa.field(LINE, pa.int64()), *columns])


def describe_columns() -> dict[str, Meaning]:
    """Return the unit and the meaning of each column of the table."""
    return {
        SET: (None, "name of the set of measured figures"),
        LINE: ("count", "number of the line in its set, from 1"),
        **list_meanings(),
    }


def check_name(name: str) -> None:
    """Reject a name that cannot be that of a folder in every store.

    Raises:
        UsageError: It has other characters than letters, digits and `._-`, or starts with one of these.
    """
    if _NAME.fullmatch(name) is None:
        message = f"{name!r}: use letters, digits, . _ and -, with a letter or digit first, up to 100 of them"
        raise UsageError("usage.bad-value", message, "--name")


def write_set(store: Location, name: str, lines: Sequence[MeasuredLine], *, replace: bool = False) -> None:
    """Store a set.

    Raises:
        StoreError: A set of this name exists and may not be replaced, or the store cannot be written.
    """
    check_name(name)
    folder = _folder(store) / name
    earlier = _list_files(folder)
    if earlier and not replace:
        message = "a measured set of this name exists; choose another --name, or give --replace"
        raise StoreError("store.measured-set-exists", message, name)
    rows = [{SET: name, LINE: position, **asdict(line)} for position, line in enumerate(lines, start=1)]
    data = as_parquet(pa.Table.from_pylist(rows, schema()))
    number = int(_number(earlier[-1])) + 1 if earlier else 0
    if isinstance(folder, Path):
        folder.mkdir(parents=True, exist_ok=True)
        for directory in (folder, *folder.absolute().parents[:2]):
            sync_directory(directory)
    write_durably(folder / f"{number:06d}-{digest_of(data)}.parquet", data)
    for place in earlier:
        place.unlink(missing_ok=True)


def list_sets(store: Location) -> list[str]:
    """Return the names of all sets of a store, sorted."""
    root = _folder(store)
    if isinstance(root, ObjectPath):
        folders: Iterable[Location] = root.list_prefixes()
    else:
        folders = root.iterdir() if root.is_dir() else ()
    return sorted(folder.name for folder in folders if _list_files(folder))


def list_versions(store: Location | None) -> list[tuple[str, str]]:
    """Return the name and the current file of each set of a store; none without a store.

    The name of a file has the digest of its content.
    """
    if store is None:
        return []
    files = {name: _list_files(_folder(store) / name) for name in list_sets(store)}
    return [(name, places[-1].name) for name, places in files.items() if places]


def read_table(store: Location, name: str) -> pa.Table:
    """Return the lines of a set as a table.

    Raises:
        StoreError: There is no such set, or its file is damaged.
    """
    for _ in range(_READS):
        files = _list_files(_folder(store) / name) if _NAME.fullmatch(name) else []
        if not files:
            break
        try:
            table = read_parquet(files[-1])
        except FileNotFoundError:
            continue  # replaced since it was listed
        except StoreError as error:
            if error.code != _DAMAGED:
                raise
            message = "damaged: its content is not what was written; import the set again with --replace"
            raise StoreError(_DAMAGED, message, str(files[-1])) from error
        return _adapt(table, name)
    names = list_sets(store)
    listed = suggest(name, names) or f"; sets there: {', '.join(names) or 'none yet'}"
    listed += "; `destage measured import` makes one of a file"
    raise StoreError("store.unknown-measured-set", f"no measured set of the store {store}{listed}", name)


def read_set(store: Location, name: str) -> MeasuredSet:
    """Return a set as typed lines; errors as in `read_table`."""
    return MeasuredSet(name, as_lines(read_table(store, name)))


def as_lines(table: pa.Table) -> tuple[MeasuredLine, ...]:
    """Return the rows of a set's table as typed lines."""
    rows = table.sort_by(LINE).drop_columns([SET, LINE]).to_pylist()
    # A set of an earlier version has no bases.
    return tuple(
        MeasuredLine(
            **row
            | {
                "derived_figures": tuple(row["derived_figures"] or ()),
                "unknown_figures": dict(row["unknown_figures"] or ()),
            }
        )
        for row in rows
    )


def read_all(store: Location | None) -> pa.Table:
    """Return the lines of all sets of a store as one table; none without a store."""
    names = [] if store is None else list_sets(store)
    tables = [] if store is None else [read_table(store, name) for name in names]
    return pa.concat_tables([schema().empty_table(), *tables])


def delete_set(store: Location, name: str) -> None:
    """Delete a set.

    Raises:
        StoreError: There is no such set.
    """
    folder = _folder(store) / name
    files = _list_files(folder) if _NAME.fullmatch(name) else []
    if not files:
        read_table(store, name)  # raises
    for place in files:
        place.unlink(missing_ok=True)
    if isinstance(folder, Path):
        folder.rmdir()
        sync_directory(folder.absolute().parent)


def _folder(store: Location) -> Location:
    return store / "measured"


def _list_files(folder: Location) -> list[Location]:
    """Return the files of a set, the current one last."""
    files = [
        place for place, _ in list_sizes(folder) if _FILE.fullmatch(place.name) and find_digest(place.name)
    ]
    return sorted(files, key=lambda place: place.name)


def _number(place: Location) -> str:
    return place.name.partition("-")[0]


def _adapt(table: pa.Table, name: str) -> pa.Table:
    """Return a table with the columns of this version, of which an earlier one lacks some."""
    there = set(table.column_names)
    columns = [
        table[field.name].cast(field.type) if field.name in there else pa.nulls(table.num_rows, field.type)
        for field in schema()
    ]
    # A folder may have been renamed.
    columns[0] = pa.array([name] * table.num_rows, pa.string())
    return pa.table(columns, schema=schema())


def _plain_type(hint: Any) -> Any:
    """Return the type of a column from that of a field: `float` from `float | None`, `tuple` from a tuple."""
    if get_origin(hint) is not UnionType:
        return get_origin(hint) or hint
    return next(argument for argument in get_args(hint) if argument is not type(None))
