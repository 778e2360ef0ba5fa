"""`destage admin export`: flat files for other programs, which explain themselves and are up to date."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from small_studies import small_seek

from destage import sweeps
from destage.queries.exports import sweep_export

Destage = Callable[..., Any]
FILES = {"points.parquet", "runs.parquet", "README.md"}


def _find_sweep(folder: Path) -> Path:
    (path,) = (folder / "store" / "sweeps").iterdir()
    return path


def _list_exports(path: Path) -> set[str]:
    return {file.name for file in path.iterdir() if file.is_file() and file.name != "lease"}


def test_the_end_of_a_sweep_writes_flat_files(destage: Destage, study: Path, tmp_path: Path) -> None:
    """Plain DuckDB reads from them, by axes and labels, what `destage query` returns."""
    assert destage("run", str(study)).code == 0
    path = _find_sweep(tmp_path)
    assert _list_exports(path) == FILES
    columns = "users, battery_state, response_p95_us, response_p95_us_low, n"
    read = duckdb.execute(f"SELECT {columns} FROM '{path}/points.parquet'").fetchall()  # noqa: S608
    asked = json.loads(destage("query", "small", f"SELECT {columns} FROM points", "--json").out)  # noqa: S608
    assert read == [tuple(row.values()) for row in asked]
    assert len(read) == 4
    runs = pq.read_table(path / "runs.parquet")
    assert runs.num_rows == 8
    assert {"users", "battery_state", "replicate", "run_id", "label", "status"} <= set(runs.column_names)
    assert not any(field.type.num_fields for field in runs.schema)


@pytest.mark.usefixtures("sweep")
def test_columns_have_units_and_meanings(tmp_path: Path) -> None:
    """They are in Arrow's metadata of each column, and in the key-value metadata that DuckDB shows."""
    path = _find_sweep(tmp_path)
    schema = pq.read_schema(path / "points.parquet")
    p95 = schema.field("response_p95_us").metadata
    assert p95[b"unit"] == b"us"
    assert b"95th percentile" in p95[b"meaning"]
    assert schema.field("battery_state").metadata[b"path"] == b"controller.battery.state"
    statement = f"SELECT decode(value) FROM parquet_kv_metadata('{path}/runs.parquet') "  # noqa: S608
    ((text,),) = duckdb.execute(statement + "WHERE decode(key) = 'destage.columns'").fetchall()
    columns = {column["name"]: column for column in json.loads(text)}
    assert list(columns) == pq.read_schema(path / "runs.parquet").names
    assert columns["response_p95_us"]["unit"] == "us"
    page = (path / "README.md").read_text()
    assert all(f"| `{name}` |" in page for name in columns if not name.endswith(("_low", "_high")))
    assert all(f"`{name}/" in page for name in ("fragments", "generations"))


def test_a_seek_exports_its_answers(destage: Destage, tmp_path: Path) -> None:
    """The answer of each point is a file of its own, with the axes."""
    (tmp_path / "seek.yaml").write_text(small_seek("seek", [1, 2], 200))
    done = destage("run", str(tmp_path / "seek.yaml"), "--json")
    answers = pq.read_table(_find_sweep(tmp_path) / "answers.parquet")
    rows = json.loads(done.out)["design_space"]
    assert answers["users_supported"].to_pylist() == [row["users_supported"] for row in rows]
    assert answers["disks"].to_pylist() == [1, 2]


@pytest.mark.usefixtures("sweep")
def test_added_runs_remove_the_files(destage: Destage, study: Path, tmp_path: Path) -> None:
    """A session of the Python API removes them before it adds a row; the next command writes them."""
    path = _find_sweep(tmp_path)
    before = (path / "points.parquet").stat().st_mtime_ns
    destage("run", str(study))
    assert (path / "points.parquet").stat().st_mtime_ns == before
    larger = study.read_text().replace("[5, 10]", "[5, 10, 20]")
    study.write_text(larger)
    outcome = sweeps.run(sweeps.load_study(study), tmp_path / "store")
    assert outcome.path == path
    assert _list_exports(path) == set()
    destage("run", str(study))
    assert pq.read_metadata(path / "points.parquet").num_rows == 6


@pytest.mark.usefixtures("sweep")
def test_compacting_keeps_the_files_valid(destage: Destage, tmp_path: Path) -> None:
    """They do not count as fragments, and have the rows of the compacted ones."""
    path = _find_sweep(tmp_path)
    before = pq.read_table(path / "points.parquet")
    assert json.loads(destage("admin", "compact", "small", "--json").out)["rows"] == 8
    assert destage("admin", "doctor").code == 0
    assert destage("admin", "export", "small").code == 0
    assert pq.read_table(path / "points.parquet").equals(before)


def test_large_sweeps_are_exported_on_request(
    destage: Destage, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At their end there is only the page, which names the command."""
    monkeypatch.setattr(sweep_export, "MOST_AT_END", 7)
    destage("run", str(study))
    path = _find_sweep(tmp_path)
    assert _list_exports(path) == {"README.md"}
    assert f"destage admin export {path.name}" in (path / "README.md").read_text()
    done = json.loads(destage("admin", "export", "small", "--json").out)
    assert done == {"folder": str(path), "rows": {"points.parquet": 4, "runs.parquet": 8}}
    assert _list_exports(path) == FILES


@pytest.mark.usefixtures("sweep")
def test_the_page_says_that_rows_are_missing(destage: Destage, tmp_path: Path) -> None:
    whole, lacking = "missing, so that the results are preliminary", tmp_path / "lacking"
    path = _find_sweep(tmp_path)
    assert whole not in (path / "README.md").read_text()
    next(path.glob("fragments/*.parquet")).unlink()
    assert destage("admin", "export", "small", "--out", str(lacking)).code == 0
    assert whole in (lacking / "README.md").read_text()


@pytest.mark.usefixtures("sweep")
def test_export_replaces_only_its_own_files(destage: Destage, study: Path, tmp_path: Path) -> None:
    """A README.md or a file that no export wrote is kept; an earlier export is replaced."""
    folder = tmp_path / "out"
    assert destage("admin", "export", "small", "--out", str(folder)).code == 0
    assert _list_exports(folder) == FILES
    assert destage("admin", "export", "small", "--out", str(folder)).code == 0
    (folder / "README.md").write_text("mine\n")
    refused = destage("admin", "export", "small", "--out", str(folder))
    assert (refused.code, refused.issues) == (2, [("usage.file-exists", "--out")])
    assert (folder / "README.md").read_text() == "mine\n"
    assert destage("admin", "export", "small", "--out", str(study)).issues == [("usage.file-exists", "--out")]
