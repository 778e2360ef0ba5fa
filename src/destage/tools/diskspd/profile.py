"""DiskSpd's XML profiles, alone or within a result: each time span is a test.

Names are those of diskspd.xsd (github.com/microsoft/diskspd).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from destage.errors import ConfigError, Issue
from destage.tools.diskspd.command_line import check_zones, find_zone_mistake
from destage.tools.diskspd.quantities import Sizes, parse_count, parse_percentage
from destage.tools.diskspd.settings import Target, Test
from destage.tools.diskspd.xml_tree import Element, parse_xml
from destage.tools.values import OptionValueError

_WITHOUT_EFFECT_TARGET = frozenset(
    {
        *("SequentialScan", "RandomAccess", "TemporaryFile", "UseLargePages", "WriteBufferContent"),
        *("IOPriority", "FlushType", "DisableLocalCache"),
    }
)
_WITHOUT_EFFECT_SPAN = frozenset(
    {
        *("CompletionRoutines", "MeasureLatency", "CalculateIopsStdDev", "IoBucketDuration", "Affinity"),
        *("DisableAffinity", "GroupAffinity", "RandSeed", "RandomWriteData", "Cooldown"),
    }
)


def _parse_flag(text: str) -> bool:
    if text.lower() not in {"true", "false", "1", "0"}:
        raise OptionValueError("must be true or false")
    return text.lower() in {"true", "1"}


def _parse_positive(text: str) -> int:
    return parse_count(text, least=1)


def _parse_at_least_one(text: str) -> int:
    # DiskSpd writes 0 where the time span has the number.
    return max(1, parse_count(text))


def _parse_extent(text: str) -> int | None:
    return Sizes().parse_aligned(text) or None


_SETTINGS: dict[str, tuple[str, Callable[[str], object]]] = {
    "BaseFileOffset": ("base", Sizes().parse_aligned),
    "FileSize": ("file_size", _parse_extent),
    "MaxFileSize": ("end", _parse_extent),
    "StrideSize": ("stride", Sizes().parse_sectors),
    "InterlockedSequential": ("is_interlocked", _parse_flag),
    "ThreadStride": ("thread_stride", Sizes().parse_aligned),
    "Random": ("alignment", Sizes().parse_sectors),
    "RandomRatio": ("random_percentage", parse_percentage),
    "BlockSize": ("block", Sizes().parse_sectors),
    "RequestCount": ("outstanding", _parse_at_least_one),
    "ThreadsPerFile": ("threads", _parse_at_least_one),
    "WriteRatio": ("write_percentage", parse_percentage),
    "ParallelAsyncIO": ("is_parallel", _parse_flag),
    "WriteThrough": ("is_written_through", _parse_flag),
    "BurstSize": ("burst", parse_count),
    "ThinkTime": ("pause_ms", parse_count),
    "Weight": ("weight", _parse_positive),
}
"""The fields of a target that elements set, with their parsers."""


@dataclass
class ProfileReader:
    """Reader of a profile.

    Attributes:
        issues: Mistakes.
    """

    file: str
    is_lenient: bool = False
    issues: list[Issue] = field(default_factory=list)

    def read(self, text: str) -> list[Test]:
        """Return the tests; mistakes are added to `issues`."""
        root = parse_xml(text, self.file)
        profiles = root.find_all("Profile")
        spans = profiles[0].find_all("TimeSpan") if profiles else []
        if not spans:
            message = "no <TimeSpan>; a profile has one for each test"
            raise ConfigError([Issue("import.no-test", "", message)], self.file)
        return [self._read_span(span, number) for number, span in enumerate(spans, 1)]

    def _read_span(self, span: Element, number: int) -> Test:
        test = Test(f"time span {number}", span.line)
        for child in span.children:
            try:
                self._read_span_setting(test, child)
            except OptionValueError as error:
                self._add_mistake(child, str(error))
        if test.outstanding and any(one.rate or one.burst or one.is_parallel for one in test.targets):
            self._add_mistake(span, "RequestCount excludes Throughput, BurstSize and ParallelAsyncIO")
        if not test.targets:
            message = "no <Target>"
            found = Issue("diskspd.no-target", "TimeSpan", message, line=span.line, column=span.column)
            self.issues.append(found)
        return test

    def _read_span_setting(self, test: Test, element: Element) -> None:
        text = element.word.text
        match element.tag:
            case "Targets":
                test.targets = [self._read_target(test, target) for target in element.find_all("Target")]
            case "Duration":
                test.duration = parse_count(text, least=1)
            case "Warmup":
                test.warm_up = parse_count(text)
            case "ThreadCount":
                test.threads = parse_count(text)
            case "RequestCount":
                test.outstanding = parse_count(text)
            case tag:
                self._skip_or_reject(test, element, is_known=tag in _WITHOUT_EFFECT_SPAN)

    def _read_target(self, test: Test, element: Element) -> Target:
        target = Target(place=element.word)
        path = element.find("Path")
        if path is not None:
            target.path, target.place = path.word.text, path.word
        for child in element.children:
            try:
                if child is not path and not self._read_setting(target, child):
                    self._skip_or_reject(test, child, is_known=child.tag in _WITHOUT_EFFECT_TARGET)
            except OptionValueError as error:
                self._add_mistake(child, str(error))
        self._check_target(target, element)
        test.notes.append(f"<Target> {target.path}, line {element.line}")
        return target

    def _read_setting(self, target: Target, element: Element) -> bool:
        """Read a setting of a target; return whether it is one."""
        text, tag = element.word.text, element.tag
        if tag in _SETTINGS:
            name, parse = _SETTINGS[tag]
            setattr(target, name, parse(text))
            target.is_random |= tag in {"Random", "RandomRatio"}
        elif tag == "Distribution":
            self._read_zones(target, element)
        elif tag in {"DisableAllCache", "DisableOSCache"}:
            is_off = _parse_flag(text)
            target.is_cached &= not is_off
            target.is_written_through |= is_off and tag == "DisableAllCache"
        elif tag == "MemoryMappedIo":
            if _parse_flag(text):
                raise OptionValueError("memory-mapped I/O is not simulated")
        elif tag == "Throughput":
            target.is_rate_in_bytes = element.attributes.get("unit", "BPMS") == "BPMS"
            target.rate = parse_count(text) * (1000.0 if target.is_rate_in_bytes else 1.0)
        else:
            return False
        return True

    @staticmethod
    def _read_zones(target: Target, element: Element) -> None:
        kind = next(iter(element.children), None)
        if kind is None or kind.tag not in {"Absolute", "Percent"}:
            raise OptionValueError("must have <Absolute> or <Percent>")
        target.is_absolute = kind.tag == "Absolute"
        parse = Sizes().parse if target.is_absolute else parse_percentage
        zones = [
            (parse_percentage(zone.attributes.get("IO", "")), parse(zone.word.text)) for zone in kind.children
        ]
        check_zones(zones, is_absolute=target.is_absolute)
        target.zones, target.is_random = tuple(zones), True

    def _check_target(self, target: Target, element: Element) -> None:
        limit = target.limit
        if limit is not None and target.base + target.block > limit:
            self._add_mistake(element, f"leaves no room for a request of {target.block} bytes")
        if not target.is_random and target.stride is not None and target.stride < target.block:
            self._add_mistake(element, "StrideSize must be at least BlockSize; overlaps are not simulated")
        if target.rate and target.burst:
            self._add_mistake(element, "Throughput and BurstSize exclude each other here")
        message = find_zone_mistake(target)
        if message:
            self._add_mistake(element, message)
        if not target.path:
            self._add_mistake(element, "needs <Path>")

    def _skip_or_reject(self, test: Test, element: Element, *, is_known: bool) -> None:
        if is_known:
            test.remarks.append(f"Without effect: <{element.tag}>.")
        elif self.is_lenient:
            message = "skipped: it is not simulated"
            test.warnings.append(element.word.issue("import.option-skipped", element.tag, message))
        else:
            message = "is not simulated; --ignore-unknown skips it"
            self.issues.append(element.word.issue("import.unsupported-option", element.tag, message))

    def _add_mistake(self, element: Element, message: str) -> None:
        self.issues.append(element.word.issue("import.bad-value", element.tag, message))
