"""Which columns of a user's rows are computed: they have no unit, and their name is their heading."""

from collections.abc import Set as AbstractSet

import pyarrow as pa

_COMPUTED = b"destage.computed"


def mark_computed(table: pa.Table, unchanged: AbstractSet[str]) -> pa.Table:
    """Return rows whose columns are marked as computed, except for some [names in lower case]."""
    fields = [
        field if field.name.lower() in unchanged else field.with_metadata({_COMPUTED: b""})
        for field in table.schema
    ]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields))


def list_computed(table: pa.Table) -> frozenset[str]:
    """Return the columns that are marked as computed."""
    return frozenset(field.name for field in table.schema if _COMPUTED in (field.metadata or {}))


def unmark(table: pa.Table) -> pa.Table:
    """Return rows without marks."""
    fields = [
        field.remove_metadata() if field.name in list_computed(table) else field for field in table.schema
    ]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields))
