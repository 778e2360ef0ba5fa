"""Settings of a DiskSpd test with DiskSpd's defaults."""

from dataclasses import dataclass, field

from destage.errors import Issue
from destage.tools.words import Word

_NOWHERE = Word("", 1, 1)


@dataclass
class Target:
    """A target and its load. Sizes in bytes.

    Attributes:
        path: The file, drive or disk.
        place: Where it is given.
        block: Size of a request.
        base: First byte used.
        end: First byte not used any more, if given.
        file_size: Size of the file, if it is created.
        is_random: Whether requests are random, at least in part.
        random_percentage: Share of a random target's requests with a random address [%].
        alignment: Alignment of random addresses; None for the block.
        stride: Distance between the starts of sequential requests; None for the block.
        is_interlocked: Whether all threads share one sequential position.
        is_parallel: Whether the outstanding requests of a thread start at the same address.
        thread_stride: Distance between the starts of the threads.
        zones: Share of requests [%] and size of consecutive zones, in bytes or per cent of the target.
        is_absolute: Whether the sizes of the zones are bytes.
        write_percentage: Share of writes [%].
        threads: Threads of this target.
        outstanding: Outstanding requests per thread.
        rate: Maximum rate per thread, in requests or bytes per second; 0 for none.
        is_rate_in_bytes: Whether the rate is in bytes.
        burst: Requests between pauses; 0 for no pauses.
        pause_ms: Pause after a burst [ms].
        is_cached: Whether requests go through the host's cache.
        is_written_through: Whether writes are forced to stable storage.
        weight: Share of the requests of a thread that uses all targets.
    """

    path: str = ""
    place: Word = _NOWHERE
    block: int = 64 << 10
    base: int = 0
    end: int | None = None
    file_size: int | None = None
    is_random: bool = False
    random_percentage: int = 100
    alignment: int | None = None
    stride: int | None = None
    is_interlocked: bool = False
    is_parallel: bool = False
    thread_stride: int = 0
    zones: tuple[tuple[int, int], ...] = ()
    is_absolute: bool = False
    write_percentage: int = 0
    threads: int = 1
    outstanding: int = 2
    rate: float = 0.0
    is_rate_in_bytes: bool = False
    burst: int = 0
    pause_ms: int = 0
    is_cached: bool = True
    is_written_through: bool = False
    weight: int = 1

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


@dataclass
class Test:
    """A test: one command line, or one time span of a profile. Times in seconds.

    Attributes:
        threads: Threads that use all targets; 0 if each target has its own.
        outstanding: Outstanding requests of such a thread over all targets; 0 for those of each target.
        notes: What each option means.
        remarks: What has no effect, with the reason.
        warnings: Options that were skipped.
    """

    name: str
    line: int = 1
    targets: list[Target] = field(default_factory=list)
    duration: int = 10
    warm_up: int = 5
    threads: int = 0
    outstanding: int = 0
    notes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    warnings: list[Issue] = field(default_factory=list)
