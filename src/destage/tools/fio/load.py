"""Import of fio job files as workloads."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from destage.errors import ConfigError, Issue
from destage.tools.fio.job_file import JobFile, is_command, read_jobs, read_sections
from destage.tools.fio.layout import Region, lay_out
from destage.tools.fio.settings import Settings, read_settings
from destage.tools.fio.streams import JobStreams
from destage.tools.fio.timeline import build_timeline
from destage.tools.imported_workload import DEFAULTS, ImportedWorkload, ImportOptions, number_repeated
from destage.tools.values import ALL, SECTOR
from destage.tools.workload_parts import warn_page_cache

__all__ = ["is_command", "read_tests", "recognizes"]
_MOST_STREAMS = 1024
_CONTIGUOUS = "Assumed: each file is contiguous, and the files follow one another on the array."


def recognizes(_: str) -> bool:
    """Return True: a job file has no mark of its own, and is what no other tool recognizes."""
    return True


def read_tests(text: str, file: str, options: ImportOptions = DEFAULTS) -> list[ImportedWorkload]:
    """Read the commands of a script, the groups of a job file for a study, or all its jobs as one test.

    Raises:
        ConfigError: With every option that cannot be read, each with file, line, value and what is allowed.
    """
    is_script = is_command(text)
    read = read_jobs if is_script else read_sections
    tests = []
    for sections in read(text, file, is_lenient=options.ignore_unknown):
        jobs, regions = _settle_jobs(sections, file)
        if not is_script and not options.is_study:
            return [_build(sections, jobs, regions, file)]
        starts = [
            index for index, job in enumerate(jobs) if not index or (job.is_stonewalled and not is_script)
        ]
        for start, end in pairwise([*starts, len(jobs)]):
            # Within its group, no job waits for another.
            group = [replace(job, is_stonewalled=job.is_stonewalled and is_script) for job in jobs[start:end]]
            name = " + ".join(job.name for job in group)
            imported = _build(sections, group, regions[start:end], file)
            tests.append(replace(imported, name=name, is_named=not is_script))
    return tests


def _settle_jobs(sections: JobFile, file: str) -> tuple[list[Settings], list[Region]]:
    issues = sections.reader.issues
    jobs = [read_settings(*job, sections.reader) for job in sections.jobs]
    _check_conflicts(jobs, issues)
    regions = [] if issues else lay_out(jobs, issues)
    if issues:
        raise ConfigError(issues, file)
    return jobs, regions


def _build(
    sections: JobFile, jobs: Sequence[Settings], regions: Sequence[Region], file: str
) -> ImportedWorkload:
    """Return the workload of jobs."""
    issues: list[Issue] = []
    timeline = build_timeline(jobs, issues)
    if issues:
        raise ConfigError(issues, file)
    users = _count_users(jobs)
    streams: list[dict[str, Any]] = []
    mapping: dict[str, tuple[str, ...]] = {}
    names = number_repeated([job.name for job in jobs])
    for job, region, name, times in zip(jobs, regions, names, timeline.times, strict=True):
        job_streams = JobStreams(job, region, is_per_user=users > 1, name=name)
        built = list(job_streams.build(times))
        head = f"[{job.name}], line {job.line}:"
        mapping[built[0]["name"]] = (head, *job_streams.notes)
        streams += built
    workload: dict[str, Any] = {"users": users}
    if timeline.phases:
        workload["phases"] = timeline.phases
    return ImportedWorkload(
        workload={**workload, "streams": streams},
        run=timeline.run,
        remarks=(_CONTIGUOUS, *sections.reader.remarks),
        mapping=mapping,
        warnings=(*sections.reader.warnings, *_find_warnings(jobs), *timeline.warnings),
    )


def _check_conflicts(jobs: Sequence[Settings], issues: list[Issue]) -> None:
    """Add issues for options that exclude each other."""
    if sum(job.clones for job in jobs) > _MOST_STREAMS:
        issues.append(Issue("fio.too-many-jobs", "numjobs", f"more than {_MOST_STREAMS} jobs in total"))
    zoned = "zonemode=strided excludes a number after rw, percentage_random and random_distribution"
    beyond = "with random_distribution, blockalign above the block size places requests beyond the file"
    aligned = "offset and offset_increment must be multiples of 512 bytes"
    for job in jobs:
        has_modifier = job.pattern.modifier is not None
        moves = has_modifier or job.random_percentage < ALL or job.distribution.kind != "random"
        several = len(job.sizes[0]) > 1 or job.sizes[0] != job.sizes[1]
        # Popular blocks are counted in the smallest size.
        is_beyond = job.distribution.is_skewed and max(job.given_alignments or (0,)) > min(job.smallest)
        for is_wrong, message in (
            (job.rates is not None and job.think_time, "thinktime excludes rate and rate_iops"),
            (job.has("rate") and job.has("rate_iops"), "rate and rate_iops exclude each other"),
            (job.zone_size and moves, zoned),
            (is_beyond, beyond),
            (has_modifier and several, "a number after rw allows one block size only"),
            (job.offset % SECTOR or job.offset_increment % SECTOR, aligned),
            (job.iolog is not None and job.clones > 1, "a replayed log allows numjobs=1 only"),
        ):
            if is_wrong:
                issues.append(Issue("import.conflicting-options", job.place, message))


def _count_users(jobs: Sequence[Settings]) -> int:
    """Return the number of clones if all jobs have the same and each clone can be a user, otherwise 1."""
    (clones, *others) = {job.clones for job in jobs}
    # Sequential clones of one file start at the same address; the users of a stream do not.
    are_independent = all(
        job.filename is None
        or (job.pattern.is_random and job.pattern.modifier is None and not job.offset_increment)
        for job in jobs
    )
    return clones if not others and are_independent and all(job.iolog is None for job in jobs) else 1


def _find_warnings(jobs: Sequence[Settings]) -> Iterator[Issue]:
    for job in jobs:
        depth = job.options.get("iodepth")
        if depth is not None and job.depth == 1 and depth.value != "1":
            name = job.engine if job.has("ioengine") else "psync (the default)"
            message = (
                f"has no effect, as in fio: ioengine {name} waits for each I/O; use ioengine=libaio to keep "
                "several outstanding"
            )
            yield depth.issue("fio.depth-without-effect", message)
    buffered = list(dict.fromkeys(job.name for job in jobs if not job.is_direct))
    if buffered:
        yield warn_page_cache("direct", buffered, jobs=buffered)
