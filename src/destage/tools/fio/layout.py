"""Layout of the jobs' files on the array: contiguous, one after the other, in the order of the jobs.

Jobs with the same filename share one file. A device without a size is the whole array.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from destage.errors import Issue
from destage.tools.fio.settings import Settings
from destage.tools.workload_parts import round_up

_DEVICES = ("/dev/", "\\\\.\\")


@dataclass(frozen=True, slots=True)
class Region:
    """The region of the array that one job, or one clone of it, uses [bytes].

    Attributes:
        offset: First byte on the array.
        length: Its length; None for the rest of the array.
        pitch: Distance to the region of the next clone; 0 if the clones share one.
    """

    offset: int
    length: int | None
    pitch: int


def lay_out(jobs: Sequence[Settings], issues: list[Issue]) -> list[Region]:
    """Return the region of each job's first clone."""
    lengths = [_length(job, issues) for job in jobs]
    extents: dict[str, int | None] = {}
    for index, (job, length) in enumerate(zip(jobs, lengths, strict=True)):
        key = _key(job, index)
        extent, required = extents.get(key, 0), _required(job, length)
        extents[key] = None if extent is None or required is None else max(extent, required)
    whole = [key for key, extent in extents.items() if extent is None]
    if whole and len(extents) > 1:
        message = (
            "has no size and shares the array with other files; give each job size or filesize, "
            "or import one device at a time"
        )
        issues.append(Issue("import.missing-size", "filename", message, whole[0]))
    bases: dict[str, int] = {}
    end = 0
    for key, extent in extents.items():
        bases[key] = end
        end += round_up(extent or 0)
    return [
        Region(bases[_key(job, index)] + job.offset, length, _pitch(job, length))
        for index, (job, length) in enumerate(zip(jobs, lengths, strict=True))
    ]


def _key(job: Settings, index: int) -> str:
    """Return what identifies the file: its name, or the job if fio generates the name."""
    return job.filename if job.filename is not None else f"[{index}]"


def _length(job: Settings, issues: list[Issue]) -> int | None:
    """Return the part of the file that the job uses [bytes]."""
    length = job.size
    if job.file_size is not None:
        length = job.file_size - job.offset
        if length <= 0:
            message = "offset must be less than filesize"
            issues.append(Issue("import.conflicting-options", job.job.place, message))
            return None
    span = job.distribution.span
    if span is not None and job.pattern.is_random:
        length = span if length is None else min(span, length)
    is_device = job.filename is not None and job.filename.startswith(_DEVICES)
    if length is None and not is_device and job.iolog is None:
        message = "needs size or filesize, unless filename is a device (/dev/...)"
        issues.append(Issue("import.missing-size", job.job.place, message))
    return length


def _pitch(job: Settings, length: int | None) -> int:
    if job.filename is None:
        return round_up(job.offset + (length or 0))
    return job.offset_increment


def _required(job: Settings, length: int | None) -> int | None:
    """Return the least size of the file, or of all files of the clones [bytes]."""
    if length is None:
        return None if job.iolog is None else 0
    return (job.clones - 1) * _pitch(job, length) + job.offset + length
