"""The settings of one job: its options as numbers, with fio's defaults."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from destage.errors import Issue
from destage.tools.fio.job_file import Job, Option
from destage.tools.fio.locality import Distribution, parse_distribution
from destage.tools.fio.quantities import (
    SECTOR,
    by_direction,
    one_of,
    parse_count,
    parse_percentage,
    parse_sectors,
    parse_size,
    parse_switch,
    parse_time,
)
from destage.tools.fio.sizes import BLOCK, Sizes, parse_range, parse_split
from destage.tools.fio.zones import Zones, parse_mode
from destage.tools.values import OptionValueError

T = TypeVar("T")

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
_HALF = 50
_KB_BASES = (1000, 1024)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a job. Sizes in bytes, times in nanoseconds.

    Attributes:
        read_percentage: Share of reads [%].
        alignments: Alignment of the addresses of reads and of writes; None to align each request to its size.
        has_map: Whether fio's random map is in use: no block comes again before all have come.
        has_lfsr: Whether the random addresses are those of a shift register.
        is_restarted: Whether each pass over the file repeats the order of the first.
        zones: The zones of `zonemode=strided`, if any.
        modifier: The value after the colon of `rw`: sequential requests per random address
            (`rw=randread:8`), or the gap after each sequential one (`rw=read:4k`) [bytes]; None if absent.
        random_percentage: Share of a random job's requests with a random address [%].
        depth: Outstanding I/Os.
        clones: Number of clones (`numjobs`).
        filename: The file that all clones share; None if each has its own.
        size: The part of the file that is used, if given.
        file_size: The size of the file, if given.
        offset: First byte used in the file.
        offset_increment: Distance between the offsets of successive clones.
        runtime: Duration after the ramp, if given.
        ramp_time: Duration before the measurement.
        start: Minimum and maximum delay of the start.
        think_time: Pause after `think_blocks` I/Os; 0 for none.
        think_blocks: I/Os between pauses.
        rates: Reads and writes per second; None if the rate is not limited.
        is_poisson: Whether gaps between arrivals are exponential.
        flush_every: Writes between flushes; None for no flushes.
        is_forced: Whether each write waits for stable storage.
        is_direct: Whether requests bypass the host's page cache.
        is_stonewalled: Whether it waits for all jobs above.
        iolog: The log to replay, if any.
        is_stalling: Whether the replay keeps the recorded times.
        replay_speed: Factor on the recorded rate.
    """

    job: Job
    is_random: bool
    read_percentage: int
    read_sizes: Sizes
    write_sizes: Sizes
    alignments: tuple[int | None, int | None]
    has_map: bool
    has_lfsr: bool
    is_restarted: bool
    zones: Zones | None
    modifier: int | None
    random_percentage: int
    distribution: Distribution
    depth: int
    clones: int
    filename: str | None
    size: int | None
    file_size: int | None
    offset: int
    offset_increment: int
    runtime: int | None
    ramp_time: int
    start: tuple[int, int]
    think_time: int
    think_blocks: int
    rates: tuple[float, float] | None
    is_poisson: bool
    flush_every: int | None
    is_forced: bool
    is_direct: bool
    is_stonewalled: bool
    iolog: str | None
    is_stalling: bool
    replay_speed: float


class _Values:
    """The values of a job's options; a value that cannot be read is an issue, and its default is used."""

    def __init__(self, job: Job, issues: list[Issue]) -> None:
        self._options = job.options
        self._issues = issues
        base = self.get("kb_base", parse_count, 1024)
        if base not in _KB_BASES:
            self.add_issue("kb_base", "must be 1000 or 1024")
            base = 1024
        self.size: Callable[[str], int] = partial(parse_size, kb_base=base)
        self.sectors: Callable[[str], int] = partial(parse_sectors, kb_base=base)

    def find(self, name: str) -> Option | None:
        return self._options.get(name)

    def get(self, name: str, parse: Callable[[str], T], default: T) -> T:
        option = self.find(name)
        if option is None:
            return default
        if not option.value:
            self.add_issue(name, "needs a value")
            return default
        try:
            return parse(option.value)
        except OptionValueError as error:
            self.add_issue(name, str(error))
            return default

    def is_on(self, name: str, *, default: bool = False) -> bool:
        option = self.find(name)
        if option is None:
            return default
        try:
            return parse_switch(option.value)
        except OptionValueError as error:
            self.add_issue(name, str(error))
            return default

    def add_issue(self, name: str, message: str) -> None:
        option = self.find(name)
        if option is not None:
            self._issues.append(Issue("import.bad-value", option.place, message, option.value))


