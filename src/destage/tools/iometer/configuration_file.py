"""Syntax of an Iometer configuration (.icf): access specifications, workers, duration of a test.

A line that begins with an apostrophe names the values in the lines after it, which are separated by commas or
white space. Names are case-insensitive.
"""

from dataclasses import dataclass, field

from destage.errors import ConfigError, Issue

_LINE_KEY = "size,% of size,% reads,% random,delay,burst,align,reply"
_FIELDS = tuple(_LINE_KEY.split(","))
_WHOLE = 100
_PERCENTAGES = _FIELDS[1:4]
_LARGEST = 2**40


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an access specification.

    Attributes:
        place: Its line, for messages.
        size: Size of a request [bytes].
        share: Share of the requests [%].
        reads: Share of reads among them [%].
        random: Share of them with a random address [%].
        delay: Pause after a burst [ms].
        burst: I/Os of a burst.
        alignment: Alignment of addresses [bytes]; 0 for sectors.
        reply: Size of the reply to each request [bytes]; 0 for none.
    """

    place: str
    size: int
    share: int
    reads: int
    random: int
    delay: int
    burst: int
    alignment: int
    reply: int


@dataclass
class AccessSpecification:
    """An access specification.

    Attributes:
        place: Its line, for messages.
    """

    name: str
    place: str
    lines: list[Line] = field(default_factory=list)


@dataclass
class Worker:
    """A worker and its settings.

    Attributes:
        kind: DISK, or a kind of network.
        depth: Outstanding I/Os per target.
        size: Sectors used on each target; 0 for all.
        assigned: The names of its access specifications, in the order of the tests.
        targets: The names of its targets.
    """

    name: str
    kind: str = "DISK"
    depth: int = 1
    size: int = 0
    start: int = 0
    assigned: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)


@dataclass
class Configuration:
    """The parts of a configuration that define the load.

    Attributes:
        run_time: Duration of a test [s]; 0 for unlimited.
        ramp_time: Duration before it [s].
        test_type: NORMAL, or the parameter that a series of tests varies.
    """

    specifications: dict[str, AccessSpecification] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)
    run_time: int = 0
    ramp_time: int = 0
    test_type: str = "NORMAL"


def read_configuration(text: str, file: str) -> Configuration:
    """Read a configuration."""
    parser, key = _Parser(), ""
    for number, raw in enumerate(text.splitlines(), 1):
        stripped = raw.strip()
        if not stripped.startswith("'"):
            if stripped:
                parser.read_line(number, key, stripped)
        elif not stripped[1:2].isspace():
            # With a space after the apostrophe, the line is a column heading of the entry above.
            key = stripped[1:].strip().lower()
    configuration = parser.configuration
    if not configuration.specifications and not parser.issues:
        parser.issues.append(Issue("iometer.no-specification", "", "no access specifications"))
    for specification in configuration.specifications.values():
        total = sum(line.share for line in specification.lines)
        if specification.lines and total != _WHOLE:
            message = f"the % of size of its lines must total {_WHOLE}, not {total}"
            parser.issues.append(Issue("import.bad-value", specification.place, message, specification.name))
    if parser.issues:
        raise ConfigError(parser.issues, file)
    return configuration


class _Parser:
    def __init__(self) -> None:
        self.configuration = Configuration()
        self.issues: list[Issue] = []
        self._specification: AccessSpecification | None = None

    def read_line(self, line: int, key: str, value: str) -> None:
        if key.startswith("access specification name"):
            name = value.rpartition(",")[0] or value
            if name in self.configuration.specifications:
                self.add_issue(line, "access specification", name, "duplicate access specification")
            self._specification = AccessSpecification(name, f"line {line}")
            self.configuration.specifications[name] = self._specification
        elif key.startswith("size,% of size"):
            self._add_line(line, value)
        elif key == "run time":
            hours, minutes, seconds = self._numbers(line, key, value.split(), 3)
            self.configuration.run_time = (hours * 60 + minutes) * 60 + seconds
        elif key.startswith("ramp up time"):
            (self.configuration.ramp_time,) = self._numbers(line, key, [value], 1)
        elif key == "test type":
            self.configuration.test_type = value
        elif key == "worker":
            self.configuration.workers.append(Worker(value))
        elif self.configuration.workers:
            self._read_worker_line(self.configuration.workers[-1], line, key, value)

    def _read_worker_line(self, worker: Worker, line: int, key: str, value: str) -> None:
        if key == "worker type":
            worker.kind = value
        elif key.startswith("number of outstanding ios"):
            (worker.depth,) = self._numbers(line, key, value.split(",")[:1], 1)
        elif key.startswith("disk maximum size"):
            worker.size, worker.start = self._numbers(line, key, value.split(",")[:2], 2)
        elif key == "assigned access specs":
            worker.assigned.append(value)
        elif key == "target":
            worker.targets.append(value)

    def _add_line(self, line: int, value: str) -> None:
        parts = [part.strip() for part in value.split(",")]
        if len(parts) != len(_FIELDS):
            self.add_issue(line, _LINE_KEY, value, f"must have {len(_FIELDS)} numbers")
            return
        before = len(self.issues)
        numbers = self._numbers(line, _LINE_KEY, parts, len(_FIELDS))
        for name, number in zip(_FIELDS, numbers, strict=True):
            if name in _PERCENTAGES and number > _WHOLE:
                self.add_issue(line, name, value, "must be between 0 and 100")
        if self._specification is None:
            self.add_issue(line, _LINE_KEY, value, "line before the name of an access specification")
        elif len(self.issues) == before:
            self._specification.lines.append(Line(f"line {line}", *numbers))

    def _numbers(self, line: int, what: str, texts: list[str], count: int) -> list[int]:
        """Return the numbers of a line; zeros, and an issue, if they are wrong."""
        digits = [text for text in texts if text.isascii() and text.isdigit() and int(text[:20]) < _LARGEST]
        if len(digits) == len(texts) == count:
            return [int(text) for text in digits]
        message = f"must be {count} whole number{'s' * (count > 1)} below 2^40"
        self.add_issue(line, what, ",".join(texts), message)
        return [0] * count

    def add_issue(self, line: int, name: str, value: str | None, message: str) -> None:
        self.issues.append(Issue("import.bad-value", f"line {line}, {name}", message, value))
