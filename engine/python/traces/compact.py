"""The compact form of a trace: a Parquet file with one row per record, in recorded order.

Its columns are `t_ns` (time since the trace's start [ns]), `process` (process id), `lba_512` and `n_512`
(address and length [sectors of 512 bytes]), `op` (0 read, 1 write, 2 flush) and `flags` (the sum of 1
synchronous, 2 forced to the media (FUA), 4 metadata, 8 read ahead, 16 preceded by a flush); and, if recorded,
`volume` (its number; addresses count from its start) and `response_ns` (recorded response time [ns], null if
unknown).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from destage.engine import _engine
from destage.engine.configuration import translated_errors
from destage.engine.traces.files import check_size
from destage.errors import TraceError

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

_RECORD_BYTES = 26
"""Memory of a record, without optional columns [bytes]."""

ROWS = 1 << 20
"""Rows of a row group of the compact form."""

# The smallest of the encodings tried on a database's trace; the other columns have few values.
_ENCODINGS = {"t_ns": "DELTA_BINARY_PACKED", "lba_512": "BYTE_STREAM_SPLIT"}


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


def read(path: Path, volume: int | None, most: int | None) -> pa.Table:
    """Read a trace in the compact form.

    Args:
        volume: The only volume to read; None for all.
        most: The most memory that its records may need [bytes].

    Raises:
        TraceError: It needs more memory, or has no record for the volume.
    """
    with pq.ParquetFile(path) as file:
        metadata = file.metadata
        check_size(metadata.num_rows * _RECORD_BYTES, most)
        check_size(
            sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups)), most
        )
        records = file.read()
    if volume is not None:
        records = select_volume(records, volume)
        if not len(records):
            raise TraceError("trace.empty", f"no record for volume {volume}")
    return records


def write_parquet(trace: _engine.Trace, path: str | Path) -> None:
    """Write a trace in the compact form.

    Args:
        path: The file; replaced if it exists.
    """
    records = table(trace)
    with open_writer(path, records.schema) as writer:
        writer.write_table(records, row_group_size=ROWS)


def open_writer(path: str | Path, schema: pa.Schema, *, level: int = 22) -> pq.ParquetWriter:
    """Open a writer of the compact form.

    Args:
        level: The zstd level: 22 for files that are kept, 3 for speed.
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


def select_volume(records: pa.Table, volume: int) -> pa.Table:
    """Return the records of one volume; without that column, all are of volume 0."""
    if VOLUME.name in records.column_names:
        return records.filter(pc.equal(records[VOLUME.name], volume))
    return records if volume == 0 else records.slice(0, 0)
