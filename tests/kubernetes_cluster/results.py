"""A sweep's results as seen from outside the cluster: in the store, and through the commands."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from kubernetes_cluster.conftest import RUNS, Cluster

from destage.engine import results_schema
from destage.store import Location, list_sweeps, open_sweep
from destage.store.files.digests import find_digest
from destage.store.files.layout import list_tree

Rows = dict[str, tuple[object, ...]]
"""Host, attempt and time of the execution of each run, by sweep and run."""
_PROVENANCE = ["run_id", "prov_host", "prov_attempt", "prov_time"]
_TRIES = 20
SHORT, LONG, LONGER = 400, 300_000, 900_000
"""The window of a short study, of one that takes a worker minutes [requests]: it must still run when a
second worker or head starts, on a fast machine too; and of one that outlasts a dozen commands."""


def find_sweep(volume: Path, study: str) -> Path:
    """Return a study's sweep."""
    (sweep,) = [path for path in list_sweeps(volume) if path.name.startswith(f"{study}-")]
    return sweep


def read_rows(store: Location) -> Rows:
    """Return where and when each committed run was executed, by sweep and run.

    Merging replaces fragments while they are read; a run is committed once it was seen.
    """
    for _ in range(_TRIES):
        try:
            return _read_listed(store)
        except FileNotFoundError:
            continue
    return _read_listed(store)


def count_stored(store: Location) -> int:
    """Return the number of committed rows; a run that was executed twice has two."""
    return sum(table.num_rows for _, table in _read_fragments(store))


def _read_listed(store: Location) -> Rows:
    found: Rows = {}
    for sweep, table in _read_fragments(store):
        for run, *rest in zip(*(table[each].to_pylist() for each in _PROVENANCE), strict=True):
            found[f"{sweep}/{run}"] = tuple(rest)
    return found


def _read_fragments(store: Location) -> Iterator[tuple[str, pa.Table]]:
    """Yield the provenance of each fragment's rows, with its sweep."""
    for name, _ in list_tree(store):
        path = PurePosixPath(name)
        if path.parent.name == "fragments" and path.suffix == ".parquet" and not path.name.startswith("."):
            table = pq.read_table(io.BytesIO((store / name).read_bytes()), columns=_PROVENANCE)
            yield path.parent.parent.name, table


def find_hosts(volume: Path) -> set[object]:
    """Return the pods that have committed rows."""
    return {host for host, *_ in read_rows(volume).values()}


def assert_complete(sweep: Location, reference: Path) -> None:
    """Assert that a sweep has every run once, with the result of an uninterrupted sweep."""
    names = ["run_id", *results_schema().names]
    rows, expected = open_sweep(sweep).rows().select(names), open_sweep(reference).rows().select(names)
    assert rows.num_rows == RUNS
    assert repr(rows.to_pylist()) == repr(expected.to_pylist())


def assert_unchanged(store: Location, before: Rows) -> None:
    """Assert that no run of earlier rows was executed again."""
    after = read_rows(store)
    assert {run: after.get(run) for run in before} == before


def wait_for_rows(cluster: Cluster, least: int, commits: Callable[[], Rows]) -> int:
    """Wait until that number of rows is committed, and return how many there are."""
    return int(cluster.wait_for("some rows", lambda: (count := len(commits())) >= least and count))


def assert_recorded(results: dict[str, Any], seen: int) -> None:
    """Assert that the status of a running sweep has at least half of the rows that were seen before.

    The driver records its progress once the rows have doubled.
    """
    assert seen <= 2 * results["present"] < 2 * RUNS


def lose_a_worker_and_the_head(cluster: Cluster, release: str, commits: Callable[[], Rows]) -> Rows:
    """Delete a worker when the sweep has rows, and its head when it has more.

    Args:
        cluster: The test cluster.
        release: The sweep's release.
        commits: Returns the committed rows.

    Returns:
        The rows after the second loss, which are not all.
    """
    seen = wait_for_rows(cluster, 3, commits)
    status = json.loads(cluster.destage("status", release, "--json"))
    assert status["job"]["state"] == "Running"
    assert_recorded(status["results"], seen)
    _delete_pod(cluster, cluster.find_pods(release, "worker")[0])
    at_loss = len(commits())
    cluster.wait_for("rows after the loss of a worker", lambda: len(commits()) > at_loss + 2)
    (head,) = cluster.find_pods(release, "head")
    _delete_pod(cluster, head)
    before = commits()
    assert len(before) < RUNS
    return before


def assert_fetched_and_listed(cluster: Cluster, release: str, reference: Path) -> None:
    """Assert that a successful sweep is fetched completely and once, can be queried, and is listed.

    Args:
        cluster: The test cluster.
        release: The sweep's release.
        reference: The sweep of an uninterrupted run.
    """
    local = cluster.folder / f"from-{release}"
    cluster.destage("fetch", release, "--store", str(local))
    (fetched,) = list_sweeps(local)
    assert_complete(fetched, reference)
    again = json.loads(cluster.destage("fetch", release, "--store", str(local), "--json"))
    assert again["kept"] == sum(find_digest(path.name) is not None for path in fetched.rglob("*.*"))
    counted = cluster.destage("query", release, "SELECT count(*) AS runs FROM runs", "--format", "csv")
    assert counted.replace('"', "").split() == ["runs", str(RUNS)]
    listed = json.loads(cluster.destage("list", "--json"))
    assert [one["outcome"] for one in listed if one["release"] == release] == ["SUCCEEDED"]


def _delete_pod(cluster: Cluster, pod: str) -> None:
    cluster.kubectl("delete", "pod", pod, "--grace-period=0", "--force")
