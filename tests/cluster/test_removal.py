"""Deletion of results in a bucket: only those of the release, after its pods have ended."""

from typing import Any

import pytest
from api_server import ApiServer
from error_codes import has_code

from destage.cluster import Manifest, Release, build, read_settings
from destage.cluster.client.api_connection import Connection
from destage.cluster.client.deletion import delete_kept_results, delete_sweep
from destage.cluster.client.jobs import Job, find_job, submit
from destage.cluster.client.objects import build_path
from destage.cluster.client.pod_command import ReaderPod, build_reader_pod
from destage.errors import ClusterError

JOBS = "/apis/ray.io/v1/namespaces/sweeps/rayjobs"
STORE: dict[str, Any] = {"url": "s3://bucket/prefix?region=eu-west-1", "secret": "store"}


def manifests(study: str, **job: Any) -> list[Manifest]:
    values = {"sweep": {"spec": f"name: {study}\n"}, "store": STORE, "job": job}
    return build(Release("demo", "sweeps", "1"), read_settings(values))


def end(server: ApiServer, job: Job) -> None:
    path = f"{JOBS}/{job.name}"
    server.put(path, {**server.objects[path], "status": {"jobDeploymentStatus": "Complete"}})


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Return the commands in the reader pod; each sweep has three objects."""
    found: list[tuple[str, ...]] = []

    def run(_: ReaderPod, *command: str) -> bytes:
        found.append(command)
        return "".join(f"{sweep} 3\n" for sweep in command[3:-2]).encode()

    monkeypatch.setattr(ReaderPod, "run", run)
    return found


def test_sweeps_of_all_jobs_are_discarded_before_the_accounts(
    server: ApiServer, connection: Connection, commands: list[tuple[str, ...]]
) -> None:
    for study in ("one", "two"):
        end(server, submit(connection, manifests(study), sweep=f"{study}-01"))
    deleted = delete_sweep(connection, find_job(connection, "demo"), with_results=True)
    assert deleted[:2] == [f"{name} in {STORE['url']} (3 objects)" for name in ("one-01", "two-01")]
    assert commands == [
        ("destage", "cluster", "discard", "one-01", "two-01", "--store", STORE["url"]),
    ]
    assert not server.objects


def test_results_in_a_bucket_are_kept_by_default(
    server: ApiServer, connection: Connection, commands: list[tuple[str, ...]]
) -> None:
    submit(connection, manifests("one"), sweep="one-01")
    assert delete_sweep(connection, find_job(connection, "demo"), with_results=False)
    assert not commands
    assert not server.objects


def test_a_claim_in_use_is_not_a_kept_claim(server: ApiServer, connection: Connection) -> None:
    for manifest in build(Release("demo", "sweeps", "1"), read_settings({"mode": "cluster"})):
        server.put(build_path(connection, manifest["kind"], manifest["metadata"]["name"]), manifest)
    before = set(server.objects)
    assert not delete_kept_results(connection, "demo")
    assert set(server.objects) == before
    # Kubernetes deletes the RayCluster of a deleted RayJob.
    cluster = server.objects[build_path(connection, "RayCluster", "demo")]
    cluster["metadata"]["ownerReferences"] = [{"kind": "RayJob", "name": "demo-0", "uid": "gone"}]
    assert "PersistentVolumeClaim demo-results" in delete_kept_results(connection, "demo")
    submit(
        connection, build(Release("demo", "sweeps", "1"), read_settings({"sweep": {"study": "call_center"}}))
    )
    before = set(server.objects)
    for name in ("demo", "other", "not a label's value"):
        assert not delete_kept_results(connection, name)
    assert set(server.objects) == before


def test_a_running_sweep_is_cancelled_before_discarding(
    server: ApiServer,
    connection: Connection,
    commands: list[tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = submit(connection, manifests("one"), sweep="one-01")
    labels = {"destage.io/release": "demo", "destage.io/component": "worker"}
    path = "/api/v1/namespaces/sweeps/pods/demo-worker"
    server.put(path, {"metadata": {"name": "demo-worker", "labels": labels}})
    suspended_when_pods_end: list[bool] = []

    def pods_end(_: float) -> None:
        suspended_when_pods_end.append(server.objects[f"{JOBS}/{job.name}"]["spec"].get("suspend", False))
        server.objects.pop(path)

    monkeypatch.setattr("destage.cluster.client.deletion.time.sleep", pods_end)
    delete_sweep(connection, job, with_results=True)
    assert suspended_when_pods_end == [True]
    assert len(commands) == 1


def test_an_unrecorded_sweep_must_be_named(
    server: ApiServer, connection: Connection, commands: list[tuple[str, ...]]
) -> None:
    job = submit(connection, manifests("one"))
    end(server, job)
    with pytest.raises(ClusterError, check=has_code("cluster.sweep-unknown")):
        delete_sweep(connection, job, with_results=True)
    assert server.objects
    assert delete_sweep(connection, job, with_results=True, sweep="mine-02")[0].startswith("mine-02 in s3://")
    assert len(commands) == 1


def test_a_running_job_with_deletion_rules_is_not_discarded(
    server: ApiServer, connection: Connection, commands: list[tuple[str, ...]]
) -> None:
    rules = [{"policy": "DeleteCluster", "status": "SUCCEEDED", "ttlSeconds": 1}]
    job = submit(connection, manifests("one", deletionRules=rules), sweep="one-01")
    with pytest.raises(ClusterError, check=has_code("cluster.cannot-suspend")):
        delete_sweep(connection, job, with_results=True)
    assert not commands
    assert server.objects


def test_the_reader_has_the_heads_access_to_the_bucket(server: ApiServer, connection: Connection) -> None:
    assert server is not None
    job = submit(connection, manifests("one"))
    assert (job.store, job.is_bucket, job.place) == (STORE["url"], True, STORE["url"])
    pod = build_reader_pod(job)
    (container,) = pod["spec"]["containers"]
    assert container["envFrom"] == [{"secretRef": {"name": "store"}}]
    assert {"name": "DESTAGE_STORE", "value": STORE["url"]} in container["env"]
    assert [volume["name"] for volume in pod["spec"]["volumes"]] == ["tmp"]
    assert pod["metadata"]["labels"] == {"destage.io/release": "demo", "destage.io/component": "reader"}
    assert pod["spec"]["automountServiceAccountToken"] is False
