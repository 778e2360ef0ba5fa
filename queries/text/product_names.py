"""Product names in place of catalogue identifiers, in tables for people; SQL and files keep identifiers."""

import pyarrow as pa

from destage.engine.catalog import find_product


def name_products(table: pa.Table) -> pa.Table:
    """Return rows with the product name of each controller and disk.

    Args:
        table: Rows whose axes have their dotted paths as names; those of catalogue entries end in `.use`.
    """
    for index, field in enumerate(table.schema):
        if field.name.endswith(".use"):
            values = table[index].to_pylist()
            names = [None if name is None else find_product(name) or name for name in values]
            table = table.set_column(index, field.name, pa.array(names, pa.string()))
    return table
