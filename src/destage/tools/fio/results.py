"""fio's JSON and JSON+ output, of fio 2 and 3.

fio 3 has times in nanoseconds (`lat_ns`, `clat_ns`), fio 2 in microseconds (`lat`, `clat`) and bandwidths in
KiB/s only. `lat` is from the submission to the completion of a request, `clat` without the submission itself.
Percentiles are of `lat` with `lat_percentiles=1` and otherwise of `clat`; JSON+ has a histogram (`bins`) of
the same times, from which the percentiles of reads and writes together follow.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from destage.measured.line import Figures, MeasuredLine
from destage.tools.fio.result_jobs import (
    NO_REQUESTS,
    Kind,
    Load,
    add_bins,
    add_kinds,
    find_load,
    find_percentiles,
    read_kind,
)
from destage.tools.result_parts import Readings, ResultFile, Row, measure_times, merge_operations

TOOL = "fio"
_ALL_CLIENTS = "All clients"
_MEANS = ("response_mean_us", "read_response_mean_us", "write_response_mean_us", "response_max_us")
_FEWEST = 2
"""Samples below which a deviation says nothing."""
_SAME_START_S = 2
"""Greatest difference between the starts of a run that two of its reports state, in whole seconds each."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A job of a report.

    Attributes:
        mixed: The figures of reads and writes together, as with `unified_rw_reporting`.
    """

    name: str
    group: int
    line: int
    load: Load
    read: Kind
    write: Kind
    mixed: Kind | None

    @property
    def count(self) -> int:
        """Its completed requests."""
        kinds = (self.read, self.write) if self.mixed is None else (self.mixed,)
        return sum(kind["count"] for kind in kinds)


@dataclass(frozen=True, slots=True)
class _Document:
    """A JSON document, and where it starts in the file."""

    start: int
    content: Mapping[str, Any]
    jobs: Sequence[Any]

    def is_before(self, other: "_Document") -> bool:
        """Return whether `--status-interval` wrote it before another report of the same run.

        Both began at the same time, have the same jobs and options, and the later one has no lower count.
        """
        starts = self.find_start_time(), other.find_start_time()
        if None in starts or abs((starts[0] or 0) - (starts[1] or 0)) > _SAME_START_S:
            return False
        if len(self.jobs) != len(other.jobs) or not _is_same(self.content, other.content, "global options"):
            return False
        return all(
            _is_same(earlier, later, "jobname", "groupid", "job options") and _is_continued(earlier, later)
            for earlier, later in zip(self.jobs, other.jobs, strict=True)
        )

    def find_start_time(self) -> float | None:
        """Return when the run began [s]."""
        now = self.content.get("timestamp")
        elapsed = [job.get("elapsed") for job in self.jobs if isinstance(job, Mapping)]
        seconds = [value for value in elapsed if isinstance(value, int | float)]
        return now - max(seconds) if isinstance(now, int | float) and seconds else None


def recognizes(text: str) -> bool:
    """Return whether a text is fio's JSON output."""
    return '"fio version"' in text and ('"jobs"' in text or '"client_stats"' in text)


def read(file: ResultFile) -> Readings:
    """Read the runs in a file: a line per job, clones of a job as one."""
    documents = list(_decode(file))
    # The last report of each run has the figures since the start.
    runs = [
        document
        for document, following in itertools.zip_longest(documents, documents[1:])
        if following is None or not document.is_before(following)
    ]
    notes = []
    if len(runs) < len(documents):
        notes.append(f"{len(documents) - len(runs)} reports of a run before its last one: left out")
    lines: list[MeasuredLine] = []
    for run in runs:
        readings = _read_run(file, run)
        lines += readings.lines
        notes += readings.notes
    return Readings(lines, notes)


def _decode(file: ResultFile) -> Iterator[_Document]:
    """Yield the JSON objects in the file, between which fio writes warnings."""
    for start, line, content in file.decode_objects():
        jobs = content.get("jobs", content.get("client_stats"))
        if not isinstance(jobs, list) or not jobs:
            message = "must be a list of jobs, at least one"
            raise file.mistake("measured.missing-value", message, line=line, place="jobs")
        yield _Document(start, content, jobs)


def _is_same(earlier: object, later: object, *keys: str) -> bool:
    return all(_as_table(earlier).get(key) == _as_table(later).get(key) for key in keys)


def _is_continued(job: object, later: object) -> bool:
    """Return whether a later report of a job has at least as many requests of each kind."""
    for name in ("read", "write", "mixed"):
        counts = [_as_table(_as_table(report).get(name)).get("total_ios") for report in (job, later)]
        numbers = [count for count in counts if isinstance(count, int | float)]
        if len(numbers) > 1 and numbers[0] > numbers[1]:
            return False
    return True


def _read_run(file: ResultFile, run: _Document) -> Readings:
    common = _as_table(run.content.get("global options"))
    groups: dict[tuple[str, int], list[_Job]] = {}
    position = run.start
    for index, given in enumerate(run.jobs):
        position = file.text.find('"jobname"', position + 1)
        job = _read_job(file, given, f"jobs[{index}]", file.line_of(max(position, 0)), common)
        if job is not None:
            groups.setdefault((job.name, job.group), []).append(job)
    lines, notes = [], []
    for (name, _), clones in groups.items():
        job = clones[0] if len(clones) == 1 else _join_clones(clones)
        measured = _make_line(run.content, job, clones)
        if len(clones) > 1 and measured.response_p50_us is None:
            notes.append(
                f"job {name!r}: {len(clones)} clones are one line without percentiles; "
                "group_reporting or --output-format=json+ keeps them"
            )
        if job.load.is_merged:
            notes.append(
                f"job {name!r}: group_reporting merged different jobs into one line, of unknown depth; "
                "stonewall or new_group separates them"
            )
        lines.append(measured)
    return Readings(lines, notes + _note_concurrent(groups))


