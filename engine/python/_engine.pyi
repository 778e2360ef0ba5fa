"""The extension module: a thin layer over the Rust core, called by `destage.engine`."""

# ruff: noqa: PYI021 - the stub documents the native functions

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

__all__ = [
    "Batch",
    "Composer",
    "EngineConfigError",
    "EngineStopped",
    "EngineTraceError",
    "StopSignal",
    "Trace",
    "TraceReader",
    "TraceSummariser",
    "build_settings",
    "canonical_text",
    "columns",
    "count_hits",
    "disk_service_times",
    "miss_ratio_curves",
    "normalise",
    "point_ids",
    "recognise_trace",
    "record_requests",
    "results_version",
    "run_id",
    "schema",
    "simulate",
    "simulate_batch",
    "synthesise",
    "trace_formats",
    "usable_capacity",
]

class EngineConfigError(ValueError):
    """A configuration breaks rules."""

    issues: str
    """JSON list of the broken rules: `code`, `place` (a dotted path) and `message`."""

class EngineStopped(RuntimeError):  # noqa: N818 - a request of the caller, not an error
    """A run was stopped before its end."""

class EngineTraceError(ValueError):
    """A trace cannot be used, or a run failed."""

    issues: str
    """JSON list of `code`, `place`, `message` and, for a trace, `data`."""

@final
class StopSignal:
    """Stops runs from another thread."""

    def __new__(cls) -> StopSignal: ...
    def set(self) -> None:
        """Stop all runs that have this signal, and those that will."""
    @property
    def is_set(self) -> bool:
        """Whether it is set."""

@final
class Trace:
    """A recorded sequence of block requests."""

    @staticmethod
    def from_columns(columns: Mapping[str, Any]) -> Trace:
        """Make a trace from little-endian columns, as bytes.

        `t_ns` and `lba_512` are u64, `process` and `n_512` u32, `op` and `flags` u8. `volume`, optional, is
        u32; `response_ns`, optional, is a column of u64 and one of u8 that says whether it is known.
        """
    def columns(self) -> dict[str, Any]:
        """The columns, as `from_columns` takes them; the optional ones only if the trace has them."""
    def volumes(self) -> list[tuple[int, int, int]]:
        """Number, first sector in the trace and sectors of each volume; empty with only one volume."""
    def __len__(self) -> int: ...

@final
class TraceReader:
    """Reads a trace of one format, piece by piece, in bounded memory."""

    def __new__(
        cls,
        format: str,  # noqa: A002 - the name of the option
        *,
        skip_bad: int = 0,
        volume: int | None = None,
        keep: bool = True,
        accept_late: bool = False,
        layout: dict[str, Any] | None = None,
    ) -> TraceReader:
        """A reader of the named format, which skips up to `skip_bad` bad lines or records.

        A `layout` describes the columns of delimited text; the format is then `columns`.

        With `keep`, all records are kept for `trace`; otherwise they are sorted within a window for `take`,
        and a record that is too late is an error unless `accept_late`.
        """
    def feed(self, data: bytes) -> None:
        """Read more bytes. Releases the GIL."""
    def finish(self) -> None:
        """End the trace: nothing follows."""
    def trace(self) -> Trace:
        """The trace of all records, sorted; once, and only with `keep`."""
    def take(self) -> dict[str, Any]:
        """Take the columns of the records sorted so far, with times as recorded."""
    def problems(self) -> str:
        """The warnings so far, a JSON list of `code`, `place` of the first, `message` and `count`."""

@final
class TraceSummariser:
    """Summarises a trace in bounded memory."""

    def __new__(cls) -> TraceSummariser: ...
    def add(self, reader: TraceReader) -> None:
        """Take the records of a reader that are sorted so far. Releases the GIL."""
    def add_columns(self, columns: Mapping[str, Any]) -> None:
        """Add the records of columns, as `Trace.from_columns` takes them. Releases the GIL."""
    def summary(self) -> str:
        """The summary so far, as JSON."""

