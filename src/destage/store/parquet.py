"""Parquet tables in files and objects; an object is read in one request."""

import pyarrow as pa
import pyarrow.parquet as pq

from destage.objects import Location
from destage.store.digests import read_checked


def read_parquet(place: Location, columns: list[str] | None = None) -> pa.Table:
    """Return the table in a Parquet file that carries the digest of its content in its name.

    Args:
        columns: The columns (default: all).

    Raises:
        StoreError: The content is not what was written.
    """
    with pq.ParquetFile(pa.BufferReader(read_checked(place))) as file:
        return file.read(columns=columns)


def read_parquet_schema(place: Location) -> pa.Schema:
    """Return the schema of a Parquet file; errors as in `read_parquet`."""
    with pq.ParquetFile(pa.BufferReader(read_checked(place))) as file:
        return file.schema_arrow


def as_parquet(table: pa.Table) -> bytes:
    """Return a table as a Parquet file, compressed with zstd."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    data: bytes = sink.getvalue().to_pybytes()
    return data
