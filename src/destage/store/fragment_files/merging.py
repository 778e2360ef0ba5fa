"""Merging of a sweep's fragments: many small ones become few large ones, beside the driver or to the end.

A small fragment is mostly the footer of a hundred columns, and in a bucket each costs a request. Fragments of
like size are merged once there are enough of them, so that each row is written again a few times at most. A
thread does this while a sweep runs; compaction merges until nothing is left to merge, so that a million runs
are read in seconds.

A merged fragment is committed like any other. The fragments that it replaces are deleted some time later,
when readers that have listed them have ended. A process killed in between leaves rows twice, which readers
count once; the next session deletes fragments that others contain (`find_contained`).

A superseded writer that still merges harms nothing: it deletes a fragment only after it has committed one
with all its rows, and so does every other writer.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

import numpy as np
import pyarrow as pa

from destage.errors import Issue, StoreError
from destage.objects import Location
from destage.store.files.durable import pass_point
from destage.store.files.layout import SweepLayout, list_sizes, map_places, remove_files
from destage.store.fragment_files.adoption import adopt_fragments
from destage.store.fragment_files.fragments import open_fragment, write_fragment
from destage.store.fragment_files.index import KEYS, IndexedRows, is_local
from destage.store.fragment_files.stored_rows import is_transient, read_table, select_best_rows
from destage.store.locks.lease import Lease, hold_lease
from destage.store.state.head import Generation, claim_generation, find_head

LARGE = 32 * 2**20
"""Fragments of this size or more are not merged [bytes]."""
_MOST_MEMORY = 512 * 2**20
"""Maximum memory of rows waiting to be merged [bytes]; zstd compresses it to 64 to 128 MB."""
_PORTION = 256
"""Small fragments read at a time."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """The result of a compaction."""

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
        named_head = find_head(layout)
        if named_head is not None:
            generation.publish(named_head[1])
        warnings = adopt_fragments(layout).warnings
        sizes = dict(list_sizes(layout.fragments))
        small = [path for path, size in sizes.items() if size < LARGE]
        rows = merged = 0
        for group in _groups(small):
            table = merge_rows(list(group.values()))
            fragment = write_fragment(layout.fragments, table)
            if lease.is_lost:
                raise StoreError(
                    "store.lease-lost", "the lease expired; run the command again", str(layout.root)
                )
            remove_files(path for path in group if path != fragment)
            rows += table.num_rows
            merged += len(group)
            if progress is not None:
                progress(merged, len(small))
        if is_local(layout):
            remove_files(place for place, _ in list_sizes(layout.copies))
    return Compaction(len(sizes), len(list(list_sizes(layout.fragments))), rows, tuple(warnings))


def _groups(small: list[Location]) -> Iterator[dict[Location, pa.Table]]:
    """Yield fragments of the same columns to merge, with their rows.

    Rows stored before a column was added stay apart: merged with later ones they would hold null in it, and
    `verify` would compare it. Rows of runs that were not executed are not merged.
    """
    waiting: dict[tuple[str, ...], dict[Location, pa.Table]] = {}
    memory = 0
    for start in range(0, len(small), _PORTION):
        portion = small[start : start + _PORTION]
        for path, table in zip(portion, map_places(read_fragment, portion), strict=True):
            if any(is_transient(table).to_pylist()):
                continue
            waiting.setdefault(tuple(table.column_names), {})[path] = table
            memory += table.nbytes
        if memory > _MOST_MEMORY:
            yield from waiting.values()
            waiting, memory = {}, 0
    yield from (same for same in waiting.values() if len(same) > 1)


def merge_rows(tables: Sequence[pa.Table]) -> pa.Table:
    """Return one row per run of fragments of the same columns, in the order of their names."""
    return select_best_rows(pa.concat_tables(tables, promote_options="permissive"))


def read_fragment(path: Location) -> pa.Table:
    """Return all rows of a fragment; raises what `open_fragment` does."""
    with open_fragment(path) as file:
        return read_table(file)


FAN_IN = 64
"""Fragments of like size that are merged to one; the sizes of a class differ by this factor."""
FULL_ROWS = 100_000
"""Rows of a merged fragment, about 32 MB; one of half as many is not merged again."""
GRACE_S = 30.0
"""Time for which a fragment stays after it has been merged, for readers that have listed it [s]."""


@dataclass(slots=True)
class _Class:
    """Fragments of like size that wait."""

    names: list[str] = field(default_factory=list)
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged fragment.

    Attributes:
        replaced: The fragments that it replaces.
    """

    name: str
    rows: pa.Table
    replaced: tuple[str, ...]


