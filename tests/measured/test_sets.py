"""Measured sets in a store: written as a whole or not at all, and read as they were written."""

from pathlib import Path

import pytest
from error_codes import has_code

from destage.errors import StoreError, UsageError
from destage.measured import sets
from destage.measured.line import MeasuredLine
from destage.store.files import digests
from destage.store.files.parquet import as_parquet

LINES = (
    MeasuredLine(array_label="a", tool="fio", source_file="x", workload="one", throughput_iops=100.0),
    MeasuredLine(
        array_label="a",
        tool="fio",
        source_file="x",
        depth=4,
        read_fraction=0.5,
        derived_figures=("read_fraction",),
        unknown_figures={"outstanding": "the job pauses", "response_mean_us": "not measured"},
    ),
)


def test_a_set_is_read_as_it_was_written(tmp_path: Path) -> None:
    sets.write_set(tmp_path, "first", LINES)
    sets.write_set(tmp_path, "second", LINES[:1])
    assert sets.list_sets(tmp_path) == ["first", "second"]
    assert sets.read_set(tmp_path, "first") == sets.MeasuredSet("first", LINES)
    table = sets.read_all(tmp_path)
    assert table.schema == sets.schema()
    assert table["measured_set"].to_pylist() == ["first", "first", "second"]
    assert table["line"].to_pylist() == [1, 2, 1]


def test_a_set_of_an_earlier_version_has_no_bases(tmp_path: Path) -> None:
    sets.write_set(tmp_path, "a", LINES)
    table = sets.read_table(tmp_path, "a").drop_columns(["derived_figures", "unknown_figures"])
    (file,) = (tmp_path / "measured" / "a").iterdir()
    data = as_parquet(table)
    file.unlink()
    file.with_name(f"000000-{digests.digest_of(data)}.parquet").write_bytes(data)
    second = sets.read_set(tmp_path, "a").lines[1]
    assert (second.depth, second.derived_figures, second.unknown_figures) == (4, (), {})


def test_a_set_is_replaced_only_on_request(tmp_path: Path) -> None:
    sets.write_set(tmp_path, "a", LINES)
    with pytest.raises(StoreError, check=has_code("store.measured-set-exists")):
        sets.write_set(tmp_path, "a", LINES[:1])
    assert len(sets.read_set(tmp_path, "a").lines) == 2
    sets.write_set(tmp_path, "a", LINES[:1], replace=True)
    assert len(sets.read_set(tmp_path, "a").lines) == 1
    assert len(list((tmp_path / "measured" / "a").iterdir())) == 1


def test_an_interrupted_replacement_leaves_the_new_set(tmp_path: Path) -> None:
    """The earlier file is deleted after the new one is complete."""
    sets.write_set(tmp_path, "a", LINES)
    (earlier,) = (tmp_path / "measured" / "a").iterdir()
    content = earlier.read_bytes()
    sets.write_set(tmp_path, "a", LINES[:1], replace=True)
    earlier.write_bytes(content)
    assert len(sets.read_set(tmp_path, "a").lines) == 1


def test_a_damaged_set_is_an_error(tmp_path: Path) -> None:
    sets.write_set(tmp_path, "a", LINES)
    (file,) = (tmp_path / "measured" / "a").iterdir()
    assert digests.find_digest(file.name) == digests.digest_of(file.read_bytes())
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(StoreError, check=has_code("store.damaged-file")):
        sets.read_set(tmp_path, "a")


def test_a_deleted_set_is_unknown(tmp_path: Path) -> None:
    sets.write_set(tmp_path, "a", LINES)
    sets.delete_set(tmp_path, "a")
    assert sets.list_sets(tmp_path) == []
    for act in (sets.read_set, sets.delete_set):
        with pytest.raises(StoreError, check=has_code("store.unknown-measured-set")):
            act(tmp_path, "a")


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "a b", "../a", "ä"])
def test_a_name_is_that_of_a_folder_in_every_store(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, check=has_code("usage.bad-value")):
        sets.write_set(tmp_path, name, LINES)
    with pytest.raises(StoreError):
        sets.read_set(tmp_path, name)


def test_a_sweep_elsewhere_has_no_store(tmp_path: Path) -> None:
    assert sets.find_store(tmp_path / "sweeps" / "a-1") == tmp_path
    assert sets.find_store(tmp_path / "a-1") is None
    assert sets.read_all(None).num_rows == 0
