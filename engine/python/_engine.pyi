"""The native engine: a thin layer over the Rust core, for `destage.engine` to call."""

# ruff: noqa: PYI021 - the stub is where the native functions are documented

from collections.abc import Mapping, Sequence
from typing import final

__all__ = [
    "Batch",
    "EngineConfigError",
    "EngineTraceError",
    "Trace",
    "columns",
    "count_hits",
    "disk_service_times",
    "normalise",
    "record_requests",
    "results_version",
    "schema",
    "simulate_batch",
]

class EngineConfigError(ValueError):
    """A configuration breaks rules."""

    issues: list[tuple[str, str]]
    """The dotted path of each rule broken, and what is allowed there."""

class EngineTraceError(ValueError):
    """A trace cannot be read; the message names line, column, value and what is allowed."""

@final
class Trace:
    """A recorded sequence of block requests."""

    @staticmethod
    def from_blkparse(data: bytes, name: str) -> Trace:
        """Read blkparse's default text format."""
    @staticmethod
    def from_columns(
        t_ns: bytes, process: bytes, lba_512: bytes, n_512: bytes, op: bytes, flags: bytes
    ) -> Trace:
        """Make a trace from little-endian columns of u64, u32, u64, u32, u8 and u8."""
    def columns(self) -> dict[str, bytes]:
        """The columns, as `from_columns` takes them."""
    def __len__(self) -> int: ...

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

def columns() -> str:
    """The columns of a result row, a JSON list of name, type, unit and meaning."""

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

def disk_service_times(
    disk: str, seed: int, lba: bytes, sectors: bytes, is_write: bytes, gap_ns: bytes
) -> bytes:
    """The service time [ns] of each request on a disk, JSON in base units, one outstanding at a time.

    `lba`, `sectors` and `gap_ns` (from completion to the next request) are little-endian u64; `is_write` has
    a byte for each request. `seed` draws the spindle's phase and speed.
    """

def results_version() -> int:
    """The version of results: equal versions give equal rows for equal configurations."""
