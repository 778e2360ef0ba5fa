"""Traces: reading, the digest of their content, and the compact form.

`formats()` lists the formats; docs/traces.md says what is read of each. The compact form is a Parquet file
with one row per record, in recorded order: `t_ns` (time since the trace's start [ns]), `process` (process
id), `lba_512` and `n_512` (address and length [sectors of 512 bytes]), `op` (0 read, 1 write, 2 flush) and
`flags` (the sum of 1 synchronous, 2 forced to the media (FUA), 4 metadata, 8 read ahead, 16 preceded by a
flush); and, if recorded, `volume` (its number; addresses count from its start) and `response_ns` (recorded
response time [ns], null if unknown).
"""

import copy
import hashlib
from collections.abc import Hashable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from destage.engine import _engine, configuration
from destage.engine.engine_errors import translated_errors
from destage.engine.traces import files, places
from destage.engine.traces.delimited import Delimited
from destage.errors import TraceError
from destage.machine import read_memory_size
from destage.objects import Location

if TYPE_CHECKING:
    import pyarrow.parquet as pq

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
"""The volume's number, a column of traces with several volumes."""

RESPONSE = pa.field("response_ns", pa.uint64(), metadata={"unit": "ns"})
"""The recorded response time, a column if any is known."""

# The smallest of the encodings tried on a database's trace; the other columns have few values.
_ENCODINGS = {"t_ns": "DELTA_BINARY_PACKED", "lba_512": "BYTE_STREAM_SPLIT"}


def load(
    path: str | Location,
    *,
    format_name: str | None = None,
    columns: Delimited | None = None,
    skip_bad: int = 0,
    volume: int | None = None,
) -> _engine.Trace:
    """Read a trace; an unchanged one that was read before is cached.

    Records are sorted by time. Several volumes are laid end to end by number, each aligned to 1 MiB.

    Args:
        path: A trace in one of the formats of `formats`, plain or compressed (gzip, xz, zstd): a file or an
            object's address as in `s3://bucket/x.parquet`.
        format_name: The format's name; None to recognise the content.
        columns: The columns of a delimited text, which no format name describes.
        skip_bad: Maximum malformed records to skip.
        volume: The only volume to read; None for all.
    """
    return _load_cached(path, (format_name, columns, skip_bad, volume))[0]


def digest(
    path: str | Location,
    *,
    format_name: str | None = None,
    columns: Delimited | None = None,
    skip_bad: int = 0,
    volume: int | None = None,
) -> str:
    """Return the digest of a trace's content, independent of its format: blake2b-128 of its columns, in hex.

    The number of an only volume and the response times, which affect no run, are not part of it.
    """
    return _load_cached(path, (format_name, columns, skip_bad, volume))[1]


def formats() -> dict[str, str]:
    """Return the formats that `load` reads, with their titles."""
    return {name: title for name, title, _ in _engine.trace_formats()} | {"parquet": "the compact form"}


def table(trace: _engine.Trace) -> pa.Table:
    """Return a trace as an Arrow table with the columns of the compact form."""
    return to_table(trace.columns())


def to_table(columns: Mapping[str, Any]) -> pa.Table:
    """Return the engine's columns as an Arrow table with the columns of the compact form."""
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
    """Return a trace from an Arrow table with the columns of the compact form.

    Raises:
        TraceError: A column is missing, has nulls or does not fit its type, or a record is impossible.
    """
    with translated_errors():
        return _engine.Trace.from_columns(from_arrow(records))


def from_arrow(records: pa.Table) -> dict[str, Any]:
    """Return the engine's columns from an Arrow table with the columns of the compact form."""
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
        path: The file; replaced if it exists.
    """
    records = table(trace)
    with open_compact_writer(path, records.schema) as writer:
        writer.write_table(records, row_group_size=ROWS)


_RECORD_BYTES = 26
"""Memory of a record, without optional columns [bytes]."""
ROWS = 1 << 20
"""Rows of a row group of the compact form."""


def open_compact_writer(path: str | Path, schema: pa.Schema, *, level: int = 22) -> "pq.ParquetWriter":
    """Open a writer of the compact form.

    Args:
        level: The zstd level: 22 for files that are kept, 3 for speed.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - most commands read no trace

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
    """Bind a configuration to its traces: absolute paths, and the digests of their contents.

    Args:
        folder: The folder of relative paths: that of the study.

    Returns:
        The configuration with `file` absolute and `digest` filled in for each stream that replays a trace.

    Raises:
        TraceError: A trace cannot be read, or differs from a given digest.
    """
    bound: dict[str, Any] = copy.deepcopy(dict(scenario))
    for arrival in find_replays(bound):
        place = places.resolve_place(arrival["file"], folder)
        arrival.update(file=str(place), digest=_load_checked(place, arrival.get("digest"))[1])
    return bound


