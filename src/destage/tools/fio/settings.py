"""A job: its options as written, what each sets, with fio's defaults, and what follows from several."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NamedTuple

from destage.errors import Issue
from destage.tools.fio.quantities import (
    BLOCK,
    SIZES,
    Distribution,
    Sizes,
    by_direction,
    parse_distribution,
    parse_range,
    parse_split,
    parse_switch,
    parse_time,
)
from destage.tools.options import OptionReader, option
from destage.tools.values import ALL, SECTOR, OptionValueError, one_of, parse_count, parse_percentage

_PATTERNS = {
    "read": (False, 100),
    "write": (False, 0),
    "rw": (False, None),
    "readwrite": (False, None),
    "randread": (True, 100),
    "randwrite": (True, 0),
    "randrw": (True, None),
}
_TRIMS = ("trim", "randtrim", "trimwrite", "randtrimwrite")
_SYNCHRONOUS = ("psync", "sync", "pvsync", "pvsync2", "vsync")
_ASYNCHRONOUS = ("libaio", "io_uring", "io_uring_cmd", "posixaio", "solarisaio", "windowsaio", "sg")


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a job file.

    Attributes:
        written: The name as written in the file.
        text: The text after `=`; None if there is no `=`.
    """

    written: str
    text: str | None
    line: int

    @property
    def place(self) -> str:
        """Its place in errors and warnings."""
        return f"line {self.line}, {self.written}"

    @property
    def value(self) -> str:
        """Its value; empty if it has none."""
        return self.text or ""

    def issue(self, code: str, message: str) -> Issue:
        """Return an issue at the option."""
        return Issue(code, self.place, message, self.text)

    def __str__(self) -> str:
        """Return the option as it is written in a job file."""
        return self.written if self.text is None else f"{self.written}={self.text}"


class Pattern(NamedTuple):
    """The direction of requests: whether they are random, the share of reads [%] if it is fixed.

    The modifier is the value after the colon: sequential requests per random address (`rw=randread:8`), or
    the gap after each sequential one (`rw=read:4k`) [bytes].
    """

    is_random: bool = False
    reads: int | None = ALL
    modifier: int | None = None


def _parse_pattern(text: str, base: int) -> Pattern:
    name, colon, after = text.partition(":")
    if name in _TRIMS:
        raise OptionValueError(f"trims are not simulated; allowed: {', '.join(_PATTERNS)}")
    is_random, reads = _PATTERNS[one_of(*_PATTERNS)(name)]
    modifier = (parse_count(after) if is_random else SIZES.parse(after, base)) if colon else None
    return Pattern(is_random, reads, modifier or None)


def _directions(parse: Callable[[str, int], Any], default: Any) -> Callable[[str, int], tuple[Any, Any]]:
    return lambda text, base: by_direction(text, lambda part: parse(part, base), default)


def _parse_one_percentage(text: str) -> int:
    read, write = by_direction(text, parse_percentage, ALL)
    if read != write:
        raise OptionValueError("must be the same for reads and writes")
    return read


def _parse_delay(text: str) -> tuple[int, int]:
    low, _, high = text.replace(":", "-").partition("-")
    first = parse_time(low, "s")
    last = parse_time(high, "s") if high else first
    return min(first, last), max(first, last)


def _parse_extent(text: str, base: int) -> int | None:
    """Parse a positive size; `100%` is None, the whole file."""
    if text == "100%":
        return None
    if text.endswith("%"):
        raise OptionValueError("must be a size in bytes or 100%; the size of the file is not known")
    if "-" in text or ":" in text:
        raise OptionValueError("must be one size; a range of file sizes is not simulated")
    parsed = SIZES.parse(text, base)
    if not parsed:
        raise OptionValueError("must be greater than zero")
    return parsed


def _parse_offset(text: str, base: int) -> int:
    if text.endswith("%"):
        raise OptionValueError("must be an offset in bytes; the size of the file is not known")
    return SIZES.parse(text, base)


def _parse_file(text: str) -> str:
    if text == "-" or ":" in text.replace("\\:", ""):
        raise OptionValueError("must be one file; write one job per file")
    return text.replace("\\:", ":")


def _parse_zone_mode(text: str) -> str:
    if text == "zbd":
        raise OptionValueError("zoned block devices are not simulated; allowed: none, strided")
    return one_of("none", "strided")(text)


def _parse_positive(text: str) -> int:
    return max(1, parse_count(text))


def _parse_sync(text: str) -> bool:
    return one_of("none", "0", "sync", "1", "dsync")(text) not in {"none", "0"}


_seconds = partial(parse_time, default="s")
_rates = _directions(lambda text, base: parse_count(text), 0)  # noqa: ARG005 - counts have no kb_base


def sized(name: str, parse: Callable[[str, int], Any], default: Any) -> Any:
    """Return a field of settings whose values depend on `kb_base`."""
    return option(name, parse, default, is_sized=True)


