"""DiskSpd's XML results (`-Rxml`): a line per time span of the profile.

The profile in the file states the load. Latencies are those of `-L`, the deviation of the rate that of `-D`.
"""

import itertools
import math
import re
import xml.etree.ElementTree as ET

from destage.measured.basis import Figures
from destage.measured.line import MeasuredLine
from destage.tools.diskspd.result_load import NO_LATENCY, LoadOfTarget, add_load
from destage.tools.result_parts import Readings, ResultFile, find_percentile, merge_operations, parse_time

TOOL = "diskspd"
TIME_FORMS = ("%Y/%m/%d %H:%M:%S UTC", "%Y/%m/%d %H:%M:%S")
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
    lines: list[MeasuredLine] = []
    for start, end in itertools.pairwise([file.text.index("<"), *ends, len(file.text)]):
        lines += _read_document(file, start, end, len(lines))
    return Readings(lines)


def _read_document(file: ResultFile, start: int, end: int, before: int) -> list[MeasuredLine]:
    """Read the results of one run, which has some time spans before it in the file."""
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
    profiles = root.findall("Profile/TimeSpans/TimeSpan")
    return [
        _SpanReader(file, root, span, profiles[at] if at < len(profiles) else None, at, before).read()
        for at, span in enumerate(spans)
    ]


class _SpanReader:
    """Reads one time span and the part of the profile that it is of."""

    def __init__(
        self,
        file: ResultFile,
        root: ET.Element,
        span: ET.Element,
        profile: ET.Element | None,
        at: int,
        before: int,
    ) -> None:
        self._file, self._root, self._span, self._profile, self._at = file, root, span, profile, at
        found = [match.start() for match in re.finditer("<TestTimeSeconds>", file.text)]
        self._line = file.line_of(found[before + at]) if before + at < len(found) else 1

    def read(self) -> MeasuredLine:
        error = self._span.findtext("Error")
        if error is not None:
            message = f"DiskSpd reports: {error}"
            raise self._file.mistake("measured.no-figures", message, line=self._line, place=self._place())
        seconds = self._number("TestTimeSeconds")
        if not seconds:
            raise self._file.mistake(
                "measured.no-figures", "the time span lasted 0 s", line=self._line, place=self._place()
            )
        counts = self._sum_targets()
        if not counts["ReadCount"] + counts["WriteCount"]:
            message = "no request was completed"
            raise self._file.mistake("measured.no-figures", message, line=self._line, place=self._place())
        latency = self._span.find("Latency")
        kinds = {
            name: {
                "iops": counts[f"{name}Count"] / seconds,
                "bytes_per_s": counts[f"{name}Bytes"] / seconds,
                "response": self._read_latency(latency, name),
            }
            for name in ("Read", "Write")
        }
        figures = merge_operations(kinds["Read"], kinds["Write"])
        total = self._read_latency(latency, "Total")
        figures.measure(**{f"response_{end}_us": value for end, value in total.items()})
        if latency is None:
            figures.reject(NO_LATENCY, "response_mean_us")
        deviation, samples = self._read_rate_spread()
        figures.measure(
            duration_s=seconds,
            requests=counts["ReadCount"] + counts["WriteCount"],
            reads=counts["ReadCount"],
            writes=counts["WriteCount"],
            throughput_stddev_iops=deviation,
            samples=samples,
        )
        self._add_load(figures)
        return MeasuredLine(
            tool=TOOL,
            tool_version=self._root.findtext("System/Tool/Version"),
            measured_at=parse_time(self._root.findtext("System/RunTime") or "", *TIME_FORMS),
            source_line=self._line,
            test=f"time span {self._at + 1}",
            **figures.columns(),
        )

    def _place(self, name: str = "") -> str:
        return f"TimeSpan[{self._at}]" + (f".{name}" if name else "")

    def _number(self, name: str, within: ET.Element | None = None) -> float:
        text = (self._span if within is None else within).findtext(name)
        if text is None:
            raise self._file.mistake(
                "measured.missing-value", "missing", line=self._line, place=self._place(name)
            )
        return self._file.read_number(text, self._line, self._place(name))

    def _sum_targets(self) -> dict[str, int]:
        targets = self._span.findall("Thread/Target")
        if not targets:
            raise self._file.mistake(
                "measured.missing-value", "missing", line=self._line, place=self._place("Thread.Target")
            )
        names = ("ReadCount", "WriteCount", "ReadBytes", "WriteBytes")
        return {name: round(math.fsum(self._number(name, target) for target in targets)) for name in names}

    def _read_latency(self, latency: ET.Element | None, kind: str) -> dict[str, float]:
        """Return the response times of a kind of operation [us]."""
        if latency is None:
            return {}
        found = {}
        spread = "LatencyStdev" if kind == "Total" else f"{kind}LatencyStdev"
        for key, name in (("mean", f"Average{kind}Milliseconds"), ("stddev", spread)):
            if latency.find(name) is not None:
                found[key] = self._number(name, latency) * _US_PER_MS
        for bucket in latency.findall("Bucket"):
            if bucket.find(f"{kind}Milliseconds") is None:
                continue
            at = self._number("Percentile", bucket)
            end = "max" if at >= _MOST else find_percentile(at)
            if end is not None:
                found[end] = self._number(f"{kind}Milliseconds", bucket) * _US_PER_MS
        return found

    def _read_rate_spread(self) -> tuple[float | None, int | None]:
        rates = self._span.find("Iops")
        if rates is None or rates.find("IopsStdDev") is None:
            return None, None
        return self._number("IopsStdDev", rates), len(rates.findall("Bucket")) or None

    def _add_load(self, figures: Figures) -> None:
        """Add the columns of the load, which the profile states."""
        if self._profile is None:
            figures.measure(threads=_whole(self._span, "ThreadCount"))
            return
        targets = [
            LoadOfTarget(
                path=target.findtext("Path") or "",
                depth=_whole(target, "RequestCount"),
                threads=_whole(target, "ThreadsPerFile") or 1,
                random_fraction=_find_random_fraction(target),
                is_limited=any(_whole(target, name) for name in ("Throughput", "ThinkTime")),
            )
            for target in self._profile.findall("Targets/Target")
        ]
        shared = _whole(self._profile, "ThreadCount") or 0, _whole(self._profile, "RequestCount") or 0
        add_load(figures, targets, *shared)


def _whole(element: ET.Element, name: str) -> int | None:
    text = (element.findtext(name) or "").strip()
    return int(text) if text.isdigit() else None


def _find_random_fraction(target: ET.Element) -> float | None:
    """Return the share of random requests: `RandomRatio` [%] of -rs, `Random` of -r, else sequential."""
    ratio = _whole(target, "RandomRatio")
    if ratio is not None:
        return ratio / 100
    return 1.0 if target.find("Random") is not None else 0.0
