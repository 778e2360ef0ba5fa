"""Compaction: many small fragments become few large ones, so that a million runs are read in seconds.

A small fragment is mostly the footer of a hundred columns, and in a bucket each costs a request. The large
fragment is committed like any other, then the small ones are deleted; a process killed in between leaves
duplicate rows, which readers count once and the next compaction removes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from destage.errors import Issue, StoreError
from destage.objects import Location
from destage.store.files.layout import SweepLayout
from destage.store.files.parallel import map_places
from destage.store.files.store_location import list_sizes
from destage.store.fragment_files.adoption import adopt_fragments
from destage.store.fragment_files.fragments import open_fragment, write_fragment
from destage.store.fragment_files.stored_rows import is_transient, read_table, select_best_rows
from destage.store.locks.lease import hold_lease
from destage.store.state.generations import claim_generation, find_head

LARGE = 32 * 2**20
"""Fragments of this size or more are not merged [bytes]."""
_MOST_MEMORY = 512 * 2**20
"""Maximum memory of rows waiting to be merged [bytes]; zstd compresses it to 64 to 128 MB."""
_PORTION = 256
"""Small fragments read at a time."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """The result of a compaction.

    Attributes:
        before: Fragments before it.
        after: Fragments after it.
        rows: Rows rewritten.
        warnings: Quarantined files.
    """

    before: int
    after: int
    rows: int
    warnings: tuple[Issue, ...]


def compact(layout: SweepLayout, progress: Callable[[int, int], None] | None = None) -> Compaction:
    """Merge a sweep's small fragments.

    Args:
        progress: Called with the fragments merged so far and those to be merged in total.
    """
    with hold_lease(layout.lease) as lease:
        generation = claim_generation(layout)
        found = find_head(layout)
        if found is not None:
            generation.publish(found[1])
        warnings = adopt_fragments(layout).warnings
        sizes = dict(list_sizes(layout.fragments))
        small = [path for path, size in sizes.items() if size < LARGE]
        rows = merged = 0
        for group in _groups(small):
            fragment = write_fragment(layout.fragments, group.rows)
            if lease.is_lost:
                raise StoreError(
                    "store.lease-lost", "the lease expired; run the command again", str(layout.root)
                )
            spent = [path for path in group.paths if path != fragment]
            list(map_places(_remove, spent))
            rows += group.rows.num_rows
            merged += len(group.paths)
            if progress is not None:
                progress(merged, len(small))
    return Compaction(len(sizes), len(list(list_sizes(layout.fragments))), rows, tuple(warnings))


@dataclass(frozen=True, slots=True)
class _Group:
    paths: list[Location]
    rows: pa.Table


def _groups(small: list[Location]) -> Iterator[_Group]:
    """Yield fragments of the same columns to merge, with their rows.

    Rows stored before a column was added stay apart: merged with later ones they would hold null in it, and
    `verify` would compare it. Rows of runs that were not executed are not merged.
    """
    waiting: dict[tuple[str, ...], list[tuple[Location, pa.Table]]] = {}
    for start in range(0, len(small), _PORTION):
        portion = small[start : start + _PORTION]
        for path, table in zip(portion, map_places(read_fragment, portion), strict=True):
            if any(is_transient(table).to_pylist()):
                continue
            waiting.setdefault(tuple(table.column_names), []).append((path, table))
        if sum(table.nbytes for same in waiting.values() for _, table in same) > _MOST_MEMORY:
            yield from map(_group, waiting.values())
            waiting = {}
    yield from (_group(same) for same in waiting.values() if len(same) > 1)


def _group(same: list[tuple[Location, pa.Table]]) -> _Group:
    return _Group([path for path, _ in same], merge_rows([table for _, table in same]))


def merge_rows(tables: Sequence[pa.Table]) -> pa.Table:
    """Return one row per run of fragments of the same columns, in the order of their names."""
    return select_best_rows(pa.concat_tables(tables, promote_options="permissive"))


def read_fragment(path: Location) -> pa.Table:
    """Return all rows of a fragment; raises what `open_fragment` does."""
    with open_fragment(path) as file:
        return read_table(file)


def _remove(path: Location) -> None:
    path.unlink(missing_ok=True)
