"""Commits of a session: a fragment is written, enters the index, and is merged with others.

The index is written in segments that grow with it.
"""

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.errors import Issue, StoreError
from destage.objects import Location
from destage.store.files.layout import remove_files
from destage.store.fragment_files.adoption import Adoption
from destage.store.fragment_files.index import (
    KEYS,
    encode_segment,
    find_settled,
    is_local,
    list_fragments,
    read_segments,
    take_indexed,
)
from destage.store.fragment_files.merging import Merged, Merger, find_contained
from destage.store.fragment_files.stored_rows import is_transient, rows_schema
from destage.store.locks.lease import Lease
from destage.store.state.head import INDEX, Generation, list_segments

_LEAST_ROWS = 20_000
_SHARE = 4
"""Rows of a segment: at least these, and a fourth of those before, so that their number stays small."""
_LATEST_S = 60.0
"""Age at which rows become a segment, however few they are [s]."""
_MOST_SEGMENTS = 16
"""Segments from which they are merged to one."""


class IndexWriter:
    """Writes the index of a sweep under a generation that this process has claimed.

    A sweep does not fail if a segment cannot be written: its fragments are read instead.
    """

    def __init__(self, generation: Generation, columns: Sequence[str]) -> None:
        self._generation = generation
        self._columns = list(dict.fromkeys([*KEYS, *columns]))
        self._schema = pa.schema([field.remove_metadata() for field in rows_schema(columns)])
        self._waiting: dict[str, list[pa.Table]] = {}
        self._waiting_rows = self._written_rows = self._count = 0
        self._since = time.monotonic()

    def add(self, fragment: str, rows: pa.Table) -> None:
        """Add rows of a committed fragment; all its rows are added before the next segment is written."""
        if not fragment:
            return
        if missing := set(KEYS).difference(rows.column_names):
            raise AssertionError(f"rows without {missing} would hide the runs of a fragment")
        if not self._waiting:
            self._since = time.monotonic()
        there = [name for name in self._columns if name in rows.column_names]
        self._waiting.setdefault(fragment, []).append(rows.select(there))
        self._waiting_rows += rows.num_rows

    def drop(self, fragments: Iterable[str]) -> None:
        """Take back fragments that were merged before a segment had them."""
        for name in fragments:
            self._waiting_rows -= sum(rows.num_rows for rows in self._waiting.pop(name, ()))

    def write_if_due(self) -> None:
        """Write a segment if enough rows have been added, or some have waited for long."""
        enough = max(_LEAST_ROWS, self._written_rows // _SHARE)
        if self._waiting and (self._waiting_rows >= enough or time.monotonic() - self._since >= _LATEST_S):
            self.write()

    def write(self) -> None:
        """Write a segment of what was added; merge the segments if there are many.

        Objects of the last seconds wait for the next segment: they might still change unnoticed.
        """
        if not self._waiting:
            return
        layout = self._generation.layout
        self._since = time.monotonic()
        with suppress(StoreError, OSError):
            stamps = {} if is_local(layout) else find_settled(list_fragments(layout))
            names = [name for name in self._waiting if name in stamps or is_local(layout)]
            if not names:
                return
            tables = {name: self._join(self._waiting[name]) for name in names}
            self._write(encode_segment(tables, stamps))
            rows = sum(table.num_rows for table in tables.values())
            self._written_rows += rows
            self._waiting_rows -= rows
            for name in names:
                del self._waiting[name]
            segments = list_segments(layout)
            if len(segments) >= _MOST_SEGMENTS:
                self._merge(segments)

    def _join(self, tables: Sequence[pa.Table]) -> pa.Table:
        """Return rows with all columns; a fragment that was stored before a column was added has nulls."""
        return pa.concat_tables([self._schema.empty_table(), *tables], promote_options="permissive")

    def _write(self, data: bytes) -> str:
        self._count += 1
        return self._generation.write(f"{INDEX}-{self._count}", ".parquet", data, middle="mid_index")

    def _merge(self, places: Sequence[Location]) -> None:
        """Write one segment with the rows of the fragments that still exist, then delete the others."""
        layout = self._generation.layout
        stamps = list_fragments(layout)
        tables: dict[str, pa.Table] = {}
        segments = read_segments(layout, self._columns)
        for part in take_indexed(segments, stamps):
            start = 0
            for name, rows in zip(part.fragments, part.counts, strict=True):
                tables[name] = part.rows.slice(start, rows)
                start += rows
        if tables:
            written = self._write(encode_segment(tables, stamps))
            self._generation.check()
            remove_files(place for place in places if place.name != written)


_LEAST_MERGING_S = 5.0
"""Time at the end of a session for merging fragments, at least [s]."""
_MERGING = 0.1
"""The same as a fraction of the session's time."""


class Commits:
    """The index and the merging of a session's fragments, from the driver's thread."""

    def __init__(
        self, generation: Generation, lease: Lease, columns: Sequence[str], adoption: Adoption
    ) -> None:
        """Start with the fragments of earlier sessions; delete those that others contain."""
        self._index = IndexWriter(generation, columns)
        self._merger = Merger(generation, lease, columns)
        self._earlier: list[tuple[str, int]] = []
        self._new: dict[str, int] = {}
        contained = set() if lease.is_lost else find_contained(adoption.parts)
        remove_files(generation.layout.fragments / name for name in contained)
        for name, rows in adoption.read.items():
            if name not in contained:
                self._index.add(name, rows)
        for part in adoption.parts:
            failed = np.bincount(
                part.numbers, is_transient(part.rows).to_numpy(), minlength=len(part.fragments)
            )
            self._earlier += [
                (name, rows)
                for name, rows, count in zip(part.fragments, part.counts, failed, strict=True)
                if not count and name not in contained
            ]

    @property
    def warnings(self) -> list[Issue]:
        """Why fragments are no longer merged, if they are not."""
        return self._merger.warnings

    def add(self, fragment: str, facts: pa.Table) -> None:
        """Add the rows of a batch in a committed fragment."""
        self._index.add(fragment, facts)
        if fragment and not pc.any(is_transient(facts)).as_py():
            self._new[fragment] = self._new.get(fragment, 0) + facts.num_rows

    def update(self) -> None:
        """Take in what was added and merged; all batches of a fragment are added in between two calls."""
        if self._new and self._earlier:
            self._new |= dict(self._earlier)
            self._earlier.clear()
        for name, rows in self._new.items():
            self._merger.add(name, rows)
        self._new.clear()
        self._take(self._merger.take())
        self._index.write_if_due()

    def finish(self, session_s: float) -> None:
        """End merging in a tenth of the session's time [s], and write the rest of the index."""
        self.update()
        self._take(self._merger.finish(max(_LEAST_MERGING_S, _MERGING * session_s)))
        self._index.write()

    def abandon(self) -> None:
        """End merging after the group in progress, without waiting for it."""
        self._merger.abandon()

    def _take(self, merged: Sequence[Merged]) -> None:
        for fragment in merged:
            self._index.drop(fragment.replaced)
            self._index.add(fragment.name, fragment.rows)
