"""An object that was deleted may stay for a while, or for good: whoever waits for its end is told."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from api_server import ApiServer

from destage.cluster import Release, build, read_settings
from destage.cluster.connection import Connection
from destage.cluster.jobs import Job, submit
from destage.cluster.objects import delete, wait_until_deleted
from destage.cluster.preflight import run_preflight
from destage.cluster.reader_pod import Reader
from destage.errors import ClusterError

JOBS = "/apis/ray.io/v1/namespaces/sweeps/rayjobs"
PODS = "/api/v1/namespaces/sweeps/pods"
HELD = {"finalizers": ["example.com/held"]}
SETTINGS = read_settings({"sweep": {"study": "call_center"}})
DEMO = Release("demo", "sweeps", "1")


def submitted(connection: Connection) -> Job:
    return submit(connection, build(DEMO, SETTINGS))


def ended(server: ApiServer, connection: Connection) -> None:
    """Have a job that ended and is held by a finalizer."""
    path = f"{JOBS}/{submitted(connection).name}"
    job = server.objects[path]
    server.put(path, {**job, "metadata": job["metadata"] | HELD, "status": {"jobDeploymentStatus": "Failed"}})


def test_what_goes_in_the_end_is_waited_for(
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

    monkeypatch.setattr("destage.cluster.objects.time.sleep", sleep)
    wait_until_deleted(connection, "Pod", "it", time.monotonic() + 60)
    assert len(waits) == 3


def test_what_stays_is_told_with_what_holds_it(server: ApiServer, connection: Connection) -> None:
    server.put(f"{PODS}/it", {"metadata": {"name": "it", **HELD}})
    with pytest.raises(
        ClusterError,
        match=r"the Pod it is deleted but not yet gone, held by its finalizers \(example.com/held\): "
        r"try again .* kubectl --namespace sweeps describe pod it$",
    ):
        wait_until_deleted(connection, "Pod", "it", time.monotonic())


def again(connection: Connection) -> object:
    return submitted(connection)


def ask(connection: Connection) -> object:
    return Reader(connection, submitted(connection), patience_s=0).ask("destage", "status")


def examine(connection: Connection) -> object:
    return list(run_preflight(connection, DEMO, SETTINGS, None))


@pytest.mark.parametrize(
    ("verb", "stays"),
    [(again, ""), (ask, "demo-reader"), (examine, "destage-doctor")],
    ids=["submit", "ask", "doctor"],
)
def test_no_verb_waits_for_ever_or_runs_into_what_is_still_there(
    server: ApiServer,
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    verb: Callable[[Connection], object],
    stays: str,
) -> None:
    monkeypatch.setattr("destage.cluster.jobs._DELETION_S", 0)
    monkeypatch.setattr("destage.cluster.preflight._START_S", 0)
    if stays:
        # Of an earlier image, so it cannot serve.
        spec: dict[str, Any] = {"containers": [{"image": "old", "env": []}], "volumes": []}
        server.put(f"{PODS}/{stays}", {"metadata": {"name": stays, **HELD}, "spec": spec})
    else:
        ended(server, connection)
    with pytest.raises(ClusterError, match=f"{stays or 'RayJob demo-'}.* is deleted but not yet gone"):
        verb(connection)
