"""Runs that other sweeps of the same store have executed: equal run ids, equal results.

The plans of the other sweeps say where a run may be; only the rows of sweeps that share a run are read. The
number of requests is bounded: a few for each of at most `_MOST_SWEEPS` sweeps, and then one for each fragment
of those that share runs.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from destage.errors import StoreError
from destage.objects import Location, ObjectPath
from destage.store.files.layout import SweepLayout, map_places
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.stored_rows import map_complete, read_table, rows_schema
from destage.store.state.head import read_head
from destage.store.state.plan import read_round
from destage.sweeps.space.identity import as_ids, pack_ids

_MOST_SWEEPS = 100
"""Other sweeps that are looked into: first those of the same study, then by name."""
_MOST_ROUNDS = 50
"""Planning rounds of a sweep up to which it is looked into; searches have about a dozen."""
_MOST_RUNS = 5_000_000
"""Planned runs of other sweeps that are kept, 16 bytes each."""
_KNOWN: dict[Location, bytes] = {}
"""The packed ids of the runs of rounds that were read; no file changes, as its name has its digest."""
_MOST_KNOWN, _MOST_KNOWN_RUNS = 500, 10_000
"""Rounds that are kept, and the runs of each, 16 bytes for a run."""
_FRAGMENT_ROWS = 10_000
"""Rows from which on a fragment of copied rows is written."""
_LISTINGS = 5
"""Maximum listings of a sweep's fragments, which a compaction may replace while they are read."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The runs that another sweep has planned, as packed ids."""

    layout: SweepLayout
    runs: pa.Array


class SharedRuns:
    """The runs of the other sweeps of a sweep's store, as they are when the first run is looked up."""

    def __init__(self, sweep: Location) -> None:
        self._sweep = sweep
        self._plans: list[_Plan] | None = None

    def read(self, wanted: pa.Array, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows of runs that another sweep has finished, each run once.

        A failed run is not among them, nor one that was executed before a result column was added.

        Args:
            wanted: The packed ids of the runs.
            columns: The columns read, with `run_id` and `status` (default: all of the fragment).
        """
        if not len(wanted):
            return
        if self._plans is None:
            self._plans = list(_read_plans(self._sweep))
        for plan in self._plans:
            there = wanted.filter(pc.is_in(wanted, plan.runs))
            left = set(there.to_pylist())
            # A sweep that cannot be read does not concern this one.
            with suppress(StoreError, OSError):
                for rows in _read_rows(plan.layout, left, columns):
                    packed = pack_ids(rows["run_id"])
                    wanted = wanted.filter(pc.invert(pc.is_in(wanted, packed)))
                    yield rows

    def count(self, wanted: pa.Array) -> int:
        """Return how many of the runs another sweep has finished."""
        return sum(rows.num_rows for rows in self.read(wanted, []))

    def copy(self, wanted: pa.Array, fragments: Location) -> Iterator[pa.Table]:
        """Commit the rows of runs that another sweep has finished, and yield them once they are committed.

        A row keeps its provenance. Every fragment is a commit of its own, as that of a worker is.
        """
        waiting: dict[tuple[str, ...], list[pa.Table]] = {}
        for rows in self.read(wanted):
            # Fragments of different columns stay apart.
            same = waiting.setdefault(tuple(rows.column_names), [])
            same.append(rows)
            if sum(table.num_rows for table in same) >= _FRAGMENT_ROWS:
                yield _commit(waiting.pop(tuple(rows.column_names)), fragments)
        for same in waiting.values():
            yield _commit(same, fragments)


def _commit(tables: list[pa.Table], fragments: Location) -> pa.Table:
    rows = pa.concat_tables(tables, promote_options="permissive")
    write_fragment(fragments, rows)
    return rows


def _read_plans(sweep: Location) -> Iterator[_Plan]:
    """Yield the planned runs of the other sweeps of a store, as far as the limits allow."""
    root = sweep.parent
    if isinstance(root, ObjectPath):
        folders: list[Location] = list(root.list_prefixes())
    else:
        folders = list(root.iterdir()) if root.is_dir() else []
    study = sweep.name.rpartition("-")[0]
    folders = [folder for folder in folders if folder.name != sweep.name]
    folders.sort(key=lambda folder: (folder.name.rpartition("-")[0] != study, folder.name))
    left = _MOST_RUNS
    files: list[tuple[SweepLayout, tuple[str, ...]]] = []
    for folder, (planned, rounds) in zip(
        folders, map_places(_read_rounds, folders[:_MOST_SWEEPS]), strict=False
    ):
        if 0 < planned <= left and len(rounds) <= _MOST_ROUNDS:
            left -= planned
            files.append((SweepLayout(folder), rounds))
    for layout, rounds in files:
        with suppress(StoreError, OSError):
            places = [layout.generations / name for name in rounds]
            yield _Plan(layout, as_ids(b"".join(map_places(_read_ids, places))))


def _read_rounds(folder: Location) -> tuple[int, tuple[str, ...]]:
    """Return the number of runs that a sweep has planned, and the files of its plan."""
    try:
        head = read_head(SweepLayout(folder))
    except (StoreError, OSError):
        return 0, ()
    return (0, ()) if head is None else (head.planned, head.rounds)


def _read_ids(file: Location) -> bytes:
    """Return the packed ids of the runs of a round, which the next sweep of a search asks for again."""
    known = _KNOWN.get(file)
    if known is not None:
        return known
    packed = pc.unique(pack_ids(read_round(file, ["run_id"])["run_id"]))
    ids: bytes = np.frombuffer(packed.buffers()[1], np.uint8).tobytes() if len(packed) else b""
    if len(packed) <= _MOST_KNOWN_RUNS:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[file] = ids
    return ids


def _read_rows(layout: SweepLayout, left: set[bytes], columns: Sequence[str] | None) -> Iterator[pa.Table]:
    """Yield the rows of some runs of a sweep, and take these runs out of `left`."""
    needed = set(rows_schema().names)

    def read(file: pq.ParquetFile) -> pa.Table | None:
        if not left or not needed.issubset(file.schema_arrow.names):
            return None
        listed = read_table(file, ["run_id", "status"])
        ids = pack_ids(listed["run_id"]).to_pylist()
        statuses = listed["status"].to_pylist()
        places = {
            identity: place
            for place, (identity, status) in enumerate(zip(ids, statuses, strict=True))
            if identity in left and status != "failed"
        }
        if not places:
            return None
        table = listed if columns is not None and not columns else read_table(file, _add_keys(columns))
        return table.take(pa.array(list(places.values())))

    for _ in range(_LISTINGS):
        try:
            for _, rows in map_complete(layout, read, past_damage=True) if left else ():
                if rows is None:
                    continue
                # Fragments that are read at the same time may share a run.
                is_new = [identity in left for identity in pack_ids(rows["run_id"]).to_pylist()]
                left.difference_update(pack_ids(rows["run_id"]).to_pylist())
                if any(is_new):
                    yield rows.filter(pa.array(is_new))
        except FileNotFoundError:
            continue
        break


def _add_keys(columns: Sequence[str] | None) -> list[str] | None:
    return None if columns is None else [*{"run_id": None, "status": None, **dict.fromkeys(columns)}]
