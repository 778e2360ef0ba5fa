"""Settings of a DiskSpd test with DiskSpd's defaults: what each option and each element of a profile sets.

Names and meanings are those of DiskSpd's usage text and diskspd.xsd (github.com/microsoft/diskspd).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from destage.tools.options import OptionReader, option
from destage.tools.values import (
    ALL,
    OptionValueError,
    SizeForm,
    Word,
    check_sectors,
    parse_count,
    parse_percentage,
    parse_positive,
    switch,
)

SIZES = SizeForm(re.compile(r"(\d{1,19})([KMGT]?)(?:i?B)?", re.IGNORECASE | re.ASCII), "8K, 4096 or 1G")
parse_flag = switch(("true", "1"), ("false", "0"), "true or false")
_NOWHERE = Word("", 1, 1)


def parse_aligned(text: str) -> int:
    """Return a size of whole sectors, which may be 0 [bytes]."""
    return check_sectors(SIZES.parse(text), least=0)


def _parse_none(text: str) -> bool:
    if text:
        raise OptionValueError("takes no value")
    return True


@dataclass
class Target:
    """A target and its load. Sizes in bytes.

    Attributes:
        path: The file, drive or disk.
        end: First byte not used any more, if given.
        random_percentage: Share of a random target's requests with a random address [%].
        alignment: Alignment of random addresses; None for the block.
        stride: Distance between the starts of sequential requests; None for the block.
        is_interlocked: Whether all threads share one sequential position.
        zones: Share of requests [%] and size of consecutive zones, in bytes or per cent of the target.
        is_absolute: Whether the sizes of the zones are bytes.
        rate: Maximum rate per thread, in requests or bytes per second; 0 for none.
        is_cached: Whether requests go through the host's cache.
        is_written_through: Whether writes are forced to stable storage.
    """

    path: str = ""
    place: Word = _NOWHERE
    block: int = option("b", SIZES.parse_sectors, 64 << 10, "request size", tag="BlockSize")
    base: int = option("", parse_aligned, 0, tag="BaseFileOffset")
    end: int | None = option(
        *("f", SIZES.parse_sectors, None, "end of the range that is used"),
        tag="MaxFileSize",
        parse_element=parse_aligned,
    )
    file_size: int | None = option("c", SIZES.parse_sectors, None, "size of each file", tag="FileSize")
    is_random: bool = False
    random_percentage: int = option("", parse_percentage, ALL, tag="RandomRatio")
    alignment: int | None = option("", SIZES.parse_sectors, None, tag="Random")
    stride: int | None = option("", SIZES.parse_sectors, None, tag="StrideSize")
    is_interlocked: bool = option("", parse_flag, False, tag="InterlockedSequential")
    is_parallel: bool = option(
        *("p", _parse_none, False, "each outstanding request is a sequence of its own from the same start"),
        tag="ParallelAsyncIO",
        parse_element=parse_flag,
    )
    thread_stride: int = option(
        *("T", parse_aligned, 0, "distance between the starts of the threads"), tag="ThreadStride"
    )
    zones: tuple[tuple[int, int], ...] = ()
    is_absolute: bool = False
    write_percentage: int = option(
        *("w", lambda text: parse_percentage(text or "0"), 0, "share of writes [%]"),
        tag="WriteRatio",
        parse_element=parse_percentage,
    )
    threads: int = option("t", parse_positive, 1, "threads per target", tag="ThreadsPerFile")
    outstanding: int = option(
        *("o", parse_positive, 2, "outstanding requests per thread and target"), tag="RequestCount"
    )
    rate: float = 0.0
    is_rate_in_bytes: bool = False
    burst: int = option("i", parse_positive, 0, "requests between pauses", tag="BurstSize")
    pause_ms: int = option(
        *("j", parse_positive, 0, "approximated: the pause [ms] begins when the burst is complete"),
        tag="ThinkTime",
    )
    is_cached: bool = True
    is_written_through: bool = option("", parse_flag, False, tag="WriteThrough")
    weight: int = option("", parse_positive, 1, tag="Weight")

    @property
    def is_device(self) -> bool:
        """Whether it is a whole disk or volume, whose size is that of the array."""
        path = self.path.rstrip("\\/")
        return path.startswith(("#", "\\\\.\\", "/dev/")) or (len(path) == 2 and path[1] == ":")  # noqa: PLR2004

    @property
    def limit(self) -> int | None:
        """The first byte that is not used; None if it is not known."""
        ends = [end for end in (self.end, self.file_size) if end is not None]
        return min(ends, default=None)

    @property
    def length(self) -> int | None:
        """The size of the range that is used; None if it is not known."""
        return None if self.limit is None else self.limit - self.base

    def set_rate(self, text: str, *, is_in_bytes: bool) -> None:
        """Set the rate, in requests per second or bytes per millisecond."""
        self.is_rate_in_bytes = is_in_bytes
        self.rate = parse_count(text) * (1000.0 if is_in_bytes else 1.0)

    def set_zones(self, zones: Sequence[tuple[str, str]], *, is_absolute: bool) -> None:
        """Set the zones of a distribution, each a share of the requests and a size."""
        parse = SIZES.parse if is_absolute else parse_percentage
        self.zones = tuple((parse_percentage(accesses), parse(size)) for accesses, size in zones)
        self.is_absolute, self.is_random = is_absolute, True
        accesses, sizes = (sum(column) for column in zip(*self.zones, strict=True)) if zones else (0, 0)
        if not 0 < accesses <= ALL:
            raise OptionValueError(f"has IO shares that add up to {accesses} %; allowed is up to 100")
        if not all(size for _, size in self.zones) or (not is_absolute and sizes > ALL):
            raise OptionValueError("has a zone of size 0, or zones of more than 100 % in total")

    def list_mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield what does not fit together, each with the option."""
        if self.zones and self.random_percentage < ALL:
            yield "r", "a distribution of partly sequential requests (-rd with -rs) is not simulated"
        if not self.is_random and self.stride is not None and self.stride < self.block:
            yield "s", f"is smaller than the request size, {self.block} bytes; overlaps are not simulated"
        if self.limit is not None and self.base + self.block > self.limit:
            yield "f", f"leaves no room for a request of {self.block} bytes"


@dataclass
class Test:
    """A test: one command line, or one time span of a profile. Times in seconds.

    Attributes:
        threads: Threads that use all targets; 0 if each target has its own.
        outstanding: Outstanding requests of such a thread over all targets; 0 for those of each target.
    """

    name: str
    line: int = 1
    reader: OptionReader = field(default_factory=OptionReader)
    targets: list[Target] = field(default_factory=list)
    duration: int = option("d", parse_positive, 10, "length of the measurement", tag="Duration")
    warm_up: int = option(
        *("W", parse_count, 5),
        lambda time: "warm-up before the measurement" if time else "the warm-up ends by itself",
        tag="Warmup",
    )
    threads: int = option(
        *("F", parse_positive, 0, "threads, each of which uses all targets"),
        tag="ThreadCount",
        parse_element=parse_count,
    )
    outstanding: int = option(
        *("O", parse_positive, 0, "outstanding requests per thread, over all targets"),
        tag="RequestCount",
        parse_element=parse_count,
    )
