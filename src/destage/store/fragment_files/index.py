"""The index of a sweep: the columns of its rows that planning and progress need, without its fragments.

A segment of the index is a Parquet file of one generation. It describes fragments by their names, which
contain the digest of the content, so that a segment stays correct even if a superseded writer wrote it. No
segment is required: without it, the fragments are read. Which fragments exist is never taken from the index,
but from the list of the folder or bucket.

A local fragment is compared with its digest before its entry is used, which costs a tenth of reading it. An
object is not downloaded for that: its size and time of change must be those that the entry states, and it
must have been old enough then that a later change would have another time.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from destage.errors import StoreError
from destage.objects import Location, ObjectPath
from destage.store.files.digests import is_amount, is_count, is_intact, read_checked
from destage.store.files.layout import SweepLayout, list_sizes, map_places
from destage.store.files.parquet import as_parquet
from destage.store.files.regular_files import is_plain_name
from destage.store.state.head import list_segments

KEYS = ("run_id", "status", "error_kind")
"""The columns of every segment."""
_FRAGMENTS = b"destage.fragments"
_FRESH_S = 3.0
"""Age below which an object may change and keep its time of change, which S3 gives in seconds [s]."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """A fragment as listed by the folder or bucket.

    Attributes:
        size: Its size [bytes].
        modified: When an object was last written, by the service's clock [s since 1970]; None of a file.
    """

    path: Location
    size: int
    modified: float | None = None

    def is_like(self, other: Mapping[str, Any]) -> bool:
        """Return whether the fragment is as an entry of the index states."""
        if self.modified is None:
            return is_intact(self.path)
        return (self.size, self.modified) == (other["size"], other["modified"])


@dataclass(frozen=True, slots=True)
class Segment:
    """A file of the index.

    Attributes:
        entries: Of each fragment its name, number of rows, size and time of change.
        rows: Their rows, in the order of the entries.
    """

    entries: Sequence[Mapping[str, Any]]
    rows: pa.Table


@dataclass(frozen=True, slots=True)
class IndexedRows:
    """Rows of fragments.

    Attributes:
        fragments: The names of the fragments that have them.
        counts: By fragment its number of rows, which follow one another.
    """

    rows: pa.Table
    fragments: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def numbers(self) -> np.ndarray:
        """By row the number of its fragment."""
        return np.repeat(np.arange(len(self.counts)), self.counts)


def list_fragments(layout: SweepLayout) -> dict[str, Stamp]:
    """Return the files among the fragments by name, without those that are being written."""
    folder = layout.fragments
    if isinstance(folder, ObjectPath):
        listed = [Stamp(info.path, info.size, info.modified_at.timestamp()) for info in folder.list_objects()]
        return {stamp.path.name: stamp for stamp in listed}
    stamps = (Stamp(path, size) for path, size in list_sizes(folder))
    return {stamp.path.name: stamp for stamp in stamps if not stamp.path.name.startswith(".")}


def find_settled(stamps: Mapping[str, Stamp]) -> dict[str, Stamp]:
    """Return those that cannot change any more without another stamp."""
    latest = max((stamp.modified or 0.0 for stamp in stamps.values()), default=0.0)
    return {
        name: stamp
        for name, stamp in stamps.items()
        if stamp.modified is None or latest - stamp.modified >= _FRESH_S
    }


def read_segments(layout: SweepLayout, columns: Sequence[str]) -> list[Segment]:
    """Return the segments of the index that have some columns; a damaged one counts as absent."""
    places = list_segments(layout)
    wanted = list(dict.fromkeys([*KEYS, *columns]))
    return [
        segment for segment in map_places(lambda place: _read(place, wanted), places) if segment is not None
    ]


def _read(place: Location, columns: list[str]) -> Segment | None:
    with (
        suppress(StoreError, OSError, pa.ArrowException, ValueError, KeyError, RecursionError),
        pq.ParquetFile(pa.BufferReader(read_checked(place))) as file,
    ):
        if set(columns).issubset(file.schema_arrow.names):
            entries = json.loads((file.schema_arrow.metadata or {})[_FRAGMENTS])
            rows = file.read(columns=columns).replace_schema_metadata(None)
            has_types = all(rows[name].type == pa.string() for name in KEYS) and not rows["run_id"].null_count
            if has_types and _are_entries(entries, rows.num_rows):
                return Segment(entries, rows)
    return None


def _are_entries(entries: object, rows: int) -> bool:
    """Return whether the metadata of a segment describes fragments that have this many rows together."""
    return (
        isinstance(entries, list)
        and all(
            isinstance(entry, dict)
            and is_plain_name(entry.get("name"))
            and is_count(entry.get("rows"))
            and (entry.get("size") is None or is_count(entry["size"]))
            and (entry.get("modified") is None or is_amount(entry["modified"]))
            for entry in entries
        )
        and sum(entry["rows"] for entry in entries) == rows
    )


def take_indexed(segments: Iterable[Segment], stamps: Mapping[str, Stamp]) -> Iterator[IndexedRows]:
    """Yield the rows of the fragments that are in a list and as the index states, each fragment once.

    Raises:
        FileNotFoundError: One disappeared after it was listed.
    """
    seen: set[str] = set()
    for segment in segments:
        kept = []
        for entry in segment.entries:
            stamp = stamps.get(entry["name"])
            is_kept = stamp is not None and entry["name"] not in seen and stamp.is_like(entry)
            seen.update([entry["name"]] if is_kept else ())
            kept.append(is_kept)
        rows = segment.rows
        if not all(kept):
            counts = [entry["rows"] for entry in segment.entries]
            rows = rows.filter(pa.array(np.repeat(np.array(kept, bool), counts)))
        there = [entry for entry, is_kept in zip(segment.entries, kept, strict=True) if is_kept]
        if there:
            names, counts = [row["name"] for row in there], [row["rows"] for row in there]
            yield IndexedRows(rows, tuple(names), tuple(counts))


def encode_segment(tables: Mapping[str, pa.Table], stamps: Mapping[str, Stamp]) -> bytes:
    """Return the file of a segment: the rows of some fragments, with their stamps if they are objects."""
    entries = []
    for name, rows in tables.items():
        stamp = stamps.get(name)
        modified = None if stamp is None else stamp.modified
        size = None if stamp is None else stamp.size
        entries.append({"name": name, "rows": rows.num_rows, "size": size, "modified": modified})
    rows = pa.concat_tables(tables.values(), promote_options="permissive").combine_chunks()
    return as_parquet(rows.replace_schema_metadata({_FRAGMENTS: json.dumps(entries)}))


def is_local(layout: SweepLayout) -> bool:
    """Return whether a sweep is in a folder, where a list of fragments is not needed for their entries."""
    return isinstance(layout.root, Path)
