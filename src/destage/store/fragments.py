"""Fragments: Parquet files of result rows, each written by one worker and committed by its rename.

A fragment's name is a digest of the run ids in it. Running a batch twice therefore writes the same name,
and any file can be checked against its name: a file with an unreadable footer is *torn*, one whose name is
not the digest of its rows is *foreign*.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from destage.errors import StoreError
from destage.objects import Location
from destage.store.durable import temporary_name, write_durably
from destage.store.failpoints import pass_point
from destage.store.parquet import open_parquet

FORMAT = "destage-fragment-1"
_SMALL = 1000
"""Below this number of rows, compression and statistics of a hundred columns cost more than they save."""
TRANSIENT_KINDS = ("infrastructure", "oom", "timeout")
"""Error kinds unrelated to the configuration: such rows are shown, but their runs are executed again."""


class NotAFragmentError(StoreError):
    """A file among the fragments that is torn or foreign."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A fragment in the index.

    Attributes:
        key: The digest that names it.
        size: Its size [bytes].
    """

    key: str
    rows: int
    size: int


def fragment_key(run_ids: Iterable[str], *, transient: bool = False) -> str:
    """Return the name of the fragment that holds these runs.

    Args:
        transient: Whether the runs could not be executed; such a fragment has a different name, so that it
            never replaces results.
    """
    digest = hashlib.blake2b(b"transient" if transient else b"rows", digest_size=16)
    for run_id in sorted(run_ids):
        digest.update(run_id.encode())
        digest.update(b"\n")
    return digest.hexdigest()


def write_fragment(directory: Location, rows: pa.Table) -> Fragment:
    """Commit rows as one fragment.

    Args:
        rows: The rows with at least the columns `run_id` and `error_kind`.
    """
    transient = any(kind in TRANSIENT_KINDS for kind in rows["error_kind"].to_pylist())
    key = fragment_key(rows["run_id"].to_pylist(), transient=transient)
    metadata = {"destage.format": FORMAT, "destage.key": key, "destage.transient": str(transient).lower()}
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
    )
    data = sink.getvalue().to_pybytes()
    pass_point("before_tmp")
    write_durably(
        directory / f"{key}.parquet",
        data,
        tmp=temporary_name(key),
        middle="mid_tmp",
        before="before_rename",
        after="after_rename",
    )
    return Fragment(key, rows.num_rows, len(data))


def inspect_fragment(path: Location, size: int) -> Fragment:
    """Check that a file is a complete fragment, and return its index entry.

    Raises:
        NotAFragmentError: The file is torn or foreign.
    """
    if path.suffix != ".parquet" or (isinstance(path, Path) and not path.is_file()):
        raise NotAFragmentError("store.foreign-file", "not a .parquet file", path.name)
    try:
        with open_parquet(path) as file:
            return check_fragment(file, path, size)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise NotAFragmentError("store.damaged-fragment", f"damaged: {reason}", path.name) from error


def check_fragment(file: pq.ParquetFile, path: Location, size: int) -> Fragment:
    """Check that an open file is a fragment of these rows, and return its index entry.

    Args:
        path: Its path; the name must be the digest of the rows.

    Raises:
        NotAFragmentError: It is foreign.
    """
    metadata = {key.decode(): value.decode() for key, value in (file.schema_arrow.metadata or {}).items()}
    if metadata.get("destage.format") != FORMAT:
        raise NotAFragmentError("store.foreign-file", f"not a {FORMAT} file", path.name)
    run_ids = file.read(columns=["run_id"])["run_id"].to_pylist()
    key = fragment_key(run_ids, transient=metadata.get("destage.transient") == "true")
    if path.stem != key:
        raise NotAFragmentError("store.foreign-file", f"its rows belong to fragment {key}", path.name)
    return Fragment(key, len(run_ids), size)
