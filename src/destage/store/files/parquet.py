"""Parquet tables in files and objects; an object is read in one request."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from destage.machine import read_memory_size
from destage.objects import Location, ObjectPath
from destage.store.files.digests import damaged, invalid, is_intact, read_checked


def read_parquet(place: Location) -> pa.Table:
    """Return the table in a Parquet file that carries the digest of its content in its name.

    Raises:
        StoreError: The content is not what was written.
    """
    with open_parquet(place) as file:
        if not file.schema_arrow.names:
            raise invalid(place, "has no columns")
        return file.read()


@contextmanager
def open_parquet(place: Location) -> Iterator[pq.ParquetFile]:
    """Check a Parquet file and open it for the length of a `with` block; an object is read whole.

    Raises:
        StoreError: The content is not what was written, or cannot be read.
    """
    if isinstance(place, ObjectPath):
        source = pa.BufferReader(read_checked(place))
    elif is_intact(place):
        source = pa.OSFile(str(place))
    else:
        raise damaged(place)
    try:
        with source, pq.ParquetFile(source) as file:
            metadata = file.metadata
            if metadata.num_rows * metadata.num_columns > read_memory_size():
                raise invalid(place, f"{metadata.num_rows:,} rows do not fit in this machine's memory")
            yield file
    except (pa.ArrowException, OSError, ValueError) as error:
        raise invalid(place, "not a readable Parquet file") from error


def check_types(schema: pa.Schema, wanted: Iterable[pa.Field], place: Location) -> None:
    """Check the types of those of some columns that a table has; a dictionary counts as its values.

    Raises:
        StoreError: A column has another type.
    """
    for field in wanted:
        number = schema.get_field_index(field.name)
        if schema.names.count(field.name) > 1:
            raise invalid(place, f"has the column {field.name} twice")
        if number >= 0 and _values(schema.field(number).type) != _values(field.type):
            raise invalid(place, f"the column {field.name} must be {_values(field.type)}")


def check_values(table: pa.Table, schema: pa.Schema, place: Location) -> None:
    """Check that a table has the columns of a schema, with a value where one is required; numbers are finite.

    Raises:
        StoreError: It lacks a column or a value.
    """
    check_types(table.schema, schema, place)
    for field in schema:
        if field.name not in table.column_names:
            raise invalid(place, f"has no column {field.name}")
        column = table[field.name]
        if column.null_count and not field.nullable:
            raise invalid(place, f"the column {field.name} must have a value in each row")
    for field in table.schema:
        is_number = pa.types.is_floating(field.type)
        if is_number and not pc.all(pc.is_finite(table[field.name]), min_count=0).as_py():
            raise invalid(place, f"the column {field.name} must have finite numbers")


def _values(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def as_parquet(table: pa.Table) -> bytes:
    """Return a table as a Parquet file, compressed with zstd."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    data: bytes = sink.getvalue().to_pybytes()
    return data
