"""DiskSpd's XML profiles, alone or within a result: each time span is a test.

Elements keep their lines and columns. Names are those of diskspd.xsd (github.com/microsoft/diskspd).
"""

from dataclasses import dataclass, field, fields
from xml.parsers import expat

from destage.errors import ConfigError, Issue
from destage.tools.diskspd.settings import Target, Test, parse_flag
from destage.tools.options import Action, OptionReader, OptionTable, Setting, by_reason
from destage.tools.values import OptionValueError, Word

_DEEPEST = 32


@dataclass
class Element:
    """An element; its text without the white space around it."""

    tag: str
    attributes: dict[str, str]
    line: int
    column: int
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    @property
    def word(self) -> Word:
        """Its text, at the place of the element."""
        return Word(self.value, self.line, self.column)

    @property
    def value(self) -> str:
        """Its text."""
        return self.text.strip()

    def issue(self, code: str, message: str) -> Issue:
        """Return an issue at the element."""
        return self.word.issue(code, self.tag, message)

    def __str__(self) -> str:
        """Return its tag."""
        return f"<{self.tag}>"

    def find_all(self, tag: str) -> list["Element"]:
        """Return all elements below it with a tag."""
        below = [element for child in self.children for element in child.find_all(tag)]
        return [child for child in self.children if child.tag == tag] + below


def parse_xml(text: str, file: str) -> Element:
    """Parse a document.

    Raises:
        ConfigError: It is not well-formed, or has a document type.
    """
    root = Element("", {}, 1, 1)
    stack = [root]
    parser = expat.ParserCreate()

    def stop(message: str) -> None:
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        raise ConfigError([Issue("import.bad-syntax", "", message, line=line, column=column)], file)

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > _DEEPEST:
            stop("elements are nested too deeply")
        element = Element(tag, attributes, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)
        stack[-1].children.append(element)
        stack.append(element)

    def end(_tag: str) -> None:
        stack.pop()

    def data(text: str) -> None:
        stack[-1].text += text

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = data
    parser.StartDoctypeDeclHandler = lambda *_: stop("document types are not allowed")
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        message = f"invalid XML: {expat.errors.messages[error.code]}"
        issue = Issue("import.bad-syntax", "", message, line=error.lineno, column=error.offset + 1)
        raise ConfigError([issue], file) from None
    return root


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
    facts = [(field.name, field.metadata) for field in fields(kind) if field.metadata.get("tag")]
    return {of["tag"]: Setting(name, of.get("parse_element", of["parse"])) for name, of in facts}


_IGNORED_OF_TARGET = (
    "SequentialScan RandomAccess TemporaryFile UseLargePages WriteBufferContent IOPriority FlushType "
    "DisableLocalCache"
)
_IGNORED_OF_SPAN = (
    "CompletionRoutines MeasureLatency CalculateIopsStdDev IoBucketDuration Affinity DisableAffinity "
    "GroupAffinity RandSeed RandomWriteData Cooldown"
)
_OF_TARGET, _OF_SPAN = (
    OptionTable(settings, by_reason({_NO_EFFECT: ignored}), unknown="is not simulated")
    for settings, ignored in (
        ({**_list_elements(Target), "MemoryMappedIo": Action(_check_not_mapped)}, _IGNORED_OF_TARGET),
        (_list_elements(Test), _IGNORED_OF_SPAN),
    )
)


def read_profile(text: str, file: str, issues: list[Issue], *, is_lenient: bool) -> list[Test]:
    """Return the tests of a profile; mistakes are added to `issues`."""
    profiles = parse_xml(text, file).find_all("Profile")
    spans = profiles[0].find_all("TimeSpan") if profiles else []
    if not spans:
        message = "no <TimeSpan>; a profile has one for each test"
        raise ConfigError([Issue("import.no-test", "", message)], file)
    tests = []
    for number, span in enumerate(spans, 1):
        test = Test(f"time span {number}", span.line, OptionReader(is_lenient, issues))
        for child in span.children:
            if child.tag == "Targets":
                test.targets = [_read_target(test.reader, target) for target in child.find_all("Target")]
            else:
                test.reader.read(_OF_SPAN, child.tag, child, test)
        if test.outstanding and any(
            target.rate or target.burst or target.is_parallel for target in test.targets
        ):
            message = "RequestCount excludes Throughput, BurstSize and ParallelAsyncIO"
            issues.append(span.issue("import.bad-value", message))
        if not test.targets:
            issues.append(span.word.mark("diskspd.no-target", "TimeSpan", "no <Target>"))
        tests.append(test)
    return tests


def _read_target(reader: OptionReader, element: Element) -> Target:
    target = Target(place=element.word)
    for child in element.children:
        if child.tag == "Path":
            target.path, target.place = target.path or child.value, child.word
        elif child.tag in _ELEMENTS:
            try:
                _ELEMENTS[child.tag](target, child)
            except OptionValueError as error:
                reader.issues.append(child.issue("import.bad-value", str(error)))
        elif child.value != "0" or child.tag not in _UNSET | _BY_SPAN:
            reader.read(_OF_TARGET, child.tag, child, target)
            target.is_random |= child.tag in {"Random", "RandomRatio"}
        elif child.tag == "RequestCount":
            target.outstanding = 1
    mistakes = [message for _, message in target.list_mistakes()]
    if not target.path:
        mistakes.insert(0, "needs <Path>")
    if target.rate and target.burst:
        mistakes.insert(0, "Throughput and BurstSize exclude each other here")
    reader.issues += [element.issue("import.bad-value", message) for message in mistakes]
    reader.notes.append(f"<Target> {target.path}, line {element.line}")
    return target
