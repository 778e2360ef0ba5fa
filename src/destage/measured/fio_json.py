"""fio's JSON and JSON+ output, of fio 2 and 3.

fio 3 has times in nanoseconds (`lat_ns`, `clat_ns`), fio 2 in microseconds (`lat`, `clat`) and bandwidths in
KiB/s only. `lat` is from the submission to the completion of a request, `clat` without the submission itself.
Percentiles are of `lat` with `lat_percentiles=1` and otherwise of `clat`; JSON+ has a histogram (`bins`) of
the same times, from which the percentiles of reads and writes together follow.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from destage.measured.line import MeasuredLine
from destage.measured.parts import (
    PERCENTILES,
    Readings,
    ResultFile,
    find_percentile,
    merge_operations,
)

TOOL = "fio"
_SYNCHRONOUS = {"psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"}
"""Engines that wait for each request; psync is the default of Linux."""
_ALL_CLIENTS = "All clients"
_KIB = 1024
_NO_REQUESTS: Mapping[str, Any] = MappingProxyType(
    {"iops": None, "seconds": 0.0, "count": 0, "response": {}, "bins": {}, "spread": None, "samples": 0}
)
"""The figures of a kind of operation that is not reported."""
_FEWEST = 2
"""Samples below which a deviation says nothing."""


def is_result(text: str) -> bool:
    """Return whether a text is fio's JSON output."""
    return '"fio version"' in text and ('"jobs"' in text or '"client_stats"' in text)


def read(file: ResultFile) -> Readings:
    """Read the output of one run of fio: a line per job, clones of a job as one."""
    document = _decode(file)
    jobs = document.get("jobs", document.get("client_stats"))
    if not isinstance(jobs, list) or not jobs:
        raise file.mistake("measured.missing-value", "must be a list of jobs, at least one", place="jobs")
    common = _as_table(document.get("global options"))
    read_jobs = [
        _read_job(file, document, job, f"jobs[{at}]", place, common)
        for at, (job, place) in enumerate(zip(jobs, _find_jobs(file, len(jobs)), strict=True))
    ]
    return _join_clones([job for job in read_jobs if job is not None])


def _decode(file: ResultFile) -> dict[str, Any]:
    """Return the JSON object in the file; fio writes its warnings before it."""
    start = next(
        (
            at
            for at in (0, *(i + 1 for i, c in enumerate(file.text) if c == "\n"))
            if file.text[at : at + 1] == "{"
        ),
        None,
    )
    if start is None:
        raise file.mistake("measured.bad-syntax", "has no JSON object")
    try:
        document = json.JSONDecoder().raw_decode(file.text, start)[0]
    except json.JSONDecodeError as error:
        message = f"invalid JSON: {error.msg}; is the file complete?"
        raise file.mistake("measured.bad-syntax", message, line=error.lineno) from error
    if not isinstance(document, dict):  # pragma: no cover - the text starts with a brace
        raise file.mistake("measured.bad-syntax", "has no JSON object")
    return document


def _find_jobs(file: ResultFile, count: int) -> list[int]:
    """Return the line of each job."""
    places, at = [], 0
    for _ in range(count):
        at = file.text.find('"jobname"', at + 1)
        places.append(file.line_of(max(at, 0)))
    return places


def _read_job(
    file: ResultFile,
    document: Mapping[str, Any],
    job: Any,
    place: str,
    line: int,
    common: Mapping[str, Any],
) -> tuple[tuple[str, int], MeasuredLine, dict[str, Any]] | None:
    if not isinstance(job, Mapping) or not isinstance(job.get("jobname"), str):
        raise file.mistake("measured.missing-value", "missing", line=line, place=f"{place}.jobname")
    if job["jobname"] == _ALL_CLIENTS:
        return None
    if job.get("error"):
        message = (
            f"job {job['jobname']!r} ended with error {job['error']}; its figures are not those of its load"
        )
        raise file.mistake("measured.failed-job", message, line=line, place=f"{place}.error")
    options = {**common, **_as_table(job.get("job options"))}
    group = _find_whole(job.get("groupid")) or 0
    # With unified_rw_reporting, reads and writes are reported together, alone or as well.
    mixed = _read_kind(file, job, "mixed", line, place) if "mixed" in job else None
    kinds = {
        name: _NO_REQUESTS
        if mixed is not None and name not in job
        else _read_kind(file, job, name, line, place)
        for name in ("read", "write")
    }
    requests = mixed["count"] if mixed is not None else kinds["read"]["count"] + kinds["write"]["count"]
    if not requests:
        message = f"job {job['jobname']!r} completed no request"
        raise file.mistake("measured.no-figures", message, line=line, place=place)
    is_split = mixed is None or bool(kinds["read"]["count"] + kinds["write"]["count"])
    found = merge_operations(kinds["read"], kinds["write"]) if is_split else {}
    found |= _find_mixed_percentiles([kinds["read"]["bins"], kinds["write"]["bins"]])
    found |= _find_rate_spread([mixed] if mixed is not None else [kinds["read"], kinds["write"]])
    if mixed is not None:
        found |= {f"response_{key}_us": value for key, value in mixed["response"].items()}
        found |= {"throughput_iops": mixed["iops"], "throughput_bytes_per_s": mixed["bytes_per_s"]}
        found["request_bytes"] = round(mixed["bytes_per_s"] / mixed["iops"], 3) if mixed["iops"] else None
    depth = _find_depth(options)
    # Without group_reporting each clone is a job of its own, which `_join_clones` counts.
    threads = _find_whole(options.get("numjobs")) or 1
    measured = MeasuredLine(
        tool=TOOL,
        tool_version=str(document.get("fio version", "")).removeprefix("fio-") or None,
        source_line=line,
        workload=job["jobname"],
        test=f"group {group}",
        measured_at=_find_time(document),
        depth=depth,
        threads=threads,
        outstanding=None if depth is None else float(depth * threads),
        random_fraction=_find_random_fraction(options),
        duration_s=max(each["seconds"] for each in (*kinds.values(), mixed or _NO_REQUESTS)) or None,
        requests=requests,
        reads=kinds["read"]["count"] if is_split else None,
        writes=kinds["write"]["count"] if is_split else None,
        **found,
    )
    return (
        (job["jobname"], group),
        measured,
        {"read": kinds["read"], "write": kinds["write"]},
    )