@dataclass(frozen=True)
class Settings:
    """The settings of a job, one for each option that defines the workload. Sizes in bytes, times in ns.

    Attributes:
        options: Its options by name; its own override those of the global sections above.
    """

    name: str
    line: int
    options: Mapping[str, Option]
    kb_base: str = option("kb_base", one_of("1000", "1024"), "1024")
    pattern: Pattern = sized("rw", _parse_pattern, Pattern())  # noqa: RUF009 - a field
    sequencer: str = option("rw_sequencer", one_of("sequential", "identical"), "sequential")
    mixed_reads: int = option("rwmixread", parse_percentage, 50)
    mixed_writes: int | None = option("rwmixwrite", parse_percentage, None)
    block: tuple[int, int] = sized("bs", _directions(SIZES.parse_sectors, BLOCK), (BLOCK, BLOCK))
    split: tuple[Sizes, Sizes] | None = sized("bssplit", _directions(parse_split, ((BLOCK, 1.0),)), None)
    range: tuple[Sizes, Sizes] | None = sized("bsrange", _directions(parse_range, ((BLOCK, 1.0),)), None)
    given_alignments: tuple[int, int] | None = sized(
        "blockalign", _directions(SIZES.parse_sectors, BLOCK), None
    )
    has_no_map: bool = option("norandommap", parse_switch, False)
    generator: str = option("random_generator", one_of("tausworthe", "tausworthe64", "lfsr"), "tausworthe")
    random_percentage: int = option("percentage_random", _parse_one_percentage, ALL)
    distribution: Distribution = sized("random_distribution", parse_distribution, Distribution())  # noqa: RUF009
    zone_mode: str | None = option("zonemode", _parse_zone_mode, None)
    zone_size: int = sized("zonesize", SIZES.parse_sectors, 0)
    zone_range: int = sized("zonerange", SIZES.parse_sectors, 0)
    zone_skip: int = sized("zoneskip", SIZES.parse, 0)
    engine: str = option("ioengine", one_of(*_SYNCHRONOUS, *_ASYNCHRONOUS), _SYNCHRONOUS[0])
    asked_depth: int = option("iodepth", _parse_positive, 1)
    clones: int = option("numjobs", _parse_positive, 1)
    filename: str | None = option("filename", _parse_file, None)
    files: int = option("nrfiles", partial(parse_count, least=1, most=1), 1)
    size: int | None = sized("size", _parse_extent, None)
    file_size: int | None = sized("filesize", _parse_extent, None)
    total: int | None = sized("io_size", _parse_extent, None)
    offset: int = sized("offset", _parse_offset, 0)
    offset_increment: int = sized("offset_increment", _parse_offset, 0)
    runtime: int | None = option("runtime", lambda text: _seconds(text) or None, None)
    is_time_based: bool = option("time_based", parse_switch, False)
    ramp_time: int = option("ramp_time", _seconds, 0)
    start: tuple[int, int] = option("startdelay", _parse_delay, (0, 0))
    number: int = option("number_ios", parse_count, 0)
    loops: int = option("loops", parse_count, 1)
    think_time: int = option("thinktime", partial(parse_time, default="us"), 0)
    think_blocks: int = option("thinktime_blocks", _parse_positive, 1)
    data_rates: tuple[int, int] | None = sized("rate", _directions(SIZES.parse, 0), None)
    request_rates: tuple[int, int] | None = sized("rate_iops", _rates, None)
    is_poisson: bool = option(
        "rate_process", lambda text: one_of("linear", "poisson")(text) == "poisson", False
    )
    fsync: int = option("fsync", parse_count, 0)
    fdatasync: int = option("fdatasync", parse_count, 0)
    is_forced: bool = option("sync", _parse_sync, False)
    direct: bool | None = option("direct", parse_switch, None)
    is_buffered: bool = option("buffered", parse_switch, True)
    is_stonewalled: bool = option("stonewall", parse_switch, False)
    iolog: str | None = option("read_iolog", _parse_file, None)
    has_no_stall: bool = option("replay_no_stall", parse_switch, False)
    replay_scale: int = option("replay_time_scale", partial(parse_count, least=1), ALL)

    @property
    def place(self) -> str:
        """Its place in errors."""
        return f"line {self.line}, [{self.name}]"

    def has(self, name: str) -> bool:
        """Return whether an option is given."""
        return name in self.options

    def is_later(self, name: str, other: str) -> bool:
        """Return whether an option is given after another, or without it."""
        first, second = self.options.get(name), self.options.get(other)
        return first is not None and (second is None or first.line > second.line)

    @property
    def read_percentage(self) -> int:
        """The share of reads [%]."""
        if self.pattern.reads is not None:
            return self.pattern.reads
        if self.mixed_writes is not None and self.is_later("rwmixwrite", "rwmixread"):
            return ALL - self.mixed_writes
        return self.mixed_reads

    @property
    def sizes(self) -> tuple[Sizes, Sizes]:
        """The sizes of reads and of writes."""
        given = self.range if self.is_later("bsrange", "bssplit") else self.split
        return given or (((self.block[0], 1.0),), ((self.block[1], 1.0),))

    @property
    def smallest(self) -> tuple[int, int]:
        """The smallest size of reads and of writes."""
        read, write = (min(size for size, _ in sizes) for sizes in self.sizes)
        return read, write

    @property
    def alignments(self) -> tuple[int | None, int | None]:
        """Alignment of the addresses of reads and of writes; None to align each request to its size.

        fio aligns random addresses of several sizes to the smallest.
        """
        read, write = (
            least if len(sizes) > 1 else None for least, sizes in zip(self.smallest, self.sizes, strict=True)
        )
        return self.given_alignments or (read, write)

    @property
    def has_map(self) -> bool:
        """Whether fio's random map is in use: no block comes again before all have come.

        fio switches it off for other alignments and for skewed distributions.
        """
        is_plain = self.distribution.kind == "random" and self.generator != "lfsr"
        return not self.has_no_map and is_plain and self.given_alignments in {None, self.smallest}

    @property
    def is_restarted(self) -> bool:
        """Whether each pass over the file repeats the order of the first."""
        is_repeated = self.loops > 1 or (self.size is not None and (self.total or 0) > self.size)
        repeat = self.options.get("randrepeat")
        is_same = not self.has("randseed") and (repeat is None or repeat.text != "0")
        return not self.is_time_based and is_repeated and is_same

    @property
    def depth(self) -> int:
        """Outstanding I/Os."""
        return self.asked_depth if self.engine in _ASYNCHRONOUS else 1

    @property
    def rates(self) -> tuple[float, float] | None:
        """Reads and writes per second; 0 for a direction that the job does not use.

        A rate in bytes per second is that of requests of the mean size.
        """
        rates: tuple[float, float] | None = self.request_rates
        if self.data_rates is not None:
            read, write = (math.fsum(size * share for size, share in sizes) for sizes in self.sizes)
            rates = self.data_rates[0] / read, self.data_rates[1] / write
        reads = self.read_percentage
        return None if rates is None else (rates[0] if reads else 0, rates[1] if reads < ALL else 0)

    @property
    def flush_every(self) -> int | None:
        """Writes between flushes; None for no flushes."""
        return min(filter(None, (self.fsync, self.fdatasync)), default=None)

    @property
    def is_direct(self) -> bool:
        """Whether requests bypass the host's page cache."""
        return not self.is_buffered if self.direct is None else self.direct


