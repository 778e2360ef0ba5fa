"""What lies on a sweep's volume, seen from outside the cluster."""

import io
from pathlib import Path

import pyarrow.parquet as pq
from rig.conftest import RUNS

from destage.engine import results_schema
from destage.store import Location, list_sweeps, open_sweep

SHORT, LONG = 400, 100_000
"""The window of a study that is over at once, and of one that takes a minute or two [requests]."""


def sweep_of(volume: Path, study: str) -> Path:
    """Return a study's sweep."""
    (sweep,) = [path for path in list_sweeps(volume) if path.name.startswith(f"{study}-")]
    return sweep


def committed(volume: Path) -> dict[str, bytes]:
    """Return the fragments that are there, by sweep and name."""
    found = volume.glob("sweeps/*/fragments/[!.]*.parquet")
    return {f"{path.parts[-3]}/{path.name}": path.read_bytes() for path in found}


def hosts(volume: Path) -> set[str]:
    """Return the pods that have committed rows."""
    paths = volume.glob("sweeps/*/fragments/[!.]*.parquet")
    return {host for path in paths for host in pq.read_table(path)["prov_host"].to_pylist()}


def assert_whole(sweep: Location, reference: Path) -> None:
    """Assert that a sweep shows every run once, with the result that an uninterrupted sweep has."""
    names = ["run_id", *results_schema().names]
    rows, expected = open_sweep(sweep).rows().select(names), open_sweep(reference).rows().select(names)
    assert rows.num_rows == RUNS
    assert repr(rows.to_pylist()) == repr(expected.to_pylist())


def assert_kept(volume: Path, before: dict[str, bytes]) -> None:
    """Assert that what was committed then is untouched, and that no run of it was executed again."""
    after = committed(volume)
    assert {name: after[name] for name in before} == before
    later = {name: data for name, data in after.items() if name not in before}
    assert not set(_runs(before)) & set(_runs(later))


def _runs(fragments: dict[str, bytes]) -> list[str]:
    tables = [pq.read_table(io.BytesIO(data), columns=["run_id"]) for data in fragments.values()]
    return [run for table in tables for run in table["run_id"].to_pylist()]
