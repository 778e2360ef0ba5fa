"""The native engine: a thin layer over the Rust core, for `destage.engine` to call."""

# ruff: noqa: PYI021 - the stub is where the native functions are documented

from collections.abc import Mapping, Sequence
from typing import Any, final

__all__ = [
    "Batch",
    "EngineConfigError",
    "EngineTraceError",
    "Trace",
    "TraceProfile",
    "TraceReader",
    "columns",
    "count_hits",
    "disk_service_times",
    "miss_ratio_curves",
    "normalise",
    "recognise_trace",
    "record_requests",
    "results_version",
    "schema",
    "simulate_batch",
    "synthesise",
    "trace_formats",
]

class EngineConfigError(ValueError):
    """A configuration breaks rules."""

    issues: str
    """JSON list of the broken rules: `code`, `place` (a dotted path) and `message`."""

class EngineTraceError(ValueError):
    """A trace cannot be read; the message names line, column, value and what is allowed."""

    issues: str
    """JSON list of `code`, `place` and `message`, where a run failed."""

@final
class Trace:
    """A recorded sequence of block requests."""

    @staticmethod
    def from_columns(
        t_ns: bytes,
        process: bytes,
        lba_512: bytes,
        n_512: bytes,
        op: bytes,
        flags: bytes,
        volume: bytes | None = None,
        response_ns: tuple[bytes, bytes] | None = None,
    ) -> Trace:
        """Make a trace from little-endian columns of u64, u32, u64, u32, u8 and u8.

        `volume` is a column of u32; `response_ns` is one of u64 and one of u8 that says whether it is known.
        """
    def columns(self) -> dict[str, Any]:
        """The columns, as `from_columns` takes them; the last two only where the trace has them."""
    def volumes(self) -> list[tuple[int, int, int]]:
        """Number, first sector in the trace and sectors of each volume, where there are several."""
    def __len__(self) -> int: ...

@final
class TraceReader:
    """Reads a trace of one format that is given in pieces, in bounded memory."""

    def __new__(
        cls,
        format: str,  # noqa: A002 - what it is called everywhere
        *,
        skip_bad: int = 0,
        volume: int | None = None,
        is_kept: bool = True,
        takes_late: bool = False,
    ) -> TraceReader:
        """A reader of the format of this name; up to `skip_bad` lines or records that are wrong are left out.

        Where `is_kept`, all records are kept for `trace`; else they are put in order for `take`, and those
        that come too late are refused unless `takes_late`.
        """
    def feed(self, data: bytes) -> None:
        """Take more bytes. Releases the GIL."""
    def finish(self) -> None:
        """Nothing follows."""
    def trace(self) -> Trace:
        """The trace of all that was read, sorted; once, where the records are kept."""
    def take(self) -> dict[str, Any]:
        """The columns of the records that are in order by now and were not taken; recorded times."""
    def problems(self) -> str:
        """What was wrong so far, a JSON list of problem, meaning, count and first place."""

@final
class TraceProfile:
    """Collects what a trace amounts to, in bounded memory."""

    def __new__(cls) -> TraceProfile: ...
    def add(self, reader: TraceReader) -> None:
        """Add the records of a reader that are in order by now and were not taken yet. Releases the GIL."""
    def add_columns(
        self,
        t_ns: bytes,
        process: bytes,
        lba_512: bytes,
        n_512: bytes,
        op: bytes,
        flags: bytes,
        volume: bytes | None = None,
        response_ns: tuple[bytes, bytes] | None = None,
    ) -> None:
        """Add the records of columns, as `Trace.from_columns` takes them. Releases the GIL."""
    def report(self) -> str:
        """What came together so far, as JSON."""

@final
class Batch:
    """Result rows, handed over without a copy."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

def simulate_batch(scenarios: Sequence[str], traces: Mapping[str, Trace]) -> Batch:
    """Run each configuration, JSON in base units; one row each, in order. Releases the GIL."""

def normalise(scenario: str) -> str:
    """The canonical form of a configuration, JSON in base units."""

def record_requests(scenario: str, traces: Mapping[str, Trace]) -> Trace:
    """The requests that the hosts of a configuration of one array issue, in order. Releases the GIL."""

def schema() -> str:
    """The JSON Schema of a configuration."""

def columns() -> list[tuple[str, str, str, str]]:
    """Name, type, unit and meaning of each result column."""

def count_hits(
    policy: str,
    capacity: int,
    keys: bytes,
    probation: float | None = None,
    ghosts: float | None = None,
) -> int:
    """Hits of a cache of `capacity` unit-size entries over little-endian u64 keys.

    `probation` and `ghosts` are shares of the capacity; the policy's paper gives them where they are None.
    """

def trace_formats() -> list[tuple[str, str, bool]]:
    """Name, title and whether it is a text, of each format that `TraceReader` reads."""

def recognise_trace(head: bytes, is_whole: bool) -> str:
    """The name of the format of a trace that begins with `head`; `is_whole` says that nothing follows."""

def miss_ratio_curves(
    trace: Trace,
    policy: str,
    block_sectors: int,
    sizes: Sequence[int] | None = None,
    rate: float | None = None,
    seed: int = 0,
) -> dict[str, list[Any]]:
    """The miss ratio curves of reads, writes and both: columns with a value for each side and size.

    The columns are `side`, `size_blocks`, `accesses`, `distinct_blocks`, `miss_ratio` and `half_width`,
    which is None where the figure is exact. Sizes are in blocks; by default steps up to what the trace
    touches. `rate` is the share of the blocks that is sampled, chosen by `seed`. Releases the GIL.
    """

def synthesise(
    trace: Trace, block_sectors: int, seed: int, requests: int, duration_ns: int | None = None
) -> tuple[Trace, str]:
    """A trace drawn from the profile of another, and that profile as JSON. Releases the GIL.

    It has `requests` requests, or ends after `duration_ns` where that is given.
    """

def disk_service_times(
    disk: str, seed: int, lba: bytes, sectors: bytes, is_write: bytes, gap_ns: bytes
) -> bytes:
    """The service time [ns] of each request on a disk, JSON in base units, one outstanding at a time.

    `lba`, `sectors` and `gap_ns` (from completion to the next request) are little-endian u64; `is_write` has
    a byte for each request. `seed` draws the spindle's phase and speed.
    """

def results_version() -> int:
    """The version of results: equal versions give equal rows for equal configurations."""
