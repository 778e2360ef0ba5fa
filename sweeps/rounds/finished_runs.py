"""Finished runs: what a session keeps of them, 25 bytes a run unless planning needs their results."""

from array import array
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.sweeps.points.point_results import Facts
from destage.sweeps.space.identity import as_ids, pack_ids, read_bytes

NEEDED = "requests_needed"
"""The result column with the `max_requests` that a run without a steady state needs."""


class FinishedRuns:
    """The finished runs of a session, numbered in the order in which they are added.

    Attributes:
        facts: The results of the runs by id, if they are kept.
    """

    def __init__(self, columns: Sequence[str], *, keeps_facts: bool) -> None:
        self._columns = columns
        self._keeps_facts = keeps_facts
        self.facts: dict[str, Facts] = {}
        self._ids = bytearray()
        self._statuses = bytearray()
        self._needed = array("d")
        self._codes: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._statuses)

    def add(self, rows: pa.Table) -> None:
        """Add rows with `run_id`, `status` and the columns of facts."""
        if not rows.num_rows:
            return
        self._ids += read_bytes(pack_ids(rows["run_id"])).tobytes()
        statuses = rows["status"].combine_chunks().dictionary_encode()
        codes = [self._codes.setdefault(text, len(self._codes)) for text in statuses.dictionary.to_pylist()]
        self._statuses += np.array(codes, np.uint8)[statuses.indices.to_numpy()].tobytes()
        needed = rows[NEEDED].cast(pa.float64()) if NEEDED in rows.column_names else None
        if needed is None:
            self._needed.extend([np.nan] * rows.num_rows)
        else:
            self._needed.frombytes(needed.to_numpy().tobytes())
        if self._keeps_facts:
            for row in rows.select(["run_id", "status", *self._columns]).to_pylist():
                self.facts[row["run_id"]] = _facts_of(row, self._columns)

    def find(self, packed: pa.Array) -> np.ndarray:
        """Return the number of each run, and -1 for runs that are not finished."""
        # A view would keep the buffer from growing.
        finished = as_ids(bytes(self._ids))
        numbers: np.ndarray = pc.fill_null(pc.index_in(packed, finished), -1).to_numpy(zero_copy_only=False)
        return numbers

    def have_status(self, numbers: np.ndarray, status: str) -> np.ndarray:
        """Return whether each run has a status; a number of -1 has none."""
        codes = np.frombuffer(bytes(self._statuses), np.uint8)
        code = self._codes.get(status)
        if code is None or not len(codes):
            return np.zeros(numbers.shape, bool)
        have: np.ndarray = (numbers >= 0) & (codes[numbers] == code)
        return have

    def needed_requests(self, numbers: np.ndarray) -> np.ndarray:
        """Return the requests that each run needed for a steady state; NaN where that is unknown."""
        needed: np.ndarray = np.frombuffer(self._needed.tobytes(), np.float64)[numbers]
        return needed


def _facts_of(row: Mapping[str, object], columns: Sequence[str]) -> Facts:
    """Return the facts of a row: its status and some of its columns."""
    values = {
        column: float(value) if isinstance(value := row[column], (int, float)) else None for column in columns
    }
    return Facts(str(row["status"]), values)
