"""fio's job files as workloads.

The options that are taken, and what becomes of each, are in `options`; docs/workloads.md has the table.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Any

from destage.errors import ConfigError, Issue
from destage.importers.fio.job_file import JobFile, Option, read_sections
from destage.importers.fio.layout import lay_out
from destage.importers.fio.settings import Settings, read_settings
from destage.importers.fio.streams import JobStreams
from destage.importers.fio.timeline import arrange
from destage.importers.imported_workload import ImportedWorkload

_MOST_STREAMS = 1024


def read_job_file(
    text: str,
    file: str,
    *,
    environment: Mapping[str, str] = MappingProxyType({}),
    ignore_unknown: bool = False,
) -> ImportedWorkload:
    """Read a job file as a workload.

    Args:
        ignore_unknown: Whether options that cannot be simulated are left out and listed, not refused.

    Raises:
        ConfigError: With every option that cannot be read, each with file, line, value and what is allowed.
    """
    sections = read_sections(text, file, environment=environment, ignore_unknown=ignore_unknown)
    issues: list[Issue] = []
    jobs = [read_settings(job, issues) for job in sections.jobs]
    _check(jobs, issues)
    if issues:
        raise ConfigError(issues, file)
    regions = lay_out(jobs, issues)
    timeline = arrange(jobs, issues)
    if issues:
        raise ConfigError(issues, file)
    users = _users(jobs)
    streams: list[dict[str, Any]] = []
    mapping: dict[str, tuple[str, ...]] = {}
    names = _names([job.job.name for job in jobs])
    for index, (job, region) in enumerate(zip(jobs, regions, strict=True)):
        made = JobStreams(job, region, is_per_user=users > 1, name=names[index])
        its = list(made.build(timeline.times[index]))
        mapping[its[0]["name"]] = (
            f"[{job.job.name}], line {job.job.line}:",
            *made.notes,
            *timeline.notes[index],
        )
        streams += its
    workload: dict[str, Any] = {"users": users}
    if timeline.phases:
        workload["phases"] = timeline.phases
    return ImportedWorkload(
        tool="fio",
        file=file,
        workload={**workload, "streams": streams},
        run=timeline.run,
        remarks=_remarks(sections, jobs),
        mapping=mapping,
        warnings=(*_warnings(jobs), *timeline.warnings),
    )


def _check(jobs: Sequence[Settings], issues: list[Issue]) -> None:
    """Add issues for options that exclude each other."""
    if sum(job.clones for job in jobs) > _MOST_STREAMS:
        issues.append(Issue("fio.too-many-jobs", "numjobs", f"more than {_MOST_STREAMS} jobs in total"))
    for job in jobs:
        several = len(job.read_sizes) > 1 or job.read_sizes != job.write_sizes
        for is_wrong, message in (
            (
                job.rates is not None and job.think_time,
                "thinktime and rate_iops exclude each other",
            ),
            (job.turn is not None and several, "a number after rw allows one block size only"),
            (
                job.offset % 512 or job.offset_increment % 512,
                "offset and offset_increment must be multiples of 512 bytes",
            ),
            (job.iolog is not None and job.clones > 1, "a replayed log allows numjobs=1 only"),
        ):
            if is_wrong:
                issues.append(Issue("fio.conflicting-options", job.job.place, message))


def _users(jobs: Sequence[Settings]) -> int:
    """The number of users where every job has as many clones, and each clone can be a user; else 1."""
    (clones, *others) = {job.clones for job in jobs}
    # The clones of a sequential job on one file begin together; the users of a stream do not.
    is_apart = all(
        job.filename is None or (job.is_random and job.turn is None and not job.offset_increment)
        for job in jobs
    )
    return clones if not others and is_apart and all(job.iolog is None for job in jobs) else 1


def _names(names: Sequence[str]) -> list[str]:
    """The names of the streams: the jobs', with a number where one comes again."""
    taken: set[str] = set()
    unique = []
    for name in names:
        found = next(
            text for number in count(1) if (text := name if number == 1 else f"{name} {number}") not in taken
        )
        taken.add(found)
        unique.append(found)
    return unique


def _remarks(sections: JobFile, jobs: Sequence[Settings]) -> tuple[str, ...]:
    remarks = ["Files lie in one piece, one after the other (assumed: fio does not know where they lie)."]
    if any(job.is_random and job.turn is None and job.distribution.kind == "random" for job in jobs):
        free = all("norandommap" in job.job.options for job in jobs if job.is_random)
        if not free:
            remarks.append(
                "Approximated: without norandommap fio touches each block once before any comes again; "
                "here one may come again at once."
            )
    remarks += [
        f"Left out (--ignore-unknown), line {option.line}: {option}: {why}"
        for option, why in _once(sections.left_out)
    ]
    remarks += [
        f"Without effect, line {option.line}: {option}: {why}." for option, why in _once(sections.mute)
    ]
    return tuple(remarks)


def _once(options: Sequence[tuple[Option, str]]) -> list[tuple[Option, str]]:
    return list(dict(options).items())


def _warnings(jobs: Sequence[Settings]) -> list[str]:
    warnings = []
    for job in jobs:
        given = job.job.options
        depth = given.get("iodepth")
        engine = given.get("ioengine")
        if depth is not None and job.depth == 1 and depth.value != "1":
            name = engine.value if engine is not None else "psync (the default)"
            warnings.append(
                f"[{job.job.name}] {depth} has no effect, as in fio: ioengine {name} waits for each I/O; "
                "ioengine=libaio keeps them outstanding."
            )
    buffered = [job.job.name for job in jobs if not job.is_direct]
    if buffered:
        warnings.append(
            f"Without direct=1 ({', '.join(dict.fromkeys(buffered))}) the host's page cache would answer and "
            "delay many requests; it is not simulated: all of them go to the array."
        )
    return warnings
