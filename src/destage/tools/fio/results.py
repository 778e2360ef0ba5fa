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
        kinds: The figures of `read` and `write`, and of both together as `mixed` with `unified_rw_reporting`.
    """

    name: str
    group: int
    line: int
    load: Load
    kinds: Mapping[str, Kind]

    @property
    def count(self) -> int:
        """Its completed requests."""
        kinds = [self.kinds["mixed"]] if "mixed" in self.kinds else self.kinds.values()
        return sum(kind["count"] for kind in kinds)

    @property
    def seconds(self) -> float:
        """Its runtime."""
        return max(float(kind["seconds"]) for kind in self.kinds.values())


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
    is_mixed = "mixed" in job
    kinds = {"mixed": read_kind(row, "mixed")} if is_mixed else {}
    for name in ("read", "write"):
        kinds[name] = NO_REQUESTS if is_mixed and name not in job else read_kind(row, name)
    seconds = max(kind["seconds"] for kind in kinds.values())
    total = job.get("job_runtime")
    thread_seconds = total / 1000 if isinstance(total, int | float) else 0.0
    options = {**common, **_as_table(job.get("job options"))}
    load = find_load(options, _as_table(job.get("iodepth_level")), thread_seconds, seconds)
    group = job.get("groupid")
    parsed = _Job(job["jobname"], group if isinstance(group, int) else 0, line, load, kinds)
    if not parsed.count:
        message = f"job {job['jobname']!r} completed no request"
        raise file.mistake("measured.no-figures", message, line=line, place=place)
    return parsed


def _join_clones(clones: Sequence[_Job]) -> _Job:
    """Return the clones of a job (`numjobs` without `group_reporting`), which ran together, as one."""
    names = {name for clone in clones for name in clone.kinds}
    kinds = {name: [clone.kinds[name] for clone in clones if name in clone.kinds] for name in names}
    return replace(clones[0], kinds={name: add_kinds(parts) for name, parts in kinds.items()})


def _make_line(document: Mapping[str, Any], job: _Job, clones: Sequence[_Job]) -> MeasuredLine:
    # Without group_reporting each clone is a job of its own.
    threads = job.load.threads if len(clones) == 1 else len(clones)
    version = document.get("fio version")
    load = job.load
    figures = _list_figures(job, threads)
    figures.measure(duration_s=job.seconds or None, requests=job.count)
    if load.varying:
        figures.reject(load.varying, "outstanding", *(["depth"] if load.depth is None else []))
    elif load.depth is not None and threads is not None:
        figures.derive(outstanding=float(load.depth * threads))
    return MeasuredLine(
        tool_version=None if version is None else str(version).removeprefix("fio-") or None,
        source_line=job.line,
        workload=job.name,
        test=f"group {job.group}",
        measured_at=_find_time(document),
        depth=load.depth,
        threads=threads,
        random_fraction=load.random_fraction,
        footprint_bytes=load.footprint,
        **figures.columns(),
    )


def _list_figures(job: _Job, threads: int | None) -> Figures:
    read, write, mixed = (job.kinds.get(name) or NO_REQUESTS for name in ("read", "write", "mixed"))
    kinds = [kind for kind in (read, write) if kind["count"]]
    figures = Figures()
    if kinds or "mixed" not in job.kinds:
        figures = merge_operations(read, write)
        figures.measure(reads=read["count"], writes=write["count"])
    if figures.get("response_p50_us") is None:
        together = find_percentiles(add_bins(kinds))
        figures.derive(**{f"response_{end}_us": value for end, value in together.items()})
    if "mixed" in job.kinds:
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
