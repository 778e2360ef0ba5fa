"""A sweep's results as seen from outside the cluster: in the store, and through the commands."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from kubernetes_cluster.conftest import RUNS, Cluster

from destage.engine import results_schema
from destage.store import Location, list_sweeps, open_sweep

SHORT, LONG, LONGER = 400, 300_000, 900_000
"""The window of a short study, of one that takes a worker minutes [requests]: it must still run when a
second worker or head starts, on a fast machine too; and of one that outlasts a dozen commands."""


def find_sweep(volume: Path, study: str) -> Path:
    """Return a study's sweep."""
    (sweep,) = [path for path in list_sweeps(volume) if path.name.startswith(f"{study}-")]
    return sweep


def read_fragments(volume: Path) -> dict[str, bytes]:
    """Return the committed fragments, by sweep and name."""
    found = volume.glob("sweeps/*/fragments/[!.]*.parquet")
    return {f"{path.parts[-3]}/{path.name}": path.read_bytes() for path in found}


def find_hosts(volume: Path) -> set[str]:
    """Return the pods that have committed rows."""
    paths = volume.glob("sweeps/*/fragments/[!.]*.parquet")
    return {host for path in paths for host in pq.read_table(path)["prov_host"].to_pylist()}


def assert_complete(sweep: Location, reference: Path) -> None:
    """Assert that a sweep has every run once, with the result of an uninterrupted sweep."""
    names = ["run_id", *results_schema().names]
    rows, expected = open_sweep(sweep).rows().select(names), open_sweep(reference).rows().select(names)
    assert rows.num_rows == RUNS
    assert repr(rows.to_pylist()) == repr(expected.to_pylist())


def assert_unchanged(volume: Path, before: dict[str, bytes]) -> None:
    """Assert that earlier fragments are unchanged, and that no run in them was executed again."""
    after = read_fragments(volume)
    assert {name: after[name] for name in before} == before
    later = {name: data for name, data in after.items() if name not in before}
    assert not set(_runs(before)) & set(_runs(later))


def lose_a_worker_and_the_head(
    cluster: Cluster, release: str, commits: Callable[[], dict[str, bytes]]
) -> dict[str, bytes]:
    """Delete a worker when the sweep has rows, and its head when it has more.

    Args:
        cluster: The test cluster.
        release: The sweep's release.
        commits: Returns the committed fragments, by sweep and name.

    Returns:
        The fragments after the second loss, which are not all.
    """
    cluster.wait_for("some rows", lambda: len(commits()) >= 3)
    status = json.loads(cluster.destage("status", release, "--json"))
    assert status["job"]["state"] == "Running"
    assert 0 < status["results"]["present"] < RUNS
    _delete_pod(cluster, cluster.find_pods(release, "worker")[0])
    at_loss = len(commits())
    cluster.wait_for("rows after the loss of a worker", lambda: len(commits()) > at_loss + 2)
    (head,) = cluster.find_pods(release, "head")
    _delete_pod(cluster, head)
    before = commits()
    assert len(before) < RUNS
    return before


def assert_fetched_and_listed(cluster: Cluster, release: str, fragments: int, reference: Path) -> None:
    """Assert that a successful sweep is fetched completely and once, can be queried, and is listed.

    Args:
        cluster: The test cluster.
        release: The sweep's release.
        fragments: Its number of fragments.
        reference: The sweep of an uninterrupted run.
    """
    local = cluster.folder / f"from-{release}"
    cluster.destage("fetch", release, "--store", str(local))
    (fetched,) = list_sweeps(local)
    assert_complete(fetched, reference)
    again = json.loads(cluster.destage("fetch", release, "--store", str(local), "--json"))
    assert again["kept"] == fragments
    counted = cluster.destage("query", release, "SELECT count(*) AS runs FROM runs", "--format", "csv")
    assert counted.replace('"', "").split() == ["runs", str(RUNS)]
    listed = json.loads(cluster.destage("list", "--json"))
    assert [one["outcome"] for one in listed if one["release"] == release] == ["SUCCEEDED"]


def _delete_pod(cluster: Cluster, pod: str) -> None:
    cluster.kubectl("delete", "pod", pod, "--grace-period=0", "--force")


def _runs(fragments: dict[str, bytes]) -> list[str]:
    tables = [pq.read_table(io.BytesIO(data), columns=["run_id"]) for data in fragments.values()]
    return [run for table in tables for run in table["run_id"].to_pylist()]
