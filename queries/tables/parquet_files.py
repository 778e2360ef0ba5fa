"""The Parquet files of a sweep on this machine, as few enough to be queried again and again.

Objects of a bucket are copied to a temporary directory, piece by piece. Opening a file costs DuckDB a
millisecond in each statement, so that many small fragments are first copied into one file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from destage.objects import Location, ObjectPath
from destage.sql import FileConnection, quote_text
from destage.store.files.digests import damaged, is_intact
from destage.store.files.parallel import map_places
from destage.store.files.regular_files import MOST_TABLE

FRAGMENT = "fragment"
"""Column of the merged file: the name of the fragment that a row was in."""
POSITION = "position"
"""The place of a row in its file."""
_MOST_FILES = 16
_SMALL = 4 << 20
"""Files below this size are merged where there are many of them [bytes]."""


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files that one `read_parquet` reads.

    Attributes:
        paths: Their absolute paths.
        columns: The columns that at least one of them has.
        is_merged: Whether it is the copy of small fragments, which has the column `FRAGMENT`.
    """

    paths: tuple[str, ...]
    columns: frozenset[str]
    is_merged: bool = False

    def source(self) -> str:
        """Return the SQL of the rows, with `FRAGMENT` and `POSITION`."""
        name = FRAGMENT if self.is_merged else f"parse_filename(_file) AS {FRAGMENT}"
        columns = f"* EXCLUDE (file_row_number), {name}, file_row_number AS {POSITION}"
        return f"(SELECT {columns} FROM {self._read()})"  # noqa: S608 - files of the sweep

    def _read(self) -> str:
        extra = "" if self.is_merged else ", filename = '_file'"
        return f"read_parquet({as_list(self.paths)}, union_by_name = true, file_row_number = true{extra})"


def as_list(texts: Sequence[str]) -> str:
    """Return texts as an SQL list."""
    return f"[{', '.join(map(quote_text, texts))}]"


def copy_objects(files: Sequence[Location], folder: Path) -> list[Path]:
    """Return the files on this machine; objects are copied to a folder under their names.

    Raises:
        StoreError: An object is damaged.
    """

    def copy(place: Location) -> Path:
        if not isinstance(place, ObjectPath):
            return place.absolute()
        version = place.read_version()
        if version.size > MOST_TABLE:
            raise damaged(place)
        local = folder / place.name
        with local.open("wb") as sink:
            for piece in place.read_pieces(version):
                sink.write(piece)
        if not is_intact(local):
            raise damaged(place)
        return local

    return list(map_places(copy, files))


def group_fragments(connection: FileConnection, files: Sequence[Path], folder: Path) -> list[FileGroup]:
    """Return fragments in at most two groups: the large ones, and a copy of the small ones if they are many.

    Args:
        folder: Where the copy is written.
    """
    small = {path for path in files if path.stat().st_size < _SMALL} if len(files) > _MOST_FILES else set()
    large = [str(path) for path in files if path not in small]
    groups = [_describe(connection, large)] if large else []
    if small:
        merged = folder / "small-fragments.parquet"
        read = f"read_parquet({as_list(sorted(map(str, small)))}, union_by_name = true, filename = '_file')"
        statement = f"SELECT * EXCLUDE (_file), parse_filename(_file) AS {FRAGMENT} FROM {read}"  # noqa: S608
        connection.write(statement, merged)
        groups.append(_describe(connection, [str(merged)], is_merged=True))
    return groups


def _describe(connection: FileConnection, paths: Sequence[str], *, is_merged: bool = False) -> FileGroup:
    columns = connection.list_columns(f"SELECT * FROM read_parquet({as_list(paths)}, union_by_name = true)")  # noqa: S608
    return FileGroup(tuple(paths), frozenset(columns), is_merged)
