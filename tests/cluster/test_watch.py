"""A watch survives dropped connections, expired resource versions and short outages."""

import time
from typing import Any

import pytest
from api_server import HANG_UP, ApiServer
from error_codes import has_code

from destage.cluster.client.api_connection import Connection
from destage.cluster.client.watch import watch
from destage.errors import ClusterError

PATH = "/apis/ray.io/v1/namespaces/sweeps/rayjobs/demo"
PAUSES = (0.0, 0.01, 0.01)


def job(version: int, state: str) -> dict[str, Any]:
    return {"metadata": {"name": "demo", "resourceVersion": str(version)}, "status": {"state": state}}


def event(kind: str, version: int, state: str = "") -> dict[str, Any]:
    return {"type": kind, "object": job(version, state)}


def collect_states(connection: Connection, seconds: float = 20.0) -> list[str]:
    until = time.monotonic() + seconds
    return [one["status"]["state"] for one in watch(connection, "RayJob", "demo", until=until, pauses=PAUSES)]


def versions(server: ApiServer) -> list[str]:
    return [query["resourceVersion"] for _, _, query in server.requests if "watch" in query]


def test_a_watch_resumes_at_the_last_resource_version(server: ApiServer, connection: Connection) -> None:
    server.put(PATH, job(0, "new"))
    server.watches += [
        [event("MODIFIED", 200, "running"), HANG_UP],
        [HANG_UP],
        [event("BOOKMARK", 250), event("MODIFIED", 251, "ended"), event("DELETED", 252)],
    ]
    assert collect_states(connection) == ["new", "running", "ended"]
    assert versions(server) == ["101", "200", "200"]


@pytest.mark.parametrize(
    "expired", [[410], [{"type": "ERROR", "object": {"code": 410, "message": "too old resource version"}}]]
)
def test_an_expired_resource_version_yields_nothing_twice(
    server: ApiServer, connection: Connection, expired: list[Any]
) -> None:
    server.put(PATH, job(0, "new"))
    server.watches += [expired, [event("MODIFIED", 300, "running"), event("DELETED", 301)]]
    assert collect_states(connection) == ["new", "running"]
    gets = [query for method, _, query in server.requests if method == "GET" and "watch" not in query]
    assert len(gets) == 2


def test_a_short_outage_is_retried(server: ApiServer, connection: Connection) -> None:
    server.put(PATH, job(0, "new"))
    server.refusals += [
        ("GET", "rayjobs", 503, "apiserver is shutting down"),
        ("GET", "rayjobs", 429, "later"),
    ]
    server.watches += [[event("DELETED", 300)]]
    assert collect_states(connection) == ["new"]


def test_a_persistent_error_ends_the_watch(server: ApiServer, connection: Connection) -> None:
    server.refusals += [("GET", "rayjobs", 503, "apiserver is shutting down")] * 4
    with pytest.raises(ClusterError, check=has_code("cluster.request-rejected", status=503)):
        collect_states(connection)
    server.refusals[:] = [("GET", "rayjobs", 403, "forbidden")]
    with pytest.raises(ClusterError, check=has_code("cluster.permission-denied")):
        collect_states(connection)
    assert len(server.requests) == 5


def test_a_denial_after_a_restart_is_retried(server: ApiServer, connection: Connection) -> None:
    server.put(PATH, job(0, "new"))
    server.refusals += [("GET", "rayjobs", 403, "forbidden"), ("GET", "rayjobs", 401, "unknown")]
    server.watches += [[event("DELETED", 300)]]
    until = time.monotonic() + 20
    found = watch(connection, "RayJob", "demo", until=until, was_allowed=True, pauses=PAUSES)
    assert [one["status"]["state"] for one in found] == ["new"]
    server.refusals += [("GET", "rayjobs", 403, "forbidden")] * 4
    with pytest.raises(ClusterError, check=has_code("cluster.permission-denied")):
        list(watch(connection, "RayJob", "demo", until=until, was_allowed=True, pauses=PAUSES))


def test_a_missing_object_ends_the_watch(server: ApiServer, connection: Connection) -> None:
    assert collect_states(connection) == []
    assert not versions(server)


def test_a_watch_ends_at_its_deadline(server: ApiServer, connection: Connection) -> None:
    server.put(PATH, job(0, "new"))
    began = time.monotonic()
    assert collect_states(connection, 0.3) == ["new"]
    assert time.monotonic() - began >= 0.3


def test_a_watch_does_not_wait_beyond_its_deadline(server: ApiServer, connection: Connection) -> None:
    server.refusals += [("GET", "rayjobs", 503, "apiserver is shutting down")] * 2
    began = time.monotonic()
    assert list(watch(connection, "RayJob", "demo", until=began + 0.3, pauses=(30.0,))) == []
    assert time.monotonic() - began < 10
