"""Finished sweeps in a bucket that nothing has changed since: found by two lists and two reads.

A session ends with a record of its progress. An object that is rewritten later has a later time by the
service's clock. Times have a resolution of one second, so a session that ended in the second of its last
fragment is not found.
"""

from contextlib import suppress
from datetime import datetime

from destage.errors import StoreError
from destage.objects import ObjectPath
from destage.store.files.layout import SweepLayout
from destage.store.files.regular_files import MOST_RECORD, read_file
from destage.store.opened.recorded_progress import RecordedProgress, place_of_progress, read_progress
from destage.store.state.generations import DAMAGE, find_latest_head
from destage.store.state.head import Head, decode_head


def find_settled_head(layout: SweepLayout) -> Head | None:
    """Return the head of a sweep in a bucket if all its runs have rows and no file is later than its session.

    Raises:
        StoreError: The bucket cannot be read.
    """
    folder, fragments = layout.generations, layout.fragments
    if not isinstance(folder, ObjectPath) or not isinstance(fragments, ObjectPath):
        return None
    written = {one.path.name: one.modified_at for one in folder.list_objects()}
    if (found := find_latest_head(written)) is None:
        return None
    generation, name = found
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
        times = [written.get(one) for one in head.files]
        recorded = read_progress(layout, generation)
        if recorded is not None and _is_complete(head, recorded) and _are_earlier(times, ended):
            listed = fragments.list_objects()
            same = (len(listed), sum(one.size for one in listed)) == (recorded.fragments, recorded.size)
            if same and _are_earlier([one.modified_at for one in listed], ended):
                return head
    return None


def _is_complete(head: Head, recorded: RecordedProgress) -> bool:
    return head.finished and not recorded.failed and recorded.present == recorded.planned == head.planned


def _are_earlier(times: list[datetime | None], ended: datetime) -> bool:
    return all(time is not None and time < ended for time in times)
