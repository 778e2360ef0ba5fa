"""DiskSpd's XML results (`-Rxml`): a line per time span, with its figures and its load by target.

The profile in the file states the load. Latencies are those of `-L`, the deviation of the rate that of `-D`.
"""

import itertools
import math
import operator
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from destage.measured.line import Figures, MeasuredLine
from destage.tools.result_parts import (
    US_PER_MS,
    Readings,
    ResultFile,
    Row,
    find_percentile,
    measure_times,
    merge_operations,
    parse_time,
)

TIME_FORMS = ("%Y/%m/%d %H:%M:%S UTC", "%Y/%m/%d %H:%M:%S")
_KINDS = ("read", "write", "total")


def collect_figures(span: Row, seconds: float, kinds: Mapping[str, Mapping[str, Any]]) -> Figures:
    """Return the figures of a time span.

    Args:
        kinds: Requests, bytes and response times [us] of `total` and, where they are known, of `read` and
            `write`; the rate of requests where it is stated.
    """
    if not kinds["total"]["count"]:
        raise span.mistake("measured.no-figures", "no request was completed")
    read, write, total = (
        {"iops": kind["count"] / seconds, "bytes_per_s": kind["bytes"] / seconds, **kind} if kind else {}
        for kind in (kinds.get(name) for name in _KINDS)
    )
    is_stated = "iops" in kinds["total"]
    figures = merge_operations(
        read,
        write,
        iops=total["iops"] if is_stated else None,
        bytes_per_s=total["bytes_per_s"] if is_stated else None,
    )
    measure_times(figures, total["response"])
    if not any("mean" in kind["response"] for kind in kinds.values()):
        figures.reject("DiskSpd measures latencies only with -L", "response_mean_us")
    figures.measure(
        duration_s=seconds, requests=total["count"], reads=read.get("count"), writes=write.get("count")
    )
    return figures


def read_seconds(span: Row, name: str) -> float:
    """Return the length of a time span."""
    seconds = span.need(name)
    if not seconds:
        raise span.mistake("measured.no-figures", "the time span lasted 0 s")
    return seconds


def add_load(
    figures: Figures, targets: Sequence[Mapping[str, Any]], shared_threads: int, shared_depth: int
) -> None:
    """Add the columns of the load.

    Args:
        targets: `path` of each and, where they are known, its `threads`, their `depth` and `random_fraction`;
            `is_limited` if fewer requests may be outstanding, since its rate is limited or it pauses.
        shared_threads: Threads that use all targets (-F); 0 if each target has its own.
        shared_depth: Outstanding requests of such a thread at all targets (-O); 0 for those of each target.
    """
    depths: list[Any] = [target.get("depth") for target in targets]
    counts = [target.get("threads", 1) for target in targets]
    is_known = None not in depths
    if shared_threads:
        depth = shared_depth or (sum(depths) if is_known else None)
        outstanding = (depth or 0) * shared_threads
    else:
        depth = depths[0] if len(set(depths)) == 1 else None
        outstanding = sum(map(operator.mul, depths, counts)) if is_known else 0
    randoms = {target.get("random_fraction") for target in targets}
    figures.measure(
        workload=", ".join(dict.fromkeys(target["path"] for target in targets)) or None,
        depth=depth,
        threads=shared_threads or sum(counts) or None,
        random_fraction=randoms.pop() if len(randoms) == 1 else None,
    )
    if any(target.get("is_limited") for target in targets):
        figures.reject("a target is limited in its rate or pauses (-g, -i, -j)", "outstanding")
    else:
        figures.derive(outstanding=float(outstanding) or None)


_END = re.compile("</Results>")
_MOST = 100.0


def recognizes(text: str) -> bool:
    """Return whether a text is a DiskSpd result in XML."""
    start = text.lstrip("\ufeff \r\n\t")
    return start.startswith("<") and "<Results>" in text and "<TimeSpan>" in text


def read(file: ResultFile) -> Readings:
    """Read the results of one run."""
    if "<!DOCTYPE" in file.text:
        raise file.mistake("measured.bad-syntax", "has a document type, which DiskSpd never writes")
    # A file that several runs were appended to has a document of each.
    ends = [match.end() for match in _END.finditer(file.text)][:-1]
    places = iter([file.line_of(match.start()) for match in re.finditer("<TestTimeSeconds>", file.text)])
    lines: list[MeasuredLine] = []
    for start, end in itertools.pairwise([file.text.index("<"), *ends, len(file.text)]):
        lines += _read_document(file, start, end, places)
    return Readings(lines)


