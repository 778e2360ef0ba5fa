"""A sweep's results, seen from outside the cluster: where they lie, and as its user is told of them."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from kubernetes_cluster.conftest import RUNS, Cluster

from destage.engine import results_schema
from destage.store import Location, list_sweeps, open_sweep

SHORT, LONG = 400, 300_000
"""The window of a study that is over at once, and of one that takes one worker minutes [requests]: it must
still be under way when a second worker or a second head comes, on a fast machine, too."""


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


def lose_a_worker_and_the_head(
    cluster: Cluster, release: str, commits: Callable[[], dict[str, bytes]]
) -> dict[str, bytes]:
    """Take a worker from a sweep once it has rows, and its head once it has more.

    Args:
        cluster: The test cluster.
        release: The sweep's name there.
        commits: Returns the fragments that are there, by sweep and name.

    Returns:
        Those that were there after the second loss: not all.
    """
    cluster.wait("some rows", lambda: len(commits()) >= 3)
    status = json.loads(cluster.destage("status", release, "--json"))
    assert status["job"]["state"] == "Running"
    assert 0 < status["results"]["present"] < RUNS
    _lose(cluster, cluster.pods(release, "worker")[0])
    at_loss = len(commits())
    cluster.wait("rows after the loss of a worker", lambda: len(commits()) > at_loss + 2)
    (head,) = cluster.pods(release, "head")
    _lose(cluster, head)
    before = commits()
    assert len(before) < RUNS
    return before


def assert_brought_and_told(cluster: Cluster, release: str, fragments: int, reference: Path) -> None:
    """Assert that a sweep that succeeded is fetched whole and once, answers where it lies, and is listed.

    Args:
        cluster: The test cluster.
        release: The sweep's name there.
        fragments: How many it has.
        reference: The sweep that an uninterrupted run made.
    """
    here = cluster.folder / f"from-{release}"
    cluster.destage("fetch", release, "--store", str(here))
    (fetched,) = list_sweeps(here)
    assert_whole(fetched, reference)
    again = json.loads(cluster.destage("fetch", release, "--store", str(here), "--json"))
    assert again["kept"] == fragments
    counted = cluster.destage("query", release, "SELECT count(*) AS runs FROM runs", "--format", "csv")
    assert counted.replace('"', "").split() == ["runs", str(RUNS)]
    listed = json.loads(cluster.destage("list", "--json"))
    assert [one["outcome"] for one in listed if one["release"] == release] == ["SUCCEEDED"]


def _lose(cluster: Cluster, pod: str) -> None:
    cluster.kubectl("delete", "pod", pod, "--grace-period=0", "--force")


def _runs(fragments: dict[str, bytes]) -> list[str]:
    tables = [pq.read_table(io.BytesIO(data), columns=["run_id"]) for data in fragments.values()]
    return [run for table in tables for run in table["run_id"].to_pylist()]
