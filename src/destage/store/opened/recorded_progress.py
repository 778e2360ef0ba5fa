"""The progress of a sweep, which its writer records beside its rows.

Counting the rows of a million runs takes seconds, and `status --follow` asks every few seconds. The rows are
authoritative: without a writer, recorded progress is valid only while the fragments are unchanged. Where it
is missing or outdated, the first reader that may write to the folder records what it has counted.

A finished sweep in a bucket that nothing has changed since is found by two lists and two reads. Its session
ended with a record of its progress, and an object that is rewritten later has a later time by the service's
clock. Times have a resolution of one second, so a session that ended in the second of its last fragment is
not found.
"""

import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from destage.errors import Issue, StoreError
from destage.objects import Location, ObjectPath
from destage.store.files.digests import decode_record, encode_record, is_amount, is_count, is_intact
from destage.store.files.durable import write_durably
from destage.store.files.layout import SweepLayout, find_modified_time, list_sizes
from destage.store.files.regular_files import MOST_RECORD, read_file
from destage.store.locks.lease import find_writer
from destage.store.opened.counts import Counts
from destage.store.state.head import DAMAGE, Head, decode_head, find_latest_head
from destage.store.state.lookup import RESTORE, open_head


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
        warnings: What is damaged, and how it is restored.
    """

    finished: bool
    writer: str | None
    warnings: tuple[Issue, ...] = ()


def status(sweep: Location) -> Status:
    """Return the status of a sweep.

    Raises:
        StoreError: Its plan or one of its fragments is damaged.
    """
    layout = SweepLayout(sweep)
    writer, opened = find_writer(layout.lease), open_head(layout)
    if opened is None:
        return Status(0, 0, 0, 0, finished=False, writer=writer)
    name, head = opened.generation, opened.head
    recorded = read_progress(layout, name)
    # A writer that has ended recorded its fragments; the next one may have moved damaged ones away.
    has_ended = writer is None or (recorded is not None and recorded.fragments is not None)
    is_valid = recorded is not None and (not has_ended or recorded.is_current(layout))
    if recorded is not None and is_valid:
        counts: Counts = recorded
    else:
        # A writer records its own progress, and a restored head is not that of the next session.
        is_settled = writer is None and not opened.warnings
        counts = _count_rows(layout, name if is_settled else None)
    finished = counts.present == counts.planned and head.finished
    later = (0.0, 0.0) if has_ended else (counts.later_runs, counts.later_runs_high)
    return Status(
        counts.planned,
        counts.present,
        counts.failed,
        counts.rounds,
        finished,
        writer,
        opened.warnings + _find_damaged_study(layout, head),
        later_runs=later[0],
        later_runs_high=later[1],
    )


def _find_damaged_study(layout: SweepLayout, head: Head) -> tuple[Issue, ...]:
    place = layout.generations / head.study
    try:
        if is_intact(place):
            return ()
    except FileNotFoundError:
        pass
    return (Issue("store.study-restored", str(place), f"damaged or lost; {RESTORE}"),)


def describe_unfinished(name: str, planned: int, missing: int) -> Issue:
    """Return the warning of a sweep whose results are preliminary."""
    lack = f"{missing} of {planned} planned runs are missing" if missing else "the sweep is unfinished"
    data = {"planned": planned, "missing": missing}
    return Issue("sweep.unfinished", name, f"{lack}; results are preliminary", data=data)


def measure_fragments(layout: SweepLayout) -> tuple[int, int]:
    """Return the number of fragments of a sweep and their total size [bytes]."""
    sizes = [
        size
        for path, size in list_sizes(layout.fragments)
        if path.suffix == ".parquet" and not path.name.startswith(".")
    ]
    return len(sizes), sum(sizes)


def write_progress(layout: SweepLayout, generation: str, progress: RecordedProgress) -> None:
    """Record the progress of a generation; a failure to write is ignored."""
    with suppress(StoreError):
        write_durably(place_of_progress(layout, generation), encode_record(asdict(progress)))


def read_progress(layout: SweepLayout, generation: str) -> RecordedProgress | None:
    """Return the recorded progress of a generation, if there is an intact record."""
    place = place_of_progress(layout, generation)
    try:
        recorded = RecordedProgress(**decode_record(read_file(place, MOST_RECORD), place))
    except (FileNotFoundError, TypeError):
        return None
    except StoreError as error:
        if error.code not in DAMAGE:
            raise
        return None
    counts = (recorded.planned, recorded.present, recorded.failed, recorded.rounds)
    measured = (recorded.fragments, recorded.size)
    is_valid = (
        all(map(is_count, counts))
        and all(value is None or is_count(value) for value in measured)
        and is_amount(recorded.later_runs)
        and is_amount(recorded.later_runs_high)
    )
    return recorded if is_valid else None


def find_record_age(sweep: Location) -> float | None:
    """Return how long ago a writer last recorded progress of a sweep [s]; None if none has."""
    layout = SweepLayout(sweep)
    opened = open_head(layout)
    recorded = find_modified_time(place_of_progress(layout, opened.generation)) if opened else None
    return None if recorded is None else max(0.0, time.time() - recorded)


def place_of_progress(layout: SweepLayout, generation: str) -> Location:
    """Return the file with the progress of a generation."""
    return layout.generations / f"{generation}.progress"


def _count_rows(layout: SweepLayout, generation: str | None) -> Counts:
    """Count the rows, and record the counts as progress of a generation, if one is given, in a folder."""
    # Imported here because recorded progress needs neither, and `status` must start fast.
    from destage.store.opened.sweep import open_sweep  # noqa: PLC0415

    fragments, size = measure_fragments(layout)
    counts = open_sweep(layout.root).count()
    # In a bucket, the time of the record tells when the session ended.
    if generation is not None and isinstance(layout.root, Path):
        counted = (counts.planned, counts.present, counts.failed, counts.rounds)
        write_progress(layout, generation, RecordedProgress(*counted, fragments, size))
    return counts


def find_settled_head(layout: SweepLayout) -> Head | None:
    """Return the head of a sweep in a bucket if all its runs have rows and no file is later than its session.

    Raises:
        StoreError: The bucket cannot be read.
    """
    folder, fragments = layout.generations, layout.fragments
    if not isinstance(folder, ObjectPath) or not isinstance(fragments, ObjectPath):
        return None
    written = {info.path.name: info.modified_at for info in folder.list_objects()}
    if (latest := find_latest_head(written)) is None:
        return None
    generation, name = latest
    ended = written.get(place_of_progress(layout, generation).name)
    if ended is None:
        return None
    with suppress(FileNotFoundError):
        try:
            head = decode_head(read_file(folder / name, MOST_RECORD), folder / name)
        except StoreError as error:
            if error.code not in DAMAGE:
                raise
            return None
        times = [written.get(file) for file in head.files]
        recorded = read_progress(layout, generation)
        if recorded is not None and _is_complete(head, recorded) and _are_earlier(times, ended):
            listed = fragments.list_objects()
            same = (len(listed), sum(info.size for info in listed)) == (recorded.fragments, recorded.size)
            if same and _are_earlier([info.modified_at for info in listed], ended):
                return head
    return None


def _is_complete(head: Head, recorded: RecordedProgress) -> bool:
    return head.finished and not recorded.failed and recorded.present == recorded.planned == head.planned


def _are_earlier(times: list[datetime | None], ended: datetime) -> bool:
    return all(time is not None and time < ended for time in times)
