"""The open part of a worker: rows of executed batches that are committed together, as one fragment."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from destage.errors import Issue
from destage.objects import Location
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.stored_rows import is_transient
from destage.sweeps.workers.batches import Batch
from destage.sweeps.workers.machine_failures import explain_failure
from destage.sweeps.workers.receipts import Failure, FinishedBatch, Receipt

MOST_ROWS = 10_000
"""Rows from which a part is committed, a few megabytes in memory."""
_TRIES = 2
"""Attempts to write a fragment; executing its runs again would take longer."""


@dataclass(frozen=True, slots=True)
class _Executed:
    batch: Batch
    rows: pa.Table
    seconds: float


class OpenPart:
    """Rows of executed batches that are not committed yet; not for several threads at once."""

    def __init__(self, fragments: Location, facts: Sequence[str]) -> None:
        self._fragments = fragments
        self._facts = ["run_id", "status", "error_kind", "error", *facts]
        self._executed: list[_Executed] = []
        self._opened_at = 0.0

    def __len__(self) -> int:
        return len(self._executed)

    def add(self, batch: Batch, rows: pa.Table, seconds: float) -> list[FinishedBatch]:
        """Add the rows of a batch, of which its last runs may be missing, and its engine time [s].

        Rows of runs that could not be executed are a fragment of their own, which is committed at once.
        """
        executed = _Executed(batch, rows, seconds)
        if pc.any(is_transient(rows)).as_py():
            return self._commit([executed])
        if not self._executed:
            self._opened_at = time.monotonic()
        self._executed.append(executed)
        return []

    def is_due(self, hold_s: float) -> bool:
        """Return whether the part is committed before the next batch.

        Args:
            hold_s: The most work that may be lost with the worker [s], the next batch's included.
        """
        if not self._executed:
            return False
        work = sum(one.seconds for one in self._executed) + self._executed[-1].seconds
        return work >= hold_s or sum(one.rows.num_rows for one in self._executed) >= MOST_ROWS

    def is_old(self, hold_s: float) -> bool:
        """Return whether the oldest rows have waited for so long [s], as beside a run that takes hours."""
        return bool(self._executed) and time.monotonic() - self._opened_at >= hold_s

    def publish(self) -> list[FinishedBatch]:
        """Commit the rows as one fragment, and return its batches with their receipts.

        If the fragment cannot be written, its first batch has failed and the others are lost: each is
        executed again, and the failure counts once.
        """
        executed, self._executed = self._executed, []
        return self._commit(executed)

    def _commit(self, executed: list[_Executed]) -> list[FinishedBatch]:
        if not executed:
            return []
        rows = pa.concat_tables([one.rows for one in executed])
        try:
            name = self._write(rows)
        except Exception as error:  # noqa: BLE001 - the driver reports it
            failed = explain_failure(error)
            lost = failed if isinstance(failed, Issue) else Failure("lost", failed.message)
            results = [failed, *[lost] * (len(executed) - 1)]
            return [FinishedBatch(one.batch, result) for one, result in zip(executed, results, strict=True)]
        return [
            FinishedBatch(one.batch, Receipt(one.seconds, one.rows.select(self._facts), name))
            for one in executed
        ]

    def _write(self, rows: pa.Table) -> str:
        for left in reversed(range(_TRIES)):
            try:
                return write_fragment(self._fragments, rows).name
            except Exception as error:
                if not left or isinstance(explain_failure(error), Issue):
                    raise
        raise AssertionError("the last attempt returns or raises")
