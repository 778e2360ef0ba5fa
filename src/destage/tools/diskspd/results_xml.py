"""DiskSpd's XML results (`-Rxml`): a line per time span, with its figures and its load by target.

The profile in the file states the load. Latencies are those of `-L`, the deviation of the rate that of `-D`.
"""

import itertools
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from destage.measured.line import Figures, MeasuredLine
from destage.tools.result_parts import (
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


@dataclass(frozen=True, slots=True)
class LoadOfTarget:
    """The load of a target; None for what is not known.

    Attributes:
        depth: Requests that each thread keeps outstanding at it.
        is_limited: Whether fewer requests may be outstanding, since its rate is limited or it pauses.
    """

    path: str
    depth: int | None = None
    threads: int = 1
    random_fraction: float | None = None
    is_limited: bool = False


def add_load(
    figures: Figures, targets: Sequence[LoadOfTarget], shared_threads: int, shared_depth: int
) -> None:
    """Add the columns of the load.

    Args:
        shared_threads: Threads that use all targets (-F); 0 if each target has its own.
        shared_depth: Outstanding requests of such a thread at all targets (-O); 0 for those of each target.
    """
    depths = [target.depth for target in targets]
    threads = shared_threads or sum(target.threads for target in targets)
    given = [depth for depth in depths if depth is not None]
    is_known = len(given) == len(depths)
    if shared_threads:
        depth = shared_depth or (sum(given) if is_known else None)
        is_known, outstanding = depth is not None, (depth or 0) * shared_threads
    else:
        depth = depths[0] if len(set(depths)) == 1 else None
        outstanding = sum((target.depth or 0) * target.threads for target in targets)
    randoms = {target.random_fraction for target in targets}
    figures.measure(
        workload=", ".join(dict.fromkeys(target.path for target in targets)) or None,
        depth=depth,
        threads=threads or None,
        random_fraction=randoms.pop() if len(randoms) == 1 else None,
    )
    if any(target.is_limited for target in targets):
        figures.reject("a target is limited in its rate or pauses (-g, -i, -j)", "outstanding")
    elif is_known:
        figures.derive(outstanding=float(outstanding) or None)


TOOL = "diskspd"
_END = re.compile("</Results>")
_MOST = 100.0
_US_PER_MS = 1000.0


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
    return [
        _SpanReader(file, root, span, profile, index, next(places, 1)).read()
        for index, (span, profile) in enumerate(zip(spans, profiles, strict=False))
    ]


@dataclass(frozen=True, slots=True)
class _SpanReader:
    """Reads one time span and the part of the profile that it is of."""

    _file: ResultFile
    _root: ET.Element
    _span: ET.Element
    _profile: ET.Element | None
    _index: int
    _line: int

    def read(self) -> MeasuredLine:
        span = self._row(self._span)
        error = self._span.findtext("Error")
        if error is not None:
            raise self._whole.mistake("measured.no-figures", f"DiskSpd reports: {error}")
        seconds = read_seconds(span, "TestTimeSeconds")
        targets = [self._row(target) for target in self._span.findall("Thread/Target")]
        if not targets:
            raise span.mistake("measured.missing-value", "missing", "Thread.Target")
        kinds: dict[str, dict[str, Any]] = {
            kind.lower(): {
                "count": round(math.fsum(target.need(f"{kind}Count") for target in targets)),
                "bytes": round(math.fsum(target.need(f"{kind}Bytes") for target in targets)),
                "response": self._read_latency(kind),
            }
            for kind in ("Read", "Write")
        }
        total = {key: kinds["read"][key] + kinds["write"][key] for key in ("count", "bytes")}
        kinds["total"] = {**total, "response": self._read_latency("Total")}
        figures = collect_figures(self._whole, seconds, kinds)
        rates = self._span.find("Iops")
        if rates is not None and rates.find("IopsStdDev") is not None:
            deviation, samples = self._row(rates).need("IopsStdDev"), len(rates.findall("Bucket"))
            figures.measure(throughput_stddev_iops=deviation, samples=samples or None)
        self._add_load(figures)
        return MeasuredLine(
            tool=TOOL,
            tool_version=self._root.findtext("System/Tool/Version"),
            measured_at=parse_time(self._root.findtext("System/RunTime") or "", *TIME_FORMS),
            source_line=self._line,
            test=f"time span {self._index + 1}",
            **figures.columns(),
        )

    @property
    def _whole(self) -> Row:
        return Row(self._file, self._line, {}, f"TimeSpan[{self._index}]")

    def _row(self, element: ET.Element) -> Row:
        """Return the texts of the children of an element."""
        texts = {child.tag: (child.text or "").strip() for child in reversed(element)}
        return Row(self._file, self._line, texts, f"TimeSpan[{self._index}].", frozenset())

    def _read_latency(self, kind: str) -> dict[str, float]:
        """Return the response times of a kind of operation [us]."""
        latency = self._span.find("Latency")
        if latency is None:
            return {}
        spread = "LatencyStdev" if kind == "Total" else f"{kind}LatencyStdev"
        names = {"mean": f"Average{kind}Milliseconds", "stddev": spread}
        row = self._row(latency)
        times = {key: row.need(name, scale=_US_PER_MS) for key, name in names.items() if row.has(name)}
        for bucket in map(self._row, latency.findall("Bucket")):
            if bucket.has(f"{kind}Milliseconds"):
                percentile = bucket.need("Percentile")
                end = "max" if percentile >= _MOST else find_percentile(percentile)
                if end is not None:
                    times[end] = bucket.need(f"{kind}Milliseconds", scale=_US_PER_MS)
        return times

    def _add_load(self, figures: Figures) -> None:
        """Add the columns of the load, which the profile states."""
        if self._profile is None:
            figures.measure(threads=self._row(self._span).whole("ThreadCount"))
            return
        targets = [
            LoadOfTarget(
                path=target.text("Path"),
                depth=target.whole("RequestCount"),
                threads=target.whole("ThreadsPerFile") or 1,
                random_fraction=_find_random_fraction(target),
                is_limited=any(target.whole(name) for name in ("Throughput", "ThinkTime")),
            )
            for target in map(self._row, self._profile.findall("Targets/Target"))
        ]
        shared = self._row(self._profile)
        add_load(figures, targets, shared.whole("ThreadCount") or 0, shared.whole("RequestCount") or 0)


def _find_random_fraction(target: Row) -> float | None:
    """Return the share of random requests: `RandomRatio` [%] of -rs, `Random` of -r, else sequential."""
    ratio = target.whole("RandomRatio")
    if ratio is not None:
        return ratio / 100
    return 1.0 if target.has("Random") else 0.0
