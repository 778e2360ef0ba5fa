"""The progress of a sweep, recorded beside its rows by the writer.

Counting the rows of a million runs takes minutes, and `watch` asks every few seconds. The rows are
authoritative: without a writer, recorded progress is valid only while the fragments are unchanged.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass

from destage.errors import StoreError
from destage.objects import Location
from destage.store.durable import write_durably
from destage.store.layout import SweepLayout
from destage.store.lease import find_writer
from destage.store.location import list_sizes


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of a sweep.

    Attributes:
        present: Planned runs that have a result.
        failed: Planned runs that failed.
    """

    planned: int
    present: int
    failed: int
    rounds: int


@dataclass(frozen=True, slots=True)
class RecordedProgress(Counts):
    """Progress as recorded by the writer.

    Attributes:
        fragments: Number of fragments when the writer ended; None while it writes.
        size: Their total size [bytes]; None while it writes.
    """

    fragments: int | None = None
    size: int | None = None

    def is_current(self, layout: SweepLayout) -> bool:
        """Return whether the fragments are unchanged since the writer ended."""
        return (self.fragments, self.size) == measure_fragments(layout)


@dataclass(frozen=True, slots=True)
class Status(Counts):
    """The status of a sweep.

    Attributes:
        finished: Whether the last session planned to the end and executed everything.
        writer: The process that is writing it, if any.
    """

    finished: bool
    writer: str | None


def status(sweep: Location) -> Status:
    """Return the status of a sweep."""
    layout = SweepLayout(sweep)
    writer, recorded = find_writer(layout.lease), read_progress(layout)
    is_valid = recorded is not None and (writer is not None or recorded.is_current(layout))
    counts = recorded if recorded is not None and is_valid else _count_rows(layout)
    finished = counts.present == counts.planned and layout.finished.is_file()
    return Status(counts.planned, counts.present, counts.failed, counts.rounds, finished, writer)


def measure_fragments(layout: SweepLayout) -> tuple[int, int]:
    """Return the number of fragments of a sweep and their total size [bytes]."""
    sizes = [
        size
        for path, size in list_sizes(layout.fragments)
        if path.suffix == ".parquet" and not path.name.startswith(".")
    ]
    return len(sizes), sum(sizes)


def write_progress(layout: SweepLayout, progress: RecordedProgress) -> None:
    """Record the progress of a sweep; a failure to write is ignored. The caller holds the lease."""
    with suppress(StoreError):
        write_durably(layout.progress, json.dumps(asdict(progress)).encode())


def read_progress(layout: SweepLayout) -> RecordedProgress | None:
    """Return the recorded progress, if any."""
    try:
        return RecordedProgress(**json.loads(layout.progress.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _count_rows(layout: SweepLayout) -> Counts:
    """Count the rows."""
    # Imported here because recorded progress needs neither, and `status` must start fast.
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    from destage.store.parquet import open_parquet  # noqa: PLC0415
    from destage.store.plan import list_rounds  # noqa: PLC0415
    from destage.store.rows import is_transient, read_rows  # noqa: PLC0415

    files = list_rounds(layout)
    runs = []
    for path in files:
        with open_parquet(path) as file:
            runs += file.read(columns=["run_id"])["run_id"].cast(pa.string()).chunks
    planned = pc.unique(pa.chunked_array(runs, pa.string()))
    rows = read_rows(layout, columns=[])
    rows = rows.filter(pc.and_(pc.is_in(rows["run_id"], planned), pc.invert(is_transient(rows))))
    failed = pc.sum(pc.equal(rows["status"], "failed")).as_py() or 0
    return Counts(len(planned), rows.num_rows, failed, len(files))
