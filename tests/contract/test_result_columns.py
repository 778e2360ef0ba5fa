"""The engine's table of columns is the only list: batches, schema and stored rows follow from it."""

import pyarrow as pa

from destage.engine import _engine, columns, results_schema
from destage.store.fragment_files.stored_rows import rows_schema


def test_batches_have_the_columns_of_the_table() -> None:
    schema = pa.record_batch(_engine.simulate_batch(["{}"], {})[0]).schema
    assert schema.names == [column.name for column in columns()]
    assert schema.types == results_schema().types


def test_stored_rows_have_every_column() -> None:
    fields = list(rows_schema())
    assert [field for field in fields if field.name in results_schema().names] == list(results_schema())


def test_names_are_unique() -> None:
    names = rows_schema().names
    assert len(set(names)) == len(names)