@final
class Batch:
    """Result rows, exported without a copy."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@final
class Composer:
    """Builds the configurations of points from the values that they assign."""

    def __new__(
        cls,
        axes: Sequence[Sequence[str]],
        layout: Callable[[Sequence[str]], Sequence[tuple[str, Sequence[str]]] | None],
    ) -> Composer:
        """A composer that reads the parameters `axes`, each as the segments of a dotted path.

        `layout` returns the fields of points that assign some paths: of each, a key and the paths in it; None
        if the points can only be built as a whole.
        """
    def compose(
        self,
        columns: Sequence[tuple[str, Sequence[str], bytes]],
        count: int,
        replicates: int,
        resolve: Callable[[str, int], str | None],
        whole: Mapping[int, str],
    ) -> tuple[Batch, list[tuple[int, str]]]:
        """The runs of points, one row per point and replicate, and the invalid points, which have no rows.

        `columns` has of each parameter its path, its distinct values as JSON, and by point the position
        of its value as little-endian i32, negative where the point does not assign it. `resolve` takes the
        key of a field and a point, and returns the field as JSON members in base units; None if it has
        mistakes. It is called once for points that differ in numbers only. `whole` has all fields of points
        that are not built from their columns.

        The rows have `run_id`, `config.<part>` (dictionaries of texts) and `axis.<index>` (dictionaries of
        JSON texts). An invalid point is its position and, as JSON, the rules between its fields that it
        breaks; or a table with the `paths` of a field that is malformed or out of bounds; or null if it can
        only be built as a whole.
        """

def run_id(config: str) -> str:
    """The identity of a run: a digest of everything that its result columns are a function of.

    That is the canonical configuration with its root seed and replicate, the content of its traces (not
    their location) and the version of the results. `config` is its canonical text.
    """

def point_ids(columns: Sequence[tuple[str, Sequence[str], bytes]], count: int) -> Batch:
    """The identity of each point: the digest of its assignments. `columns` as of `Composer.compose`."""

def canonical_text(document: str) -> str:
    """The canonical text of a document as JSON; what is none, as NaN, is its own text."""

def simulate(scenario: str, traces: Mapping[str, Trace]) -> dict[str, Any]:
    """Run a configuration, JSON in base units; its row by column. Releases the GIL.

    A failed run is a row with its error; what the handler of a signal raised is raised.
    """

def simulate_batch(
    scenarios: Sequence[str],
    traces: Mapping[str, Trace],
    stop: StopSignal | None = None,
    timeout_s: float | None = None,
) -> tuple[Batch, list[float], BaseException | None]:
    """Run each configuration, JSON in base units; one row each, in order. Releases the GIL.

    Returns the rows, the time of each run [s], and what ended the call before the last run, if anything:
    `EngineStopped` after `stop` is set, or what the handler of a signal raised. A run that takes longer than
    `timeout_s` is a failed row.
    """

def normalise(scenario: str) -> str:
    """The canonical form of a configuration, JSON in base units."""

def usable_capacity(array: str) -> int:
    """The size of the data that an array, JSON in base units, can hold [bytes]."""

def record_requests(scenario: str, traces: Mapping[str, Trace]) -> Trace:
    """The requests that the hosts of a configuration of one array issue, in order. Releases the GIL."""

def schema() -> str:
    """The JSON Schema of a configuration."""

def columns() -> list[list[str]]:
    """Name, type, unit and meaning of each result column."""

def build_settings() -> dict[str, str]:
    """The settings with which the engine was compiled by name."""

def count_hits(
    policy: str,
    capacity: int,
    keys: bytes,
    probation: float | None = None,
    ghosts: float | None = None,
) -> int:
    """Hits of a cache of `capacity` unit-size entries over little-endian u64 keys.

    `probation` and `ghosts` are shares of the capacity; by default those of the policy's paper.
    """

def trace_formats() -> list[tuple[str, str, bool]]:
    """Name, title and whether it is a text, of each format of `TraceReader`."""

def recognise_trace(head: bytes, is_whole: bool) -> str:
    """The name of the format of a trace that begins with `head`, or is all of it if `is_whole`."""

def miss_ratio_curves(
    trace: Trace,
    policy: str,
    block_sectors: int,
    sizes: Sequence[int] | None = None,
    rate: float | None = None,
    seed: int = 0,
) -> dict[str, list[Any]]:
    """The miss ratio curves of reads, writes and both: columns with one value per side and size.

    The columns are `side`, `size_blocks`, `accesses`, `distinct_blocks`, `miss_ratio` and `half_width`, which
    is None if the value is exact. Sizes are in blocks; by default steps up to the footprint. `rate` is the
    share of the blocks to sample, chosen by `seed`. Releases the GIL.
    """

def synthesise(
    trace: Trace, block_sectors: int, seed: int, requests: int, duration_ns: int | None = None
) -> tuple[Trace, str]:
    """A trace synthesised from the profile of another, and that profile as JSON. Releases the GIL.

    It has `requests` requests, or ends after `duration_ns` if given.
    """

def disk_service_times(
    disk: str, seed: int, lba: bytes, sectors: bytes, is_write: bytes, gap_ns: bytes
) -> bytes:
    """The service time [ns] of each request on a disk, JSON in base units, one outstanding at a time.

    `lba`, `sectors` and `gap_ns` (from completion to the next request) are little-endian u64; `is_write` has
    one byte per request. `seed` determines the spindle's phase and speed.
    """

def results_version() -> int:
    """The version of the results: equal versions give equal rows for equal configurations."""
