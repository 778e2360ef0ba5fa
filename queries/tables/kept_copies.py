"""The copy of very many small fragments in the folder of a sweep, so that the next command opens one file.

Its name has a digest of the names of the fragments, and these have digests of their content, so that a copy
is never out of date; it is deleted when another is kept. Merging (`destage.store.fragment_files.merging`)
makes it needless.
"""

import secrets
import shutil
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path

from destage.objects import ObjectPath
from destage.sql import FileConnection, quote_text
from destage.store import Sweep
from destage.store.files.digests import digest_file, digest_of, is_intact
from destage.store.files.layout import SweepLayout


class KeptCopies:
    """The copy of some fragments that is kept in the folder of a sweep; a bucket keeps none."""

    def __init__(self, sweep: Sweep, names: Iterable[str]) -> None:
        folder = SweepLayout(sweep.path).copies
        self._folder = None if isinstance(folder, ObjectPath) else folder.absolute()
        self._key = digest_of("\n".join(sorted(names)).encode())

    def find(self) -> Path | None:
        """Return the copy, if there is one and it is as it was written."""
        if self._folder is not None:
            for path in self._folder.glob(f"{self._key}-*.parquet"):
                with suppress(OSError):
                    if is_intact(path):
                        return path
        return None

    def keep(self, copy: Path) -> Path:
        """Move a copy to the folder, and delete others; return the file to read.

        Where the folder cannot be written, the copy stays where it is.
        """
        if self._folder is None:
            return copy
        temporary = self._folder / f".{secrets.token_hex(8)}"
        kept = self._folder / f"{self._key}-{digest_file(copy)}.parquet"
        try:
            self._folder.mkdir(exist_ok=True)
            for spent in self._folder.iterdir():
                spent.unlink(missing_ok=True)
            shutil.copyfile(copy, temporary)
            temporary.replace(kept)
        except OSError:
            return copy
        copy.unlink()
        return kept


def list_copied(copy: Path, column: str) -> list[str]:
    """Return the names of the fragments in a copy, which a column has."""
    statement = f"SELECT DISTINCT {column} FROM read_parquet({quote_text(str(copy))})"  # noqa: S608
    with closing(FileConnection()) as connection:
        return list(connection.fetch(statement)[column].to_pylist())
