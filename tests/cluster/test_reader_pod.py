"""A running head is asked for progress; a reader is gone with its command."""

from typing import Any

import pytest
from api_server import ApiServer
from error_codes import has_code

from destage.cluster import Release, build, read_settings
from destage.cluster.client.api_connection import Connection
from destage.cluster.client.jobs import Job, find_job, submit
from destage.cluster.client.pod_command import ReaderPod, _describe, find_head_pod
from destage.errors import ClusterError

PODS = "/api/v1/namespaces/sweeps/pods"


@pytest.fixture
def job(server: ApiServer, connection: Connection) -> Job:
    """Submit a sweep and let its cluster run."""
    made = submit(
        connection, build(Release("demo", "sweeps", "1"), read_settings({"sweep": {"study": "call_center"}}))
    )
    path = f"/apis/ray.io/v1/namespaces/sweeps/rayjobs/{made.name}"
    server.put(path, {**server.objects[path], "status": {"rayClusterName": "demo-1-x"}})
    return find_job(connection, "demo")


def put_head(server: ApiServer, name: str, cluster: str, state: str) -> dict[str, Any]:
    labels = {"destage.io/release": "demo", "destage.io/component": "head", "ray.io/cluster": cluster}
    containers = [{"name": "ray-head", "state": {state: {}}}]
    return server.put(
        f"{PODS}/{name}",
        {"metadata": {"name": name, "labels": labels}, "status": {"containerStatuses": containers}},
    )


def test_only_a_running_head_of_the_jobs_cluster_is_asked(
    server: ApiServer, connection: Connection, job: Job
) -> None:
    assert find_head_pod(connection, job) is None
    put_head(server, "earlier", "demo-0-x", "running")
    put_head(server, "waiting", "demo-1-x", "waiting")
    leaving = put_head(server, "leaving", "demo-1-x", "running")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert find_head_pod(connection, job) is None
    put_head(server, "here", "demo-1-x", "running")
    found = find_head_pod(connection, job)
    assert found is not None
    assert (found._name, found.store) == ("here", "/results")


def readers(server: ApiServer) -> list[str]:
    return [path.rpartition("/")[2] for path in server.objects if path.startswith(f"{PODS}/demo-reader-")]


@pytest.fixture
def commands(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Let readers run at once, and return the pod and the first word of each command."""
    found: list[tuple[str, str]] = []

    def run(_: Connection, pod: str, __: str, command: tuple[str, ...]) -> bytes:
        found.append((pod, command[0]))
        return b"done"

    def start(connection: Connection, manifest: dict[str, Any]) -> None:
        assert connection.namespace == "sweeps"
        path = f"{PODS}/{manifest['metadata']['name']}"
        server.put(path, {**manifest, "status": {"phase": "Running"}})

    monkeypatch.setattr("destage.cluster.client.pod_command.run_in_pod", run)
    monkeypatch.setattr("destage.cluster.client.pod_command.create", start)
    return found


def test_a_reader_is_deleted_with_its_command(
    server: ApiServer, connection: Connection, job: Job, commands: list[tuple[str, str]]
) -> None:
    with ReaderPod(connection, job) as one, ReaderPod(connection, job) as other:
        one.run("first")
        other.run("second")
        one.run("third")
        assert len(readers(server)) == 2  # each command line has its own
        (owner,) = server.objects[f"{PODS}/{commands[0][0]}"]["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"]) == ("RayJob", job.manifest["metadata"]["uid"])
    assert not readers(server)
    assert [word for _, word in commands] == ["first", "second", "third"]
    assert commands[0][0] == commands[2][0] != commands[1][0]


def test_a_deleted_reader_is_replaced(
    server: ApiServer, connection: Connection, job: Job, commands: list[tuple[str, str]]
) -> None:
    with ReaderPod(connection, job) as reader:
        reader.run("first")
        del server.objects[f"{PODS}/{commands[0][0]}"]
        assert reader.run("second") == b"done"
        assert readers(server) == [commands[1][0]]
    assert commands[0][0] != commands[1][0]


def test_a_reader_that_cannot_start_is_deleted(server: ApiServer, connection: Connection, job: Job) -> None:
    with (
        pytest.raises(ClusterError, check=has_code("cluster.pod-not-started")),
        ReaderPod(connection, job, start_timeout_s=0.0) as reader,
    ):
        reader.run("first")
    assert not readers(server)


def test_a_rejected_handshake_is_one_plain_line() -> None:
    headers = "{'audit-id': 'x', 'content-length': '133'}"
    gone = f'(0)\nReason: Handshake status 404 Not Found -+-+- {headers} -+-+- b\'{{"kind": "Status"}}\''
    assert _describe(OSError(gone)) == "it no longer exists"
    refused = f"Handshake status 403 Forbidden -+-+- {headers} -+-+- b'x'"
    assert _describe(OSError(refused)) == "Handshake status 403 Forbidden"