def _read_job(file: ResultFile, job: Any, place: str, line: int, common: Mapping[str, Any]) -> _Job | None:
    if not isinstance(job, Mapping) or not isinstance(job.get("jobname"), str):
        raise file.mistake("measured.missing-value", "missing", line=line, place=f"{place}.jobname")
    row = Row(file, line, job, f"{place}.")
    if job["jobname"] == _ALL_CLIENTS:
        return None
    if job.get("error"):
        message = (
            f"job {job['jobname']!r} ended with error {job['error']}; its figures are not those of its load"
        )
        raise row.mistake("measured.failed-job", message, "error")
    # With unified_rw_reporting, reads and writes are reported together, alone or as well.
    mixed = read_kind(row, "mixed") if "mixed" in job else None
    read, write = (
        NO_REQUESTS if mixed is not None and name not in job else read_kind(row, name)
        for name in ("read", "write")
    )
    seconds = max(kind["seconds"] for kind in (read, write, mixed or NO_REQUESTS))
    total = job.get("job_runtime")
    thread_seconds = total / 1000 if isinstance(total, int | float) else 0.0
    options = {**common, **_as_table(job.get("job options"))}
    load = find_load(options, _as_table(job.get("iodepth_level")), thread_seconds, seconds)
    group = job.get("groupid")
    parsed = _Job(job["jobname"], group if isinstance(group, int) else 0, line, load, read, write, mixed)
    if not parsed.count:
        message = f"job {job['jobname']!r} completed no request"
        raise file.mistake("measured.no-figures", message, line=line, place=place)
    return parsed


def _join_clones(clones: Sequence[_Job]) -> _Job:
    """Return the clones of a job (`numjobs` without `group_reporting`), which ran together, as one."""
    mixed = [clone.mixed for clone in clones if clone.mixed is not None]
    return replace(
        clones[0],
        read=add_kinds([clone.read for clone in clones]),
        write=add_kinds([clone.write for clone in clones]),
        mixed=add_kinds(mixed) if mixed else None,
    )


def _make_line(document: Mapping[str, Any], job: _Job, clones: Sequence[_Job]) -> MeasuredLine:
    # Without group_reporting each clone is a job of its own.
    threads = job.load.threads if len(clones) == 1 else len(clones)
    version = document.get("fio version")
    is_split = job.mixed is None or bool(job.read["count"] + job.write["count"])
    seconds = max(kind["seconds"] for kind in (job.read, job.write, job.mixed or NO_REQUESTS))
    figures = _list_figures(job, threads, is_split=is_split)
    figures.measure(duration_s=seconds or None, requests=job.count)
    if is_split:
        figures.measure(reads=job.read["count"], writes=job.write["count"])
    outstanding = job.load.count_outstanding(threads)
    figures.derive(outstanding=outstanding)
    if outstanding is None and job.load.varying:
        figures.reject(job.load.varying, "outstanding", *(["depth"] if job.load.depth is None else []))
    return MeasuredLine(
        tool=TOOL,
        tool_version=None if version is None else str(version).removeprefix("fio-") or None,
        source_line=job.line,
        workload=job.name,
        test=f"group {job.group}",
        measured_at=_find_time(document),
        depth=job.load.depth,
        threads=threads,
        random_fraction=job.load.random_fraction,
        footprint_bytes=job.load.footprint,
        **figures.columns(),
    )


def _list_figures(job: _Job, threads: int | None, *, is_split: bool) -> Figures:
    kinds = [kind for kind in (job.read, job.write) if kind["count"]]
    figures = merge_operations(job.read, job.write) if is_split else Figures()
    if figures.get("response_p50_us") is None:
        together = find_percentiles(add_bins(kinds))
        figures.derive(**{f"response_{end}_us": value for end, value in together.items()})
    if job.mixed is not None:
        mixed = job.mixed
        measure_times(figures, mixed["response"])
        figures.measure(throughput_iops=mixed["iops"], throughput_bytes_per_s=mixed["bytes_per_s"])
        if mixed["iops"]:
            figures.derive(request_bytes=round(mixed["bytes_per_s"] / mixed["iops"], 3))
        kinds = [mixed]
    if not all(kind["is_timed"] for kind in kinds):
        unknown = [name for name in _MEANS if figures.get(name) is None]
        figures.reject("fio measured no latency (gtod_reduce or disable_lat)", *unknown)
    # fio has the deviation of one kind of operation, and in a group that of a single thread.
    if threads == 1 and len(kinds) == 1 and kinds[0]["spread"] is not None and kinds[0]["samples"] >= _FEWEST:
        figures.measure(throughput_stddev_iops=kinds[0]["spread"], samples=kinds[0]["samples"])
    return figures


def _find_time(document: Mapping[str, Any]) -> datetime | None:
    moment = document.get("timestamp")
    if not isinstance(moment, int | float):
        return None
    try:
        return datetime.fromtimestamp(moment, UTC).replace(tzinfo=None)
    except (OverflowError, OSError, ValueError):
        return None


def _as_table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _note_concurrent(groups: Mapping[tuple[str, int], object]) -> list[str]:
    """Name different jobs of one group, which ran at the same time."""
    by_group: dict[int, list[str]] = {}
    for name, group in groups:
        by_group.setdefault(group, []).append(name)
    return [
        f"jobs {', '.join(names)} ran at the same time; each line has its own share of the load"
        for names in by_group.values()
        if len(names) > 1
    ]
