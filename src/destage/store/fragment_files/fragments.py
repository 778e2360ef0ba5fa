"""Fragments: Parquet files of result rows, each written by one worker and committed by its rename.

A fragment's name is `<key>-<digest>`: a digest of the run ids in it, and one of its whole content. A file
whose content has another digest is *damaged*, a file without such a name, or of another kind, is *foreign*.
A batch that is run twice has the same key; its copies differ in host and time, and readers take one row of
each run.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from destage.errors import StoreError
from destage.machine import read_memory_size
from destage.objects import Location, ObjectPath
from destage.store.files.digests import digest_of, find_digest, is_intact, read_checked
from destage.store.files.durable import pass_point, temporary_name, write_durably
from destage.system_failures import find_shortage

FORMAT = "destage-fragment-2"
_SMALL = 1000
"""Below this number of rows, compression and statistics of a hundred columns cost more than they save."""
TRANSIENT_KINDS = ("infrastructure", "oom", "timeout")
"""Error kinds unrelated to the configuration: such rows are shown, but their runs are executed again."""


_opened: set[str] = set()
"""The names of the fragments that this process has opened."""


class NotAFragmentError(StoreError):
    """A file among the fragments that is damaged or foreign."""


def fragment_key(run_ids: Iterable[str], *, transient: bool = False) -> str:
    """Return the key of a fragment that holds these runs.

    Args:
        transient: Whether the runs could not be executed; such a fragment has another key.
    """
    digest = hashlib.blake2b(b"transient" if transient else b"rows", digest_size=16)
    for run_id in sorted(run_ids):
        digest.update(run_id.encode())
        digest.update(b"\n")
    return digest.hexdigest()


def write_fragment(directory: Location, rows: pa.Table) -> Location:
    """Commit rows as one fragment, and return its path.

    Args:
        rows: The rows with at least the columns `run_id` and `error_kind`.
    """
    transient = any(kind in TRANSIENT_KINDS for kind in rows["error_kind"].to_pylist())
    key = fragment_key(rows["run_id"].to_pylist(), transient=transient)
    metadata = {"destage.format": FORMAT}
    # The units and meanings of all columns would dominate a small file; the engine has them.
    bare = pa.schema([field.remove_metadata() for field in rows.schema], metadata=metadata)
    is_small = rows.num_rows < _SMALL
    sink = pa.BufferOutputStream()
    pq.write_table(
        rows.cast(bare),
        sink,
        compression="none" if is_small else "zstd",
        use_dictionary=not is_small,
        write_statistics=not is_small,
        write_page_checksum=True,
    )
    data = sink.getvalue().to_pybytes()
    path = directory / f"{key}-{digest_of(data)}.parquet"
    pass_point("before_tmp")
    write_durably(
        path,
        data,
        tmp=temporary_name(key),
        middle="mid_tmp",
        before="before_rename",
        after="after_rename",
    )
    return path


@contextmanager
def open_fragment(path: Location) -> Iterator[pq.ParquetFile]:
    """Check a fragment and open it for the length of a `with` block; an object is read whole.

    Raises:
        NotAFragmentError: The file is damaged or foreign.
    """
    if path.suffix != ".parquet" or find_digest(path.name) is None:
        raise NotAFragmentError("store.foreign-file", "not a fragment", path.name)
    data = None
    if isinstance(path, ObjectPath):
        data = _read_object(path)
        is_whole = data is not None
    elif path.exists() and not path.is_file():
        message = "a pipe, socket, device or directory; must be a file"
        raise NotAFragmentError("store.foreign-file", message, path.name)
    else:
        is_whole = is_intact(path)
    if not is_whole:
        message = "damaged: its content is not what was written"
        raise NotAFragmentError("store.damaged-fragment", message, path.name)
    try:
        file = pq.ParquetFile(path if data is None else pa.BufferReader(data))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if (shortage := find_shortage(error, str(path))) is not None:
            raise shortage from error
        raise NotAFragmentError("store.foreign-file", "not a Parquet file", path.name) from error
    with file:
        # The metadata of the schema, without the time to build the schema.
        if (file.metadata.metadata or {}).get(b"destage.format") != FORMAT.encode():
            raise NotAFragmentError("store.foreign-file", f"not a {FORMAT} file", path.name)
        metadata = file.metadata
        if metadata.num_rows * metadata.num_columns > read_memory_size():
            message = f"{metadata.num_rows:,} rows do not fit in this machine's memory"
            raise NotAFragmentError("store.foreign-file", message, path.name)
        _opened.add(path.name)
        yield file


def _read_object(path: ObjectPath) -> bytes | None:
    """Return the content of an object; None if it is damaged."""
    try:
        return read_checked(path)
    except StoreError as error:
        if error.code != "store.damaged-file":
            raise
        return None


def check_fragment(path: Location) -> None:
    """Raise the error that `open_fragment` would raise; a fragment is opened once.

    Its name has the digest of its content, so that a local file is the same while it is intact. An object is
    not read here: it is checked when it is copied.
    """
    if path.name in _opened and (isinstance(path, ObjectPath) or is_intact(path)):
        return
    with open_fragment(path):
        pass
