"""Where the files of the jobs lie on the array: in one piece each, one after the other, in the jobs' order.

A file that several jobs name is one file. A device without a size is the whole array.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from destage.errors import Issue
from destage.importers.fio.settings import Settings

_ALIGNMENT = 1 << 20
_DEVICES = ("/dev/", "\\\\.\\")


@dataclass(frozen=True, slots=True)
class Region:
    """What one job, or one clone of it, touches [bytes].

    Attributes:
        offset: Where it begins on the array.
        length: How long it is; None for the rest of the array.
        pitch: How far the next clone's region lies behind; 0 where clones share one.
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
        extents[key] = _larger(extents.get(key, 0), _needed(job, length))
    whole = [key for key, extent in extents.items() if extent is None]
    if whole and len(extents) > 1:
        issues.append(
            Issue(
                "fio.missing-size",
                "filename",
                "has no size and shares the array with other files; give each job size or filesize, "
                "or import one device at a time",
                whole[0],
            )
        )
    bases: dict[str, int] = {}
    end = 0
    for key, extent in extents.items():
        bases[key] = end
        end += -(-(extent or 0) // _ALIGNMENT) * _ALIGNMENT
    return [
        Region(bases[_key(job, index)] + job.offset, length, _pitch(job, length))
        for index, (job, length) in enumerate(zip(jobs, lengths, strict=True))
    ]


def _key(job: Settings, index: int) -> str:
    """What tells files apart: their names, or the job where fio makes up the name."""
    return job.filename if job.filename is not None else f"[{index}]"


def _length(job: Settings, issues: list[Issue]) -> int | None:
    """How much of the file the job touches."""
    length = job.size
    if job.file_size is not None:
        length = job.file_size - job.offset
        if length <= 0:
            issues.append(
                Issue("fio.conflicting-options", job.job.place, "offset must be less than filesize")
            )
            return None
    span = job.distribution.span
    if span is not None and job.is_random:
        length = span if length is None else min(span, length)
    is_device = job.filename is not None and job.filename.startswith(_DEVICES)
    if length is None and not is_device and job.iolog is None:
        message = "needs size or filesize, unless filename is a device (/dev/...)"
        issues.append(Issue("fio.missing-size", job.job.place, message))
    return length


def _pitch(job: Settings, length: int | None) -> int:
    if job.filename is None:
        return -(-(job.offset + (length or 0)) // _ALIGNMENT) * _ALIGNMENT
    return job.offset_increment


def _needed(job: Settings, length: int | None) -> int | None:
    """How large the file, or all files of the clones, must be."""
    if length is None:
        return None if job.iolog is None else 0
    return (job.clones - 1) * _pitch(job, length) + job.offset + length


def _larger(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else max(one, other)