class Merger:
    """Merges the fragments of a session; its methods are called from one thread, the driver's.

    Attributes:
        warnings: Why it has stopped merging, if it has.
    """

    def __init__(self, generation: Generation, lease: Lease, columns: Sequence[str]) -> None:
        """Make a merger.

        Args:
            columns: The columns of the rows that `take` returns, beside those of every segment of the index.
        """
        self.warnings: list[Issue] = []
        self._generation = generation
        self._lease = lease
        self._columns = [*KEYS, *columns]
        self._classes: dict[int, _Class] = {}
        self._groups: SimpleQueue[tuple[str, ...] | None] = SimpleQueue()
        self._merged: SimpleQueue[Merged] = SimpleQueue()
        self._replaced: deque[tuple[float, str]] = deque()
        self._thread: threading.Thread | None = None
        self._is_stopped = False

    def add(self, fragment: str, rows: int) -> None:
        """Add a committed fragment with a number of rows, all of which have a result."""
        if rows >= FULL_ROWS // 2:
            return
        size = int(math.log(max(rows, 1), FAN_IN))
        waiting = self._classes.setdefault(size, _Class())
        waiting.names.append(fragment)
        waiting.rows += rows
        if len(waiting.names) >= FAN_IN or waiting.rows >= FULL_ROWS:
            del self._classes[size]
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="destage-merge", daemon=True)
                self._thread.start()
            self._groups.put(tuple(waiting.names))

    def take(self) -> list[Merged]:
        """Return the fragments merged since the last call; delete those replaced long ago."""
        completed = []
        while True:
            try:
                merged = self._merged.get_nowait()
            except Empty:
                break
            completed.append(merged)
            self._replaced += [(time.monotonic(), name) for name in merged.replaced]
            self.add(merged.name, merged.rows.num_rows)
        self._delete(GRACE_S)
        return completed

    def finish(self, limit_s: float) -> list[Merged]:
        """End the thread, and delete what it has replaced; return as `take` does.

        Args:
            limit_s: The time for groups that still wait [s]; the one in progress is merged in any case.
        """
        completed: list[Merged] = []
        end = time.monotonic() + limit_s
        while self._thread is not None:
            self._groups.put(None)
            self._thread.join(max(end - time.monotonic(), 0.0))
            self._is_stopped = self._is_stopped or self._thread.is_alive()
            self._thread.join()
            self._thread = None
            completed += self.take()  # which may complete another group
        self._delete(0.0)
        return completed

    def abandon(self) -> None:
        """End the thread after the group in progress, without waiting for it."""
        self._is_stopped = True
        self._groups.put(None)

    def _delete(self, age_s: float) -> None:
        """Delete the fragments that were replaced at least so long ago [s]."""
        now = time.monotonic()
        if not self._replaced or now - self._replaced[0][0] < age_s or self._lease.is_lost:
            return
        try:
            self._generation.check()
            while self._replaced and now - self._replaced[0][0] >= age_s:
                (self._generation.layout.fragments / self._replaced.popleft()[1]).unlink(missing_ok=True)
        except (StoreError, OSError):
            self._replaced.clear()  # the next session deletes them

    def _work(self) -> None:
        while (group := self._groups.get()) is not None:
            if self._is_stopped:
                continue
            try:
                self._merge(group)
            except (StoreError, OSError, pa.ArrowException, MemoryError) as error:
                self._is_stopped = True
                message = (
                    f"small fragments are no longer merged: {error}; `destage admin compact` merges them"
                )
                self.warnings.append(Issue("store.merge-failed", str(self._generation.layout.root), message))

    def _merge(self, group: tuple[str, ...]) -> None:
        fragments = self._generation.layout.fragments
        same: dict[tuple[str, ...], dict[str, pa.Table]] = {}
        for fragment in sorted(group):
            rows = read_fragment(fragments / fragment)
            # Rows stored before a column was added stay apart, as in a compaction.
            same.setdefault(tuple(rows.column_names), {})[fragment] = rows
        for members in same.values():
            if len(members) == 1 or self._lease.is_lost:
                continue
            rows = merge_rows(list(members.values()))
            pass_point("before_merge")
            name = write_fragment(fragments, rows).name
            pass_point("after_merge")
            there = [column for column in self._columns if column in rows.column_names]
            replaced = tuple(member for member in members if member != name)
            self._merged.put(Merged(name, rows.select(there), replaced))


def find_contained(parts: Sequence[IndexedRows]) -> set[str]:
    """Return the fragments whose rows are all in larger fragments too.

    A row with a result replaces one of a run that could not be executed.
    """
    names = [name for part in parts for name in part.fragments]
    if not names:
        return set()
    counts = np.concatenate([np.array(part.counts, np.int64) for part in parts])
    numbers = np.repeat(np.arange(len(names)), counts)
    rows = pa.concat_tables([part.rows.select(KEYS) for part in parts]).combine_chunks()
    ids = rows["run_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    if not len(ids) or ids.max() + 1 == len(ids):
        return set()
    failed = is_transient(rows).to_numpy()
    # By run: rows with a result first, of these the one in the largest fragment.
    order = np.lexsort((numbers, -counts[numbers], failed, ids))
    is_best = np.ones(len(order), bool)
    is_best[1:] = ids[order][1:] != ids[order][:-1]
    best = np.bincount(numbers[order][is_best], minlength=len(names))
    return {name for name, count in zip(names, best, strict=True) if not count}
