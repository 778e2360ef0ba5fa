"""Traces: reading them, what identifies their content, and the compact form that is committed and shipped.

The compact form is a Parquet file with one row per record, in recorded order: `t_ns` (time since the
trace's start [ns]), `process` (process id), `lba_512` and `n_512` (address and length [sectors of 512
bytes]), `op` (0 read, 1 write, 2 flush) and `flags` (the sum of 1 synchronous, 2 forced to the media (FUA),
4 metadata, 8 read ahead, 16 preceded by a flush). It is smaller than the packed text it is made from, and
any tool that reads Parquet reads it.
"""

import copy
import gzip
import hashlib
import lzma
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from destage.engine import _engine, configuration
from destage.errors import ConfigError, TraceError

SCHEMA = pa.schema(
    [
        pa.field("t_ns", pa.uint64(), nullable=False, metadata={"unit": "ns"}),
        pa.field("process", pa.uint32(), nullable=False),
        pa.field("lba_512", pa.uint64(), nullable=False, metadata={"unit": "sectors of 512 bytes"}),
        pa.field("n_512", pa.uint32(), nullable=False, metadata={"unit": "sectors of 512 bytes"}),
        pa.field("op", pa.uint8(), nullable=False),
        pa.field("flags", pa.uint8(), nullable=False),
    ]
)
"""The columns of the compact form."""

# What was smallest of the encodings tried on a database's trace; the other columns have few values.
_ENCODINGS = {"t_ns": "DELTA_BINARY_PACKED", "lba_512": "BYTE_STREAM_SPLIT"}


def load(path: str | Path) -> _engine.Trace:
    """Read a trace, or take it from memory where this very file was read before.

    Args:
        path: A compact Parquet file (`.parquet`), or blkparse text, plain or packed (`.gz`, `.xz`).

    Raises:
        TraceError: The file cannot be read; the message names file, line, column, value and what is allowed.
    """
    path = Path(path).absolute()
    try:
        stat = path.stat()
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}") from None
    return _load(path, stat.st_mtime_ns, stat.st_size)[0]


def digest(path: str | Path) -> str:
    """What identifies a trace's content, whatever file format holds it: blake2b-128 of its columns, in hex.

    Args:
        path: A trace that `load` reads.

    Raises:
        TraceError: The file cannot be read.
    """
    load(path)
    path = Path(path).absolute()
    stat = path.stat()
    return _load(path, stat.st_mtime_ns, stat.st_size)[1]


def table(trace: _engine.Trace) -> pa.Table:
    """A trace as an Arrow table with the columns of the compact form."""
    raw = trace.columns()
    arrays = [
        pa.array(np.frombuffer(raw[field.name], dtype=field.type.to_pandas_dtype())) for field in SCHEMA
    ]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def from_table(records: pa.Table) -> _engine.Trace:
    """A trace from an Arrow table with the columns of the compact form.

    Raises:
        TraceError: A column is missing, has nulls or does not fit its type, or a record is impossible.
    """
    for name in SCHEMA.names:
        if name not in records.column_names:
            raise TraceError(f"has no column {name!r}; a compact trace has {', '.join(SCHEMA.names)}")
        if records[name].null_count:
            raise TraceError(f"column {name!r} has nulls; every record needs a value")
    try:
        records = records.select(SCHEMA.names).cast(SCHEMA)
        return _engine.Trace.from_columns(
            **{name: records[name].to_numpy().tobytes() for name in SCHEMA.names}
        )
    except (pa.ArrowInvalid, ValueError) as error:
        raise TraceError(str(error)) from None


def write_parquet(trace: _engine.Trace, path: str | Path) -> None:
    """Write a trace in the compact form.

    Args:
        trace: The trace.
        path: The file to make; replaced where it exists.
    """
    pq.write_table(
        table(trace),
        path,
        row_group_size=1 << 20,
        use_dictionary=[name for name in SCHEMA.names if name not in _ENCODINGS],
        column_encoding=_ENCODINGS,
        compression="zstd",
        compression_level=22,
        write_statistics=False,
    )


def bind(scenario: Mapping[str, Any], folder: str | Path) -> dict[str, Any]:
    """Tie a configuration's traces to their files: absolute names, and the digest of what they hold.

    Args:
        scenario: A configuration.
        folder: The folder that relative names are relative to: the spec's.

    Returns:
        The configuration with `file` absolute and `digest` filled in for each stream that replays a trace.

    Raises:
        TraceError: A trace cannot be read, or is not the one that a given digest names.
    """
    bound: dict[str, Any] = copy.deepcopy(dict(scenario))
    for arrival in replays(bound):
        path = Path(folder, arrival["file"]).absolute()
        found = digest(path)
        if arrival.get("digest") not in {None, found}:
            raise TraceError(
                f"{path}: the digest is {found}, and the configuration asks for {arrival['digest']}"
            )
        arrival.update(file=str(path), digest=found)
    return bound


def record(scenario: configuration.Scenario, *, folder: str | Path = ".") -> _engine.Trace:
    """The requests that the hosts of a scenario issue, in order: a trace to replay or to hand on.

    Closed hosts ask when they are answered, so their requests depend on the array; those of open ones do not.
    `process` numbers the sources: the users of the first stream from 0 on, then those of the second.

    Args:
        scenario: A configuration of one array.
        folder: The folder that a relative trace file is relative to.

    Raises:
        ConfigError: With all mistakes found.
        TraceError: A trace cannot be read or replayed, or no request is issued.
    """
    bound = bind(configuration.normalise(scenario), folder)
    loaded = {arrival["digest"]: load(arrival["file"]) for arrival in replays(bound)}
    try:
        return _engine.record_requests(configuration.canonical_json(bound), loaded)
    except _engine.EngineConfigError as error:
        raise ConfigError(str(error)) from None
    except _engine.EngineTraceError as error:
        raise TraceError(str(error)) from None


def replays(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The arrival tables of the streams that replay a trace, as they stand in the configuration."""
    workload = scenario.get("workload")
    streams = workload.get("streams") if isinstance(workload, Mapping) else None
    arrivals = [stream.get("arrival") for stream in streams or () if isinstance(stream, dict)]
    return [
        arrival
        for arrival in arrivals
        if isinstance(arrival, dict)
        and arrival.get("kind") == "trace"
        and isinstance(arrival.get("file"), str)
    ]


@lru_cache(maxsize=8)
def _load(path: Path, _modified_ns: int, _size: int) -> tuple[_engine.Trace, str]:
    """A trace and its digest; time and size stand in the key, so that a changed file is read again."""
    try:
        trace = from_table(pq.read_table(path)) if path.suffix == ".parquet" else _from_text(path)
    except (pa.ArrowInvalid, OSError, EOFError, lzma.LZMAError) as error:
        raise TraceError(f"{path}: cannot be read: {error}") from None
    except (TraceError, _engine.EngineTraceError) as error:
        raise TraceError(f"{path}: {error}") from None
    columns = trace.columns()
    content = hashlib.blake2b(digest_size=16)
    for name in SCHEMA.names:
        content.update(columns[name])
    return trace, content.hexdigest()


def _from_text(path: Path) -> _engine.Trace:
    match path.suffix:
        case ".xz":
            text = lzma.decompress(path.read_bytes())
        case ".gz":
            text = gzip.decompress(path.read_bytes())
        case _:
            text = path.read_bytes()
    return _engine.Trace.from_blkparse(text, "")