def read_settings(job: Job, issues: list[Issue]) -> Settings:
    """Return the settings of a job; mistakes are added to `issues`."""
    values = _Values(job, issues)
    is_random, reads, modifier = _pattern(values)
    read_sizes, write_sizes = _sizes(values)
    least = _least(read_sizes), _least(write_sizes)
    given = values.get("blockalign", lambda text: by_direction(text, values.sectors, BLOCK), None)
    distribution = values.get(
        "random_distribution", partial(parse_distribution, size=values.size), Distribution()
    )
    size = values.get("size", partial(_extent, size=values.size), None)
    has_lfsr = values.get("random_generator", _generator, "tausworthe") == "lfsr"
    seconds = partial(parse_time, default="s")
    start = values.get("startdelay", _range, (0, 0))
    _check_unused(values)
    return Settings(
        job=job,
        is_random=is_random,
        read_percentage=reads,
        read_sizes=read_sizes,
        write_sizes=write_sizes,
        alignments=given or (_own_alignment(read_sizes), _own_alignment(write_sizes)),
        # Like fio, which switches the map off for other alignments and for skewed distributions.
        has_map=not values.is_on("norandommap")
        and not has_lfsr
        and distribution.kind == "random"
        and given in {None, least},
        has_lfsr=has_lfsr and distribution.kind == "random",
        is_restarted=_is_restarted(values, size),
        zones=_zones(values),
        modifier=modifier,
        random_percentage=values.get("percentage_random", _one_percentage, 100),
        distribution=distribution,
        depth=_depth(values),
        clones=max(1, values.get("numjobs", parse_count, 1)),
        filename=_filename(values),
        size=size,
        file_size=values.get("filesize", partial(_extent, size=values.size), None),
        offset=values.get("offset", partial(_offset, size=values.size), 0),
        offset_increment=values.get("offset_increment", partial(_offset, size=values.size), 0),
        runtime=values.get("runtime", seconds, None) or None,
        ramp_time=values.get("ramp_time", seconds, 0),
        start=(min(start), max(start)),
        think_time=values.get("thinktime", partial(parse_time, default="us"), 0),
        think_blocks=max(1, values.get("thinktime_blocks", parse_count, 1)),
        rates=_rates(values, reads, (read_sizes, write_sizes)),
        is_poisson=values.get("rate_process", _rate_process, "linear") == "poisson",
        flush_every=_flush_every(values),
        is_forced=values.get("sync", _sync, "none") not in {"none", "0"},
        is_direct=values.is_on("direct", default=not values.is_on("buffered", default=True)),
        is_stonewalled=values.is_on("stonewall"),
        iolog=_iolog(values),
        is_stalling=not values.is_on("replay_no_stall"),
        replay_speed=values.get("replay_time_scale", _scale, 100) / 100,
    )


def _check_unused(values: _Values) -> None:
    """Check the values of options that do not affect the workload."""
    values.get("number_ios", parse_count, 0)


_rate_process = partial(one_of, allowed=("linear", "poisson"))
_sync = partial(one_of, allowed=("none", "0", "sync", "1", "dsync"))
_generator = partial(one_of, allowed=("tausworthe", "tausworthe64", "lfsr"))
_sequencer = partial(one_of, allowed=("sequential", "identical"))


def _pattern(values: _Values) -> tuple[bool, int, int | None]:
    """Return whether addresses are random, the percentage of reads, and the value after the colon."""

    def parse(text: str) -> tuple[bool, int | None, int | None]:
        name, colon, after = text.partition(":")
        if name in _TRIMS:
            raise OptionValueError(f"trims are not simulated; allowed: {', '.join(_PATTERNS)}")
        is_random, reads = _PATTERNS[one_of(name, tuple(_PATTERNS))]
        modifier = (parse_count if is_random else values.size)(after) if colon else None
        return is_random, reads, modifier or None

    sequential_reads: tuple[bool, int | None, int | None] = (False, 100, None)
    is_random, reads, modifier = values.get("rw", parse, sequential_reads)
    if values.get("rw_sequencer", _sequencer, "sequential") == "identical" and modifier:
        values.add_issue(
            "rw_sequencer", "must be sequential; repeated access to one address is not simulated"
        )
    mixed = values.get("rwmixread", parse_percentage, _HALF)
    writes = values.get("rwmixwrite", parse_percentage, None)
    if writes is not None and _is_later(values, "rwmixwrite", "rwmixread"):
        mixed = 100 - writes
    return is_random, mixed if reads is None else reads, modifier


def _is_later(values: _Values, name: str, other: str) -> bool:
    """Return whether an option is given after another, or without it."""
    first, second = values.find(name), values.find(other)
    return first is not None and (second is None or first.line > second.line)


def _sizes(values: _Values) -> tuple[Sizes, Sizes]:
    """Return the sizes of reads and of writes."""
    single = values.get("bs", lambda text: by_direction(text, values.sectors, BLOCK), (BLOCK, BLOCK))
    whole: tuple[Sizes, Sizes] = (((single[0], 1.0),), ((single[1], 1.0),))
    name, parse = ("bssplit", parse_split)
    if _is_later(values, "bsrange", "bssplit"):
        name, parse = ("bsrange", parse_range)
    return values.get(
        name, lambda text: by_direction(text, partial(parse, sectors=values.sectors), ((BLOCK, 1.0),)), whole
    )


