"""Measured sets of a store in a bucket are those of a store in a folder."""

import pytest
from error_codes import has_code
from measured_loads import line

from destage.errors import StoreError
from destage.measured import sets
from destage.store import locate


def test_measured_sets_are_kept_in_buckets(store_url: str) -> None:
    store = locate(store_url)
    assert sets.list_sets(store) == []
    sets.write_set(store, "lab", [line(8), line(16)])
    with pytest.raises(StoreError, check=has_code("store.measured-set-exists")):
        sets.write_set(store, "lab", [line(8)])
    sets.write_set(store, "lab", [line(8)], replace=True)
    sets.write_set(store, "other", [line(2)])
    assert sets.list_sets(store) == ["lab", "other"]
    assert sets.read_set(store, "lab").lines == (line(8),)
    assert sets.read_all(store)["outstanding"].to_pylist() == [8.0, 2.0]
    sets.delete_set(store, "lab")
    assert sets.list_sets(store) == ["other"]
