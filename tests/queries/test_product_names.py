"""Tables for people have product names; identifiers stay where programs read them."""

import pyarrow as pa

from destage.engine import catalog
from destage.engine.catalog import find_product
from destage.queries.text.plain_values import name_products


def test_every_product_has_its_own_short_name() -> None:
    entries = [*catalog.entries("controllers"), *catalog.entries("disks")]
    names = [find_product(entry.name) for entry in entries]
    assert len(set(names)) == len(entries)
    for entry, name in zip(entries, names, strict=True):
        assert name is not None
        assert name.split()[0].rstrip(",") == entry.title.split()[0].rstrip(",")


def test_names_that_were_read_by_hand() -> None:
    assert find_product("exos_x18") == "Seagate Exos X18 NL-SAS 18 TB"
    assert find_product("smart_array_6402_msa30") == "HP Smart Array 6402, 256 MB"
    assert find_product("smart_array_p410_1gb") == "HP Smart Array P410(i), 1 GB"
    assert find_product("vdi") is None


def test_only_catalogue_entries_are_renamed() -> None:
    table = pa.table(
        {
            "array.disk.use": ["exos_x18", None, "my_disk"],
            "label": ["exos_x18", "b", "c"],
            "workload.users": [1, 2, 3],
        }
    )
    named = name_products(table)
    assert named["array.disk.use"].to_pylist() == ["Seagate Exos X18 NL-SAS 18 TB", None, "my_disk"]
    assert named.drop_columns(["array.disk.use"]) == table.drop_columns(["array.disk.use"])