def _read_kind(file: ResultFile, job: Mapping[str, Any], name: str, line: int, place: str) -> dict[str, Any]:
    """Return the figures of one kind of operation of a job."""
    given = job.get(name)
    at = f"{place}.{name}"
    if not isinstance(given, Mapping):
        raise file.mistake("measured.missing-value", "missing", line=line, place=at)

    def number(key: str) -> float:
        if key not in given:
            raise file.mistake("measured.missing-value", "missing", line=line, place=f"{at}.{key}")
        return file.read_number(str(given[key]), line, f"{at}.{key}")

    iops = number("iops")
    rate = number("bw_bytes") if "bw_bytes" in given else number("bw") * _KIB
    seconds = number("runtime") / 1000
    count = round(number("total_ios")) if "total_ios" in given else round(iops * seconds)
    response, bins = _read_times(file, given, line, at)
    return {
        "iops": iops,
        "bytes_per_s": rate,
        "seconds": seconds,
        "count": count,
        "response": response if count else {},
        "bins": bins,
        "spread": number("iops_stddev") if "iops_stddev" in given else None,
        "samples": round(number("iops_samples")) if "iops_samples" in given else 0,
    }


def _read_times(
    file: ResultFile, given: Mapping[str, Any], line: int, place: str
) -> tuple[dict[str, float], dict[int, int]]:
    """Return the response times [us], and the histogram of JSON+ [ns]."""
    suffix, scale = ("_ns", 1e-3) if "lat_ns" in given or "clat_ns" in given else ("", 1.0)
    total, completion = given.get(f"lat{suffix}"), given.get(f"clat{suffix}")
    if not isinstance(total, Mapping) and not isinstance(completion, Mapping):
        return {}, {}
    times = total if isinstance(total, Mapping) else completion
    assert times is not None  # noqa: S101 - one of both is a table
    found = {}
    for key in ("mean", "stddev", "max"):
        if key in times:
            name = f"{place}.lat{suffix}.{key}"
            found[key] = file.read_number(str(times[key]), line, name) * scale
    bins: dict[int, int] = {}
    for one in (total, completion):
        listed = one.get("percentile") if isinstance(one, Mapping) else None
        if isinstance(listed, Mapping) and any(listed.values()):
            for name, value in listed.items():
                end = find_percentile(name) if _is_number(name) else None
                if end is not None:
                    found[end] = file.read_number(str(value), line, f"{place}.percentile.{name}") * scale
            drawn = one.get("bins") if isinstance(one, Mapping) else None
            if isinstance(drawn, Mapping) and suffix:
                at = f"{place}.bins"
                bins = {
                    round(file.read_number(str(value), line, at)): round(
                        file.read_number(str(count), line, at)
                    )
                    for value, count in drawn.items()
                }
            break
    return found, bins


def _find_mixed_percentiles(histograms: Sequence[Mapping[int, int]]) -> dict[str, float]:
    """Return the percentiles of reads and writes together, where JSON+ has both histograms."""
    if not all(histograms):
        return {}
    counts: Counter[int] = Counter()
    for one in histograms:
        counts.update(one)
    total = sum(counts.values())
    found, passed = {}, 0
    wanted = list(PERCENTILES.items())
    for value in sorted(counts):
        passed += counts[value]
        while wanted and passed >= math.ceil(total * wanted[0][0] / 100):
            found[f"response_{wanted.pop(0)[1]}_us"] = value / 1000
    return found


