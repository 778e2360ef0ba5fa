"""A deleted object with a finalizer remains; commands that need its name report it."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from api_server import ApiServer
from error_codes import has_code

from destage.cluster import Release, build, read_settings
from destage.cluster.client.api_connection import Connection
from destage.cluster.client.jobs import Job, submit
from destage.cluster.client.objects import delete, wait_until_deleted
from destage.cluster.preparation.preflight import run_preflight
from destage.errors import ClusterError

JOBS = "/apis/ray.io/v1/namespaces/sweeps/rayjobs"
PODS = "/api/v1/namespaces/sweeps/pods"
HELD = {"finalizers": ["example.com/held"]}
SETTINGS = read_settings({"sweep": {"study": "call_center"}})
DEMO = Release("demo", "sweeps", "1")


def submit_job(connection: Connection) -> Job:
    return submit(connection, build(DEMO, SETTINGS))


def submit_ended(server: ApiServer, connection: Connection) -> None:
    """Create an ended job with a finalizer."""
    path = f"{JOBS}/{submit_job(connection).name}"
    job = server.objects[path]
    server.put(path, {**job, "metadata": job["metadata"] | HELD, "status": {"jobDeploymentStatus": "Failed"}})


def test_a_deletion_is_waited_for(
    server: ApiServer, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{PODS}/it"
    server.put(path, {"metadata": {"name": "it", **HELD}})
    assert delete(connection, "Pod", "it")
    assert "deletionTimestamp" in server.objects[path]["metadata"]
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            server.objects.pop(path)

    monkeypatch.setattr("destage.cluster.client.objects.time.sleep", sleep)
    wait_until_deleted(connection, "Pod", "it", time.monotonic() + 60)
    assert len(waits) == 3


def test_a_pending_deletion_names_its_finalizers(server: ApiServer, connection: Connection) -> None:
    server.put(f"{PODS}/it", {"metadata": {"name": "it", **HELD}})
    with pytest.raises(ClusterError) as error:
        wait_until_deleted(connection, "Pod", "it", time.monotonic())
    assert (error.value.code, error.value.place) == ("cluster.deletion-pending", "Pod it")
    assert error.value.data == HELD
    assert error.value.message.endswith("kubectl --namespace sweeps describe pod it")


def submit_again(connection: Connection) -> object:
    return submit_job(connection)


def preflight(connection: Connection) -> object:
    return list(run_preflight(connection, DEMO, SETTINGS, None))


@pytest.mark.parametrize(
    ("command", "pod"),
    [(submit_again, ""), (preflight, "destage-doctor")],
    ids=["submit", "doctor"],
)
def test_commands_report_a_pending_deletion(
    server: ApiServer,
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    command: Callable[[Connection], object],
    pod: str,
) -> None:
    monkeypatch.setattr("destage.cluster.client.jobs._DELETION_S", 0)
    monkeypatch.setattr("destage.cluster.preparation.preflight._START_S", 0)
    if pod:
        spec: dict[str, Any] = {"containers": [{"image": "old", "env": []}], "volumes": []}
        server.put(f"{PODS}/{pod}", {"metadata": {"name": pod, **HELD}, "spec": spec})
    else:
        submit_ended(server, connection)
    with pytest.raises(ClusterError, check=has_code("cluster.deletion-pending")):
        command(connection)