def _read_document(file: ResultFile, start: int, end: int, places: Iterator[int]) -> list[MeasuredLine]:
    """Read the results of one run, whose time spans have the next places."""
    try:
        root = ET.fromstring(file.text[start:end].strip())  # noqa: S314 - a document without a type has no entities
    except ET.ParseError as error:
        blanks = len(file.text[start:end]) - len(file.text[start:end].lstrip())
        line = error.position[0] + file.line_of(start + blanks) - 1
        message = "invalid XML; is the file complete?"
        raise file.mistake("measured.bad-syntax", message, line=line) from error
    spans = root.findall("TimeSpan")
    if not spans:
        message = "has no time span with results"
        line = file.line_of(start)
        raise file.mistake("measured.no-figures", message, line=line, place="Results.TimeSpan")
    profiles = itertools.chain(root.findall("Profile/TimeSpans/TimeSpan"), itertools.repeat(None))
    facts: dict[str, Any] = {
        "tool_version": root.findtext("System/Tool/Version"),
        "measured_at": parse_time(root.findtext("System/RunTime") or "", *TIME_FORMS),
    }
    lines = []
    for index, (span, profile) in enumerate(zip(spans, profiles, strict=False)):
        row = Row(file, next(places, 1), {}, f"TimeSpan[{index}].", frozenset())
        figures = _read_figures(row, span)
        _add_load_of_profile(figures, row, span, profile)
        test = f"time span {index + 1}"
        lines.append(MeasuredLine(**facts, source_line=row.line, test=test, **figures.columns()))
    return lines


def _with_texts(row: Row, element: ET.Element) -> Row:
    """Return the texts of the children of an element, at the place of a row."""
    return replace(row, values={child.tag: (child.text or "").strip() for child in reversed(element)})


def _read_figures(row: Row, element: ET.Element) -> Figures:
    """Return the figures of a time span."""
    span, whole = _with_texts(row, element), replace(row, place=row.place.removesuffix("."))
    error = element.findtext("Error")
    if error is not None:
        raise whole.mistake("measured.no-figures", f"DiskSpd reports: {error}")
    seconds = read_seconds(span, "TestTimeSeconds")
    targets = [_with_texts(row, target) for target in element.findall("Thread/Target")]
    if not targets:
        raise span.mistake("measured.missing-value", "missing", "Thread.Target")
    latency = element.find("Latency")
    kinds: dict[str, dict[str, Any]] = {
        kind.lower(): {
            "count": round(math.fsum(target.need(f"{kind}Count") for target in targets)),
            "bytes": round(math.fsum(target.need(f"{kind}Bytes") for target in targets)),
            "response": _read_latency(row, latency, kind),
        }
        for kind in ("Read", "Write")
    }
    total = {key: kinds["read"][key] + kinds["write"][key] for key in ("count", "bytes")}
    kinds["total"] = {**total, "response": _read_latency(row, latency, "Total")}
    figures = collect_figures(whole, seconds, kinds)
    rates = element.find("Iops")
    if rates is not None and rates.find("IopsStdDev") is not None:
        deviation, samples = _with_texts(row, rates).need("IopsStdDev"), len(rates.findall("Bucket"))
        figures.measure(throughput_stddev_iops=deviation, samples=samples or None)
    return figures


def _read_latency(row: Row, latency: ET.Element | None, kind: str) -> dict[str, float]:
    """Return the response times of a kind of operation [us]."""
    if latency is None:
        return {}
    names = {"mean": f"Average{kind}Milliseconds", "stddev": f"{kind}LatencyStdev".removeprefix("Total")}
    means = _with_texts(row, latency)
    times = {key: means.need(name, scale=US_PER_MS) for key, name in names.items() if means.has(name)}
    for bucket in (_with_texts(row, bucket) for bucket in latency.findall("Bucket")):
        if bucket.has(f"{kind}Milliseconds"):
            percentile = bucket.need("Percentile")
            end = "max" if percentile >= _MOST else find_percentile(percentile)
            if end is not None:
                times[end] = bucket.need(f"{kind}Milliseconds", scale=US_PER_MS)
    return times


def _add_load_of_profile(figures: Figures, row: Row, span: ET.Element, profile: ET.Element | None) -> None:
    """Add the columns of the load, which the profile states."""
    if profile is None:
        figures.measure(threads=_with_texts(row, span).whole("ThreadCount"))
        return
    targets = [_with_texts(row, target) for target in profile.findall("Targets/Target")]
    loads = []
    for target in targets:
        # The share of random requests is `RandomRatio` [%] of -rs, or that of `Random` of -r.
        ratio = target.whole("RandomRatio")
        loads.append(
            {
                "path": target.text("Path"),
                "depth": target.whole("RequestCount"),
                "threads": target.whole("ThreadsPerFile") or 1,
                "random_fraction": float(target.has("Random")) if ratio is None else ratio / 100,
                "is_limited": target.whole("Throughput") or target.whole("ThinkTime"),
            }
        )
    shared = _with_texts(row, profile)
    add_load(figures, loads, shared.whole("ThreadCount") or 0, shared.whole("RequestCount") or 0)
