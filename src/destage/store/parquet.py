"""Parquet tables in files and objects; an object is read in one request."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from destage.machine import read_memory_size
from destage.objects import Location, ObjectPath


@contextmanager
def open_parquet(place: Location) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file for the length of a `with` block.

    Raises:
        pa.ArrowException: It is damaged or not Parquet.
    """
    if isinstance(place, ObjectPath):
        source: Any = pa.BufferReader(place.read_bytes())
    elif place.exists() and not place.is_file():
        raise pa.ArrowInvalid("a pipe, socket, device or directory; must be a file")
    else:
        source = place
    with pq.ParquetFile(source) as file:
        found = file.metadata
        if found.num_rows * found.num_columns > read_memory_size():
            raise pa.ArrowInvalid(f"{found.num_rows:,} rows do not fit in this machine's memory")
        yield file


def read_parquet(place: Location) -> pa.Table:
    """Return the table in a Parquet file; errors as in `open_parquet`."""
    with open_parquet(place) as file:
        return file.read()


def as_parquet(table: pa.Table) -> bytes:
    """Return a table as a Parquet file, compressed with zstd."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data