def _least(sizes: Sizes) -> int:
    return min(size for size, _ in sizes)


def _own_alignment(sizes: Sizes) -> int | None:
    """Return the alignment of random addresses; with several sizes, fio aligns them to the smallest."""
    return _least(sizes) if len(sizes) > 1 else None


def _is_restarted(values: _Values, size: int | None) -> bool:
    """Return whether fio passes over the file again from the start of its random numbers."""
    has_end = not values.is_on("time_based")
    total = values.get("io_size", partial(_extent, size=values.size), None)
    is_repeated = values.get("loops", parse_count, 1) > 1 or (size is not None and (total or 0) > size)
    is_same = values.find("randseed") is None and values.is_on("randrepeat", default=True)
    return has_end and is_repeated and is_same


def _zones(values: _Values) -> Zones | None:
    """Return the zones of a strided job."""
    mode = values.get("zonemode", parse_mode, None)
    size = values.get("zonesize", values.sectors, 0)
    extent = values.get("zonerange", values.sectors, 0)
    skip = values.get("zoneskip", values.size, 0)
    if mode == "strided" and not size:
        values.add_issue("zonemode", "needs zonesize")
    elif mode == "none" and size:
        values.add_issue("zonesize", "needs zonemode=strided")
    elif skip % SECTOR:
        values.add_issue("zoneskip", f"must be a multiple of {SECTOR} bytes")
    elif size:
        return Zones(size, extent or size, skip)
    return None


def _one_percentage(text: str) -> int:
    read, write = by_direction(text, parse_percentage, 100)
    if read != write:
        raise OptionValueError("must be the same for reads and writes")
    return read


def _range(text: str) -> tuple[int, int]:
    low, _, high = text.replace(":", "-").partition("-")
    first = parse_time(low, "s")
    return first, parse_time(high, "s") if high else first


def _extent(text: str, size: Callable[[str], int]) -> int | None:
    """Parse a positive size; `100%` is None, the whole file."""
    if text == "100%":
        return None
    if text.endswith("%"):
        raise OptionValueError("must be a size in bytes or 100%; the size of the file is not known")
    if "-" in text or ":" in text:
        raise OptionValueError("must be one size; a range of file sizes is not simulated")
    parsed = size(text)
    if not parsed:
        raise OptionValueError("must be greater than zero")
    return parsed


def _offset(text: str, size: Callable[[str], int]) -> int:
    if text.endswith("%"):
        raise OptionValueError("must be an offset in bytes; the size of the file is not known")
    return size(text)


def _depth(values: _Values) -> int:
    allowed = (*_SYNCHRONOUS, *_ASYNCHRONOUS)
    depth = max(1, values.get("iodepth", parse_count, 1))
    engine = values.get("ioengine", lambda text: one_of(text, allowed), _SYNCHRONOUS[0])
    return depth if engine in _ASYNCHRONOUS else 1


def _filename(values: _Values) -> str | None:
    if values.get("nrfiles", parse_count, 1) != 1:
        values.add_issue("nrfiles", "must be 1; write one job per file")

    def parse(text: str) -> str:
        if ":" in text.replace("\\:", ""):
            raise OptionValueError("must be one file; write one job per file")
        return text.replace("\\:", ":")

    return values.get("filename", parse, None)


def _iolog(values: _Values) -> str | None:
    def parse(text: str) -> str:
        if text == "-" or ":" in text.replace("\\:", ""):
            raise OptionValueError("must be one file")
        return text.replace("\\:", ":")

    return values.get("read_iolog", parse, None)


def _scale(text: str) -> int:
    scale = parse_count(text)
    if not scale:
        raise OptionValueError("must be greater than zero")
    return scale


def _rates(values: _Values, reads: int, sizes: tuple[Sizes, Sizes]) -> tuple[float, float] | None:
    """Return reads and writes per second; 0 for a direction that the job does not use.

    A rate in bytes per second is that of requests of the mean size.
    """
    name = "rate" if values.find("rate") is not None else "rate_iops"
    if name == "rate":
        given = values.get(name, lambda text: by_direction(text, values.size, 0), None)
        means = [math.fsum(size * share for size, share in of) for of in sizes]
        rates = None if given is None else (given[0] / means[0], given[1] / means[1])
    else:
        rates = values.get(name, lambda text: by_direction(text, parse_count, 0), None)
    if rates is None:
        return None
    read, write = rates[0] if reads else 0, rates[1] if reads < 100 else 0  # noqa: PLR2004 - per cent
    if (reads and not read) or (reads < 100 and not write):  # noqa: PLR2004 - per cent
        values.add_issue(name, "must limit both reads and writes; write two jobs to limit only one")
        return None
    return read, write


def _flush_every(values: _Values) -> int | None:
    counts = [count for name in ("fsync", "fdatasync") if (count := values.get(name, parse_count, 0))]
    return min(counts, default=None)
