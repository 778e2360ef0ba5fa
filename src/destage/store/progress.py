"""How far a sweep is, noted beside its rows by the one that writes it, and describe_holder to whoever asks.

Counting the rows of a million runs takes minutes, and whoever watches a sweep asks every few seconds. The
rows stay the truth: the note of a writer that is gone holds only where the fragments are still the same.
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
    """How far a sweep is.

    Attributes:
        planned: Runs planned so far.
        present: Planned runs that are there.
        failed: Planned runs whose row says failed.
        rounds: Planning rounds so far.
    """

    planned: int
    present: int
    failed: int
    rounds: int


@dataclass(frozen=True, slots=True)
class RecordedProgress(Counts):
    """How far a sweep is, as its writer notes it.

    Attributes:
        fragments: How many fragments there were when the writer ended; None while it writes.
        size: What they held together [bytes]; None while it writes.
    """

    fragments: int | None = None
    size: int | None = None

    def is_of(self, layout: SweepLayout) -> bool:
        """Return whether a sweep still has the fragments that this was made of."""
        return (self.fragments, self.size) == measure_fragments(layout)


@dataclass(frozen=True, slots=True)
class Status(Counts):
    """How far a sweep is, as its directory says.

    Attributes:
        finished: Whether the last session planned to the end and executed everything.
        writer: Who is writing it now, if anybody.
    """

    finished: bool
    writer: str | None


def status(sweep: Location) -> Status:
    """Say how far a sweep is."""
    layout = SweepLayout(sweep)
    writer, noted = find_writer(layout.lease), read_progress(layout)
    is_true = noted is not None and (writer is not None or noted.is_of(layout))
    counts = noted if noted is not None and is_true else _counted(layout)
    finished = counts.present == counts.planned and layout.finished.is_file()
    return Status(counts.planned, counts.present, counts.failed, counts.rounds, finished, writer)


def measure_fragments(layout: SweepLayout) -> tuple[int, int]:
    """Return how many fragments a sweep has, and what they hold together [bytes]."""
    sizes = [
        size
        for path, size in list_sizes(layout.fragments)
        if path.suffix == ".parquet" and not path.name.startswith(".")
    ]
    return len(sizes), sum(sizes)


def write_progress(layout: SweepLayout, progress: RecordedProgress) -> None:
    """Note how far a sweep is; where that cannot be written now, the next note may."""
    with suppress(StoreError):
        write_durably(layout.progress, json.dumps(asdict(progress)).encode())


def read_progress(layout: SweepLayout) -> RecordedProgress | None:
    """Return what was noted last, or None where nothing was."""
    try:
        return RecordedProgress(**json.loads(layout.progress.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _counted(layout: SweepLayout) -> Counts:
    """Count the rows themselves."""
    # Who finds a note pays for none of what reads rows: a question to a cluster is mostly Python's start.
    from destage.store.plan import read_plan  # noqa: PLC0415
    from destage.store.rows import find_present_runs, read_rows  # noqa: PLC0415

    table = read_plan(layout)
    planned = set() if table is None else set(table["run_id"].to_pylist())
    rows = read_rows(layout, columns=[])
    present = find_present_runs(rows) & planned
    failed = sum(row["status"] == "failed" and row["run_id"] in present for row in rows.to_pylist())
    rounds = 0 if table is None else int(max(table["round"].to_pylist(), default=-1)) + 1
    return Counts(len(planned), len(present), failed, rounds)
