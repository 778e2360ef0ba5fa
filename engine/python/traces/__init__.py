"""Traces: reading them, what identifies their content, and the compact form that is committed and shipped.

A trace may be in any of the formats of `formats()`; see docs/traces.md for what is read of each. The compact
form is a Parquet file with one row per record, in recorded order: `t_ns` (time since the trace's start [ns]),
`process` (process id), `lba_512` and `n_512` (address and length [sectors of 512 bytes]), `op` (0 read,
1 write, 2 flush) and `flags` (the sum of 1 synchronous, 2 forced to the media (FUA), 4 metadata, 8 read
ahead, 16 preceded by a flush); and, where they are recorded, `volume` (its number; addresses count from its
start) and `response_ns` (recorded response time [ns], null where it is not known). It is smaller than the
packed text it is made from, and any tool that reads Parquet reads it.
"""

import copy
import hashlib
from collections.abc import Hashable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from destage.engine import _engine, configuration
from destage.engine.engine_errors import as_config_error, as_trace_error
from destage.engine.traces import files, places
from destage.errors import TraceError
from destage.objects import Location

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
"""The columns that every compact form has."""

VOLUME = pa.field("volume", pa.uint32(), nullable=False)
"""The volume's number, a column where a trace has several volumes."""

RESPONSE = pa.field("response_ns", pa.uint64(), metadata={"unit": "ns"})
"""The recorded response time, a column where one is known."""

# What was smallest of the encodings tried on a database's trace; the other columns have few values.
_ENCODINGS = {"t_ns": "DELTA_BINARY_PACKED", "lba_512": "BYTE_STREAM_SPLIT"}


def load(
    path: str | Location, *, format_name: str | None = None, skip_bad: int = 0, volume: int | None = None
) -> _engine.Trace:
    """Read a trace whole, or take it from memory where it was read before and has not changed since.

    Records that are not in order of time are sorted. Where a trace has several volumes, they are laid end to
    end in the order of their numbers, each from a multiple of 1 MiB on.

    Args:
        path: A trace in one of the formats of `formats`, plain or packed (gzip, xz, zstd): a file, or an
            object's address as in `s3://bucket/x.parquet`.
        format_name: The format's name; recognised by the content where it is None.
        skip_bad: How many lines or records that are wrong may be left out.
        volume: The number of the only volume to take; all where it is None.

    Raises:
        TraceError: It cannot be read; the message names file, line, column, value and what is allowed.
    """
    return _load_cached(path, (format_name, skip_bad, volume))[0]


def digest(
    path: str | Location, *, format_name: str | None = None, skip_bad: int = 0, volume: int | None = None
) -> str:
    """What identifies a trace's content, whatever file format holds it: blake2b-128 of its columns, in hex.

    The number of a trace's only volume and its response times change no run, and are no part of it.

    Raises:
        TraceError: It cannot be read.
    """
    return _load_cached(path, (format_name, skip_bad, volume))[1]


def formats() -> dict[str, str]:
    """The names of all formats that `load` reads, and what they are."""
    return {name: title for name, title, _ in _engine.trace_formats()} | {"parquet": "the compact form"}


def table(trace: _engine.Trace) -> pa.Table:
    """A trace as an Arrow table with the columns of the compact form."""
    return to_table(trace.columns())


def to_table(columns: Mapping[str, Any]) -> pa.Table:
    """Columns as the engine hands them over, as an Arrow table with the columns of the compact form."""
    fields = [field for field in (*SCHEMA, VOLUME) if field.name in columns]
    arrays = [
        pa.array(np.frombuffer(columns[field.name], dtype=field.type.to_pandas_dtype())) for field in fields
    ]
    if "response_ns" in columns:
        response, is_known = columns["response_ns"]
        unknown = ~np.frombuffer(is_known, dtype=bool)
        arrays.append(pa.array(np.frombuffer(response, dtype=np.uint64), mask=unknown))
        fields.append(RESPONSE)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def from_table(records: pa.Table) -> _engine.Trace:
    """A trace from an Arrow table with the columns of the compact form.

    Raises:
        TraceError: A column is missing, has nulls or does not fit its type, or a record is impossible.
    """
    try:
        return _engine.Trace.from_columns(from_arrow(records))
    except _engine.EngineTraceError as error:
        raise as_trace_error(error) from None


def from_arrow(records: pa.Table) -> dict[str, Any]:
    """The columns of an Arrow table with the columns of the compact form, as the engine takes them.

    Raises:
        TraceError: A column is missing, has nulls or does not fit its type.
    """
    optional = [field for field in (VOLUME, RESPONSE) if field.name in records.column_names]
    schema = pa.schema([*SCHEMA, *optional])
    for field in schema:
        if field.name not in records.column_names:
            names = ", ".join(SCHEMA.names)
            raise TraceError("trace.missing-column", f"missing; a compact trace has {names}", field.name)
        if field.name != RESPONSE.name and records[field.name].null_count:
            raise TraceError("trace.null-value", "null; every record needs a value", field.name)
    try:
        records = records.select(schema.names).cast(schema)
    except (pa.ArrowInvalid, ValueError) as error:
        raise TraceError("trace.bad-column", str(error)) from None
    columns: dict[str, Any] = {
        name: records[name].to_numpy().tobytes() for name in schema.names if name != RESPONSE.name
    }
    if RESPONSE.name in schema.names:
        response = records[RESPONSE.name]
        columns[RESPONSE.name] = (
            response.fill_null(0).to_numpy().tobytes(),
            response.is_valid().to_numpy().astype(np.uint8).tobytes(),
        )
    return columns


