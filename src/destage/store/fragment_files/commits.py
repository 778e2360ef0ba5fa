"""What follows a commit of a session: the fragment enters the index, and is merged with others."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.errors import Issue
from destage.store.fragment_files.adoption import Adoption
from destage.store.fragment_files.index_writer import IndexWriter
from destage.store.fragment_files.merging import Merged, Merger, find_contained
from destage.store.fragment_files.stored_rows import is_transient
from destage.store.locks.lease import Lease
from destage.store.state.generations import Generation

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
        for name in contained:
            (generation.layout.fragments / name).unlink(missing_ok=True)
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

    def _take(self, found: Sequence[Merged]) -> None:
        for one in found:
            self._index.drop(one.replaced)
            self._index.add(one.name, one.rows)
