"""DiskSpd's XML profiles, alone or within a result: each time span is a test.

Names are those of diskspd.xsd (github.com/microsoft/diskspd).
"""

from dataclasses import dataclass, field, fields

from destage.errors import ConfigError, Issue
from destage.tools.diskspd.settings import Target, Test, parse_flag
from destage.tools.diskspd.xml_tree import Element, parse_xml
from destage.tools.options import Action, OptionReader, OptionTable, Setting
from destage.tools.values import OptionValueError


def _set_caching(target: Target, element: Element) -> None:
    is_off = parse_flag(element.value)
    target.is_cached &= not is_off
    target.is_written_through |= is_off and element.tag == "DisableAllCache"


def _check_not_mapped(_: Target, text: str) -> str:
    if parse_flag(text):
        raise OptionValueError("memory-mapped I/O is not simulated")
    return ""


def _set_zones(target: Target, element: Element) -> None:
    kind = next(iter(element.children), None)
    if kind is None or kind.tag not in {"Absolute", "Percent"}:
        raise OptionValueError("must have <Absolute> or <Percent>")
    zones = [(zone.attributes.get("IO", ""), zone.value) for zone in kind.children]
    target.set_zones(zones, is_absolute=kind.tag == "Absolute")


def _set_rate(target: Target, element: Element) -> None:
    target.set_rate(element.value, is_in_bytes=element.attributes.get("unit", "BPMS") == "BPMS")


_ELEMENTS = {
    "Distribution": _set_zones,
    "DisableAllCache": _set_caching,
    "DisableOSCache": _set_caching,
    "Throughput": _set_rate,
}
"""The elements that set several fields."""
_UNSET = frozenset({"FileSize", "MaxFileSize", "BurstSize", "ThinkTime"})
_BY_SPAN = frozenset({"RequestCount", "ThreadsPerFile"})
"""The elements whose 0 stands for no value, or for the number of the time span."""
_NO_EFFECT = "it does not change the requests"


def _list_elements(kind: type) -> dict[str, Setting | Action]:
    facts = [(each.name, each.metadata) for each in fields(kind) if each.metadata.get("tag")]
    return {of["tag"]: Setting(name, of.get("parse_element", of["parse"])) for name, of in facts}


_OF_TARGET = OptionTable(
    {**_list_elements(Target), "MemoryMappedIo": Action(_check_not_mapped)},
    dict.fromkeys(
        (
            *("SequentialScan", "RandomAccess", "TemporaryFile", "UseLargePages", "WriteBufferContent"),
            *("IOPriority", "FlushType", "DisableLocalCache"),
        ),
        _NO_EFFECT,
    ),
    unknown="is not simulated",
)
_OF_SPAN = OptionTable(
    _list_elements(Test),
    dict.fromkeys(
        (
            *("CompletionRoutines", "MeasureLatency", "CalculateIopsStdDev", "IoBucketDuration", "Affinity"),
            *("DisableAffinity", "GroupAffinity", "RandSeed", "RandomWriteData", "Cooldown"),
        ),
        _NO_EFFECT,
    ),
    unknown="is not simulated",
)


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
        test = Test(f"time span {number}", span.line, OptionReader(self.is_lenient, self.issues))
        for child in span.children:
            if child.tag == "Targets":
                test.targets = [self._read_target(test, target) for target in child.find_all("Target")]
            else:
                test.reader.read(_OF_SPAN, child.tag, child, test)
        if test.outstanding and any(one.rate or one.burst or one.is_parallel for one in test.targets):
            self._add_mistake(span, "RequestCount excludes Throughput, BurstSize and ParallelAsyncIO")
        if not test.targets:
            self.issues.append(span.word.mark("diskspd.no-target", "TimeSpan", "no <Target>"))
        return test

    def _read_target(self, test: Test, element: Element) -> Target:
        target = Target(place=element.word)
        for child in element.children:
            if child.tag == "Path":
                target.path, target.place = target.path or child.value, child.word
            elif child.tag in _ELEMENTS:
                try:
                    _ELEMENTS[child.tag](target, child)
                except OptionValueError as error:
                    self._add_mistake(child, str(error))
            elif child.value != "0" or child.tag not in _UNSET | _BY_SPAN:
                test.reader.read(_OF_TARGET, child.tag, child, target)
                target.is_random |= child.tag in {"Random", "RandomRatio"}
            elif child.tag == "RequestCount":
                target.outstanding = 1
        if target.rate and target.burst:
            self._add_mistake(element, "Throughput and BurstSize exclude each other here")
        if not target.path:
            self._add_mistake(element, "needs <Path>")
        for _, message in target.list_mistakes():
            self._add_mistake(element, message)
        test.reader.notes.append(f"<Target> {target.path}, line {element.line}")
        return target

    def _add_mistake(self, element: Element, message: str) -> None:
        self.issues.append(element.issue("import.bad-value", message))