def load_bound(scenario: Mapping[str, Any]) -> dict[str, _engine.Trace]:
    """Return the traces of a bound configuration by digest.

    Raises:
        TraceError: A trace cannot be read, or its digest differs.
    """
    return {
        arrival["digest"]: _load_checked(places.resolve_place(arrival["file"]), arrival["digest"])[0]
        for arrival in find_replays(scenario)
    }


def _load_checked(place: Location, expected: str | None) -> tuple[_engine.Trace, str]:
    """Return a trace and its digest, which must be the expected one, if any."""
    trace, found = _load_cached(place, _RECOGNISED)
    if expected not in {None, found}:
        message = f"digest {found} differs from the digest {expected} in the configuration"
        raise TraceError("trace.changed", message, str(place))
    return trace, found


def record(scenario: configuration.Scenario, *, folder: str | Path = ".") -> _engine.Trace:
    """Record the requests of a configuration's hosts as a trace.

    The requests of closed streams depend on the array; those of open ones do not. `process` numbers the
    sources: the users of the first stream from 0, then those of the second.

    Args:
        scenario: A configuration of one array.

    Raises:
        TraceError: A trace cannot be read or replayed, or there are no requests.
    """
    bound = bind(configuration.normalise(scenario), folder)
    with translated_errors():
        return _engine.record_requests(configuration.canonical_json(bound), load_bound(bound))


def find_replays(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the arrival tables of the streams that replay a trace."""
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


_Options = tuple[str | None, Delimited | None, int, int | None]
_RECOGNISED: _Options = (None, None, 0, None)


def _load_cached(path: str | Location, options: _Options) -> tuple[_engine.Trace, str]:
    place = places.resolve_place(path)
    return _load(place, places.read_version(place), options)


@lru_cache(maxsize=8)
def _load(place: Location, _version: Hashable, options: _Options) -> tuple[_engine.Trace, str]:
    """Return a trace and its digest; a changed version is read again."""
    format_name, columns, skip_bad, volume = options
    most = read_memory_size() // 2
    with files.open_trace(place) as file:
        name = file.format_of(format_name, columns)
        if name == "parquet":
            import pyarrow.parquet as pq  # noqa: PLC0415 - as above

            with pq.ParquetFile(file.path) as compact:
                found = compact.metadata
                files.check_size(found.num_rows * _RECORD_BYTES, most)
                files.check_size(
                    sum(found.row_group(at).total_byte_size for at in range(found.num_row_groups)), most
                )
                records = compact.read()
            if volume is not None:
                records = select_volume(records, volume)
                if not len(records):
                    raise TraceError("trace.empty", f"no record for volume {volume}")
            trace = from_table(records)
        else:
            reader = file.open_reader(name, columns, skip_bad=skip_bad, volume=volume)
            for piece in file.read_pieces(most):
                reader.feed(piece)
            reader.finish()
            trace = reader.trace()
    found_columns = trace.columns()
    content = hashlib.blake2b(digest_size=16)
    for field in (*SCHEMA.names, VOLUME.name):
        content.update(found_columns.get(field, b""))
    return trace, content.hexdigest()


def select_volume(records: pa.Table, volume: int) -> pa.Table:
    """Return the records of one volume; without that column, all are of volume 0."""
    if VOLUME.name in records.column_names:
        import pyarrow.compute as pc  # noqa: PLC0415 - takes a tenth of the start of a simulation

        return records.filter(pc.equal(records[VOLUME.name], volume))
    return records if volume == 0 else records.slice(0, 0)