def _find_rate_spread(kinds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the deviation of the rate, which fio has for one kind of operation at a time."""
    counted = [each for each in kinds if each["count"]]
    if len(counted) != 1 or counted[0]["spread"] is None or counted[0]["samples"] < _FEWEST:
        return {}
    return {"throughput_stddev_iops": counted[0]["spread"], "samples": counted[0]["samples"]}


def _find_depth(options: Mapping[str, Any]) -> int | None:
    """Return the outstanding requests of a job by its options; None if fio does not report them."""
    if not options:
        return None
    if str(options.get("ioengine", "psync")) in _SYNCHRONOUS:
        return 1
    return _find_whole(options.get("iodepth")) or 1


def _find_random_fraction(options: Mapping[str, Any]) -> float | None:
    pattern = str(options.get("rw", options.get("readwrite", "read" if options else "")))
    if not pattern:
        return None
    share = str(options.get("percentage_random", "")).partition(",")[0]
    if pattern.startswith("rand"):
        return float(share) / 100 if _is_number(share) else 1.0
    return 0.0


def _find_time(document: Mapping[str, Any]) -> datetime | None:
    moment = document.get("timestamp")
    if not isinstance(moment, int | float):
        return None
    try:
        return datetime.fromtimestamp(moment, UTC).replace(tzinfo=None)
    except (OverflowError, OSError, ValueError):
        return None


def _find_whole(value: object) -> int | None:
    text = str(value)
    return int(text) if text.isdigit() and int(text) > 0 else None


def _as_table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _join_clones(jobs: Sequence[tuple[tuple[str, int], MeasuredLine, dict[str, Any]]]) -> Readings:
    """Return one line for the clones of a job (`numjobs` without `group_reporting`), which ran together."""
    groups: dict[tuple[str, int], list[tuple[MeasuredLine, dict[str, Any]]]] = {}
    for key, line, kinds in jobs:
        groups.setdefault(key, []).append((line, kinds))
    lines, notes = [], []
    for (name, _), clones in groups.items():
        first = clones[0][0]
        if len(clones) == 1:
            lines.append(first)
            continue
        joined = {kind: _add_kinds([each[kind] for _, each in clones]) for kind in ("read", "write")}
        found = merge_operations(joined["read"], joined["write"])
        for prefix, histograms in (
            ("read_", [joined["read"]["bins"]]),
            ("write_", [joined["write"]["bins"]]),
            ("", [each["bins"] for each in joined.values() if each["count"]]),
        ):
            found |= {f"{prefix}{key}": value for key, value in _find_mixed_percentiles(histograms).items()}
        if "response_p50_us" not in found:
            notes.append(
                f"job {name!r}: {len(clones)} clones are one line without percentiles; "
                "group_reporting or --output-format=json+ keeps them"
            )
        lines.append(
            MeasuredLine(
                **{
                    key: getattr(first, key)
                    for key in (
                        "tool",
                        "tool_version",
                        "workload",
                        "test",
                        "measured_at",
                        "source_line",
                        "depth",
                    )
                },
                random_fraction=first.random_fraction,
                threads=len(clones),
                outstanding=None if first.depth is None else float(first.depth * len(clones)),
                duration_s=max(line.duration_s or 0.0 for line, _ in clones) or None,
                requests=sum(each["count"] for each in joined.values()),
                reads=joined["read"]["count"],
                writes=joined["write"]["count"],
                **found,
            )
        )
    notes += _note_concurrent(groups)
    return Readings(lines, notes)


def _add_kinds(kinds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of clones together; their percentiles follow from histograms alone."""
    rates = [each["iops"] for each in kinds]
    total = math.fsum(rates)
    response: dict[str, float] = {}
    if total and all("mean" in each["response"] for each in kinds if each["count"]):
        counted = [each for each in kinds if each["count"]]
        mean = math.fsum(each["iops"] * each["response"]["mean"] for each in counted) / total
        second = math.fsum(
            each["iops"] * (each["response"].get("stddev", 0.0) ** 2 + each["response"]["mean"] ** 2)
            for each in counted
        )
        response = {
            "mean": mean,
            "stddev": math.sqrt(max(0.0, second / total - mean**2)),
            "max": max(each["response"].get("max", 0.0) for each in counted),
        }
    bins: Counter[int] = Counter()
    if all(each["bins"] for each in kinds if each["count"]):
        for each in kinds:
            bins.update(each["bins"])
    return {
        "iops": total,
        "bytes_per_s": math.fsum(each["bytes_per_s"] for each in kinds),
        "count": sum(each["count"] for each in kinds),
        "response": response,
        "bins": dict(bins),
    }


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