def write_parquet(trace: _engine.Trace, path: str | Path) -> None:
    """Write a trace in the compact form.

    Args:
        path: The file to make; replaced where it exists.
    """
    records = table(trace)
    with open_compact_writer(path, records.schema) as writer:
        writer.write_table(records, row_group_size=ROWS)


ROWS = 1 << 20
"""Rows of a row group of the compact form."""


def open_compact_writer(path: str | Path, schema: pa.Schema, *, level: int = 22) -> pq.ParquetWriter:
    """What writes the compact form, row group by row group.

    Args:
        path: The file to make; replaced where it exists.
        level: How hard zstd tries: 22 for what is kept for long, 3 for what should be quick.
    """
    return pq.ParquetWriter(
        path,
        schema,
        use_dictionary=[name for name in schema.names if name not in _ENCODINGS],
        column_encoding=_ENCODINGS,
        compression="zstd",
        compression_level=level,
        write_statistics=False,
    )


def bind(scenario: Mapping[str, Any], folder: str | Path) -> dict[str, Any]:
    """Tie a configuration's traces to their places: absolute names, and the digest of what they hold.

    Args:
        folder: The folder that relative names are relative to: the spec's.

    Returns:
        The configuration with `file` absolute and `digest` filled in for each stream that replays a trace.

    Raises:
        TraceError: A trace cannot be read, or is not the one that a given digest names.
    """
    bound: dict[str, Any] = copy.deepcopy(dict(scenario))
    for arrival in find_replays(bound):
        place = places.resolve_place(arrival["file"], folder)
        arrival.update(file=str(place), digest=_load_checked(place, arrival.get("digest"))[1])
    return bound


def load_bound(scenario: Mapping[str, Any]) -> dict[str, _engine.Trace]:
    """The traces of a bound configuration, by digest.

    Raises:
        TraceError: A trace cannot be read, or its content has another digest.
    """
    return {
        arrival["digest"]: _load_checked(places.resolve_place(arrival["file"]), arrival["digest"])[0]
        for arrival in find_replays(scenario)
    }


def _load_checked(place: Location, expected: str | None) -> tuple[_engine.Trace, str]:
    """A trace and its digest, which must be the expected one if there is one."""
    trace, found = _load_cached(place, (None, 0, None))
    if expected not in {None, found}:
        message = f"digest {found} differs from the digest {expected} in the configuration"
        raise TraceError("trace.changed", message, str(place))
    return trace, found


def record(scenario: configuration.Scenario, *, folder: str | Path = ".") -> _engine.Trace:
    """The requests that the hosts of a scenario issue, in order: a trace to replay or to hand on.

    Closed hosts ask when they are answered, so their requests depend on the array; those of open ones do not.
    `process` numbers the sources: the users of the first stream from 0 on, then those of the second.

    Args:
        scenario: A configuration of one array.

    Raises:
        ConfigError: With all mistakes found.
        TraceError: A trace cannot be read or replayed, or no request is issued.
    """
    bound = bind(configuration.normalise(scenario), folder)
    try:
        return _engine.record_requests(configuration.canonical_json(bound), load_bound(bound))
    except _engine.EngineConfigError as error:
        raise as_config_error(error) from None
    except _engine.EngineTraceError as error:
        raise as_trace_error(error) from None


def find_replays(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
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


def _load_cached(
    path: str | Location, options: tuple[str | None, int, int | None]
) -> tuple[_engine.Trace, str]:
    place = places.resolve_place(path)
    return _load(place, places.read_version(place), options)


@lru_cache(maxsize=8)
def _load(
    place: Location, _version: Hashable, options: tuple[str | None, int, int | None]
) -> tuple[_engine.Trace, str]:
    """A trace and its digest; the version stands in the key, so that what has changed is read again."""
    format_name, skip_bad, volume = options
    with files.open_trace(place) as file:
        if file.format_of(format_name) == "parquet":
            records = pq.read_table(file.path)
            if volume is not None:
                records = select_volume(records, volume)
                if not len(records):
                    raise TraceError("trace.empty", f"no record for volume {volume}")
            trace = from_table(records)
        else:
            reader = _engine.TraceReader(file.format_of(format_name), skip_bad=skip_bad, volume=volume)
            for piece in file.read_pieces():
                reader.feed(piece)
            reader.finish()
            trace = reader.trace()
    columns = trace.columns()
    content = hashlib.blake2b(digest_size=16)
    for name in (*SCHEMA.names, VOLUME.name):
        content.update(columns.get(name, b""))
    return trace, content.hexdigest()


def select_volume(records: pa.Table, volume: int) -> pa.Table:
    """The records of one volume; where there is no such column, all are of volume 0."""
    if VOLUME.name in records.column_names:
        return records.filter(pc.equal(records[VOLUME.name], volume))
    return records if volume == 0 else records.slice(0, 0)
