"""Layout of the jobs' files on the array: contiguous, one after the other, in the order of the jobs.

Jobs with the same filename share one file. A device without a size is the whole array.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    extents: dict[str, int | None] = {}
    regions: list[tuple[str, Region]] = []
    for index, job in enumerate(jobs):
        length = _length(job, issues)
        # A file whose name fio generates is that of its job, and each clone has its own.
        name, pitch = job.filename, job.offset_increment
        if name is None:
            name, pitch = f"[{index}]", round_up(job.offset + (length or 0))
        required = None if job.iolog is None else 0
        if length is not None:
            required = (job.clones - 1) * pitch + job.offset + length
        extent = extents.get(name, 0)
        extents[name] = None if extent is None or required is None else max(extent, required)
        regions.append((name, Region(job.offset, length, pitch)))
    whole = [name for name, extent in extents.items() if extent is None]
    if whole and len(extents) > 1:
        message = (
            "has no size and shares the array with other files; give each job size or filesize, "
            "or import one device at a time"
        )
        issues.append(Issue("import.missing-size", "filename", message, whole[0]))
    bases: dict[str, int] = {}
    end = 0
    for name, extent in extents.items():
        bases[name] = end
        end += round_up(extent or 0)
    return [replace(region, offset=bases[name] + region.offset) for name, region in regions]


def _length(job: Settings, issues: list[Issue]) -> int | None:
    """Return the part of the file that the job uses [bytes]."""
    length = job.size
    if job.file_size is not None:
        length = job.file_size - job.offset
        if length <= 0:
            message = "offset must be less than filesize"
            issues.append(Issue("import.conflicting-options", job.place, message))
            return None
    span = job.distribution.span
    if span is not None and job.pattern.is_random:
        length = span if length is None else min(span, length)
    is_device = job.filename is not None and job.filename.startswith(_DEVICES)
    if length is None and not is_device and job.iolog is None:
        message = "needs size or filesize, unless filename is a device (/dev/...)"
        issues.append(Issue("import.missing-size", job.place, message))
    return length
