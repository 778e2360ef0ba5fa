"""Deleting a sweep with its results in a bucket: only its own objects, and only when nobody writes them."""

from typing import Any

import pytest
from api_server import ApiServer

from destage.cluster import Manifest, Release, build, read_settings
from destage.cluster.connection import Connection
from destage.cluster.jobs import Job, find_job, submit
from destage.cluster.objects import place
from destage.cluster.reader_pod import Reader, build_reader_pod
from destage.cluster.removal import delete_kept_results, remove
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
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Return what readers are asked for; each sweep is taken to have had three objects."""
    found: list[tuple[str, ...]] = []

    def ask(_: Reader, *command: str) -> bytes:
        found.append(command)
        return "".join(f"{sweep} 3\n" for sweep in command[3:-2]).encode()

    monkeypatch.setattr(Reader, "ask", ask)
    return found


def test_the_sweeps_that_its_jobs_ran_go_and_their_objects_before_the_accounts(
    server: ApiServer, connection: Connection, asked: list[tuple[str, ...]]
) -> None:
    for study in ("one", "two"):
        end(server, submit(connection, manifests(study), sweep=f"{study}-01"))
    removed = remove(connection, find_job(connection, "demo"), with_results=True)
    assert removed[:2] == [f"{name} in {STORE['url']} (3 objects)" for name in ("one-01", "two-01")]
    assert asked == [
        ("destage", "cluster", "discard", "one-01", "two-01", "--store", STORE["url"]),
    ]
    assert not server.objects


def test_without_being_asked_for_nothing_in_the_bucket_goes(
    server: ApiServer, connection: Connection, asked: list[tuple[str, ...]]
) -> None:
    submit(connection, manifests("one"), sweep="one-01")
    assert remove(connection, find_job(connection, "demo"), with_results=False)
    assert not asked
    assert not server.objects


def test_a_claim_of_what_still_stands_or_runs_has_not_outlived_it(
    server: ApiServer, connection: Connection
) -> None:
    for manifest in build(Release("demo", "sweeps", "1"), read_settings({"mode": "cluster"})):
        server.put(place(connection, manifest["kind"], manifest["metadata"]["name"]), manifest)
    there = set(server.objects)
    assert not delete_kept_results(connection, "demo")
    assert set(server.objects) == there
    # What a RayJob that is gone leaves of its cluster goes by itself.
    cluster = server.objects[place(connection, "RayCluster", "demo")]
    cluster["metadata"]["ownerReferences"] = [{"kind": "RayJob", "name": "demo-0", "uid": "gone"}]
    assert "PersistentVolumeClaim demo-results" in delete_kept_results(connection, "demo")
    submit(
        connection, build(Release("demo", "sweeps", "1"), read_settings({"sweep": {"study": "call_center"}}))
    )
    there = set(server.objects)
    for name in ("demo", "other", "not a label's value"):
        assert not delete_kept_results(connection, name)
    assert set(server.objects) == there


def test_a_running_sweep_is_cancelled_first_and_its_pods_are_awaited(
    server: ApiServer, connection: Connection, asked: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = submit(connection, manifests("one"), sweep="one-01")
    labels = {"destage.io/release": "demo", "destage.io/component": "worker"}
    path = "/api/v1/namespaces/sweeps/pods/demo-worker"
    server.put(path, {"metadata": {"name": "demo-worker", "labels": labels}})
    suspended_when_pods_end: list[bool] = []

    def pods_end(_: float) -> None:
        suspended_when_pods_end.append(server.objects[f"{JOBS}/{job.name}"]["spec"].get("suspend", False))
        server.objects.pop(path)

    monkeypatch.setattr("destage.cluster.removal.time.sleep", pods_end)
    remove(connection, job, with_results=True)
    assert suspended_when_pods_end == [True]
    assert len(asked) == 1


def test_what_nobody_noted_must_be_named(
    server: ApiServer, connection: Connection, asked: list[tuple[str, ...]]
) -> None:
    job = submit(connection, manifests("one"))
    end(server, job)
    with pytest.raises(ClusterError, match=r"nobody noted which sweep demo-\w+ runs.* --sweep"):
        remove(connection, job, with_results=True)
    assert server.objects
    assert remove(connection, job, with_results=True, sweep="mine-02")[0].startswith("mine-02 in s3://")
    assert len(asked) == 1


def test_a_job_that_cannot_be_cancelled_is_waited_for_by_its_user(
    server: ApiServer, connection: Connection, asked: list[tuple[str, ...]]
) -> None:
    rules = [{"policy": "DeleteCluster", "status": "SUCCEEDED", "ttlSeconds": 1}]
    job = submit(connection, manifests("one", deletionRules=rules), sweep="one-01")
    with pytest.raises(
        ClusterError, match="deletion rules keep it from being cancelled: wait for it, or delete"
    ):
        remove(connection, job, with_results=True)
    assert not asked
    assert server.objects


def test_the_reader_has_what_the_head_has_to_reach_the_bucket_and_no_volume(
    server: ApiServer, connection: Connection
) -> None:
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
