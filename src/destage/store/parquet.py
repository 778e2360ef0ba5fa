"""Parquet tables in files and objects; an object is read in one request."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from destage.objects import Location, ObjectPath


@contextmanager
def open_parquet(place: Location) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file for the length of a `with` block.

    Raises:
        pa.ArrowException: It is damaged or not Parquet.
    """
    source = pa.BufferReader(place.read_bytes()) if isinstance(place, ObjectPath) else place
    with pq.ParquetFile(source) as file:
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