def read_settings(job: str, line: int, options: Mapping[str, Option], reader: OptionReader) -> Settings:
    """Return the settings of a job; mistakes are added to the reader's issues."""
    by_option = {field.metadata["option"]: field for field in fields(Settings) if field.metadata}
    base = 1000 if "kb_base" in options and options["kb_base"].value == "1000" else 1024
    values: dict[str, Any] = {}
    for name, given in options.items():
        if name in by_option:
            facts = by_option[name].metadata
            parse = partial(facts["parse"], base=base) if facts.get("is_sized") else facts["parse"]
            read = partial(_parse_given, given, parse)
            values[by_option[name].name] = reader.parse(given, read, by_option[name].default)
    settings = Settings(job, line, options, **values)
    for name, message in _list_mistakes(settings):
        if name in options:
            reader.issues.append(options[name].issue("import.bad-value", message))
    return settings


def _parse_given(given: Option, parse: Callable[[str], Any], text: str) -> Any:
    if parse is parse_switch:
        # The name of a switch alone turns it on.
        return parse_switch("1" if given.text is None else text)
    if not text:
        raise OptionValueError("needs a value")
    return parse(text)


def _list_mistakes(job: Settings) -> Iterator[tuple[str, str]]:
    """Yield the options whose values others do not allow, each with the reason."""
    if job.sequencer == "identical" and job.pattern.modifier:
        yield "rw_sequencer", "must be sequential; repeated access to one address is not simulated"
    if job.zone_mode == "strided" and not job.zone_size:
        yield "zonemode", "needs zonesize"
    elif job.zone_mode == "none" and job.zone_size:
        yield "zonesize", "needs zonemode=strided"
    elif job.zone_skip % SECTOR:
        yield "zoneskip", f"must be a multiple of {SECTOR} bytes"
    read, write = job.rates or (1, 1)
    if (job.read_percentage and not read) or (job.read_percentage < ALL and not write):
        name = "rate_iops" if job.data_rates is None else "rate"
        yield name, "must limit both reads and writes; write two jobs to limit only one"
