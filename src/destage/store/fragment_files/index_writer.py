"""Writing the index of a sweep: what a session commits, in segments that grow with it."""

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

import pyarrow as pa

from destage.errors import StoreError
from destage.objects import Location
from destage.store.fragment_files.index import (
    KEYS,
    encode_segment,
    find_settled,
    is_local,
    list_fragments,
    read_segments,
    take_indexed,
)
from destage.store.fragment_files.stored_rows import rows_schema
from destage.store.state.generations import INDEX, Generation, list_segments

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
            for place in places:
                if place.name != written:
                    place.unlink(missing_ok=True)
