"""A log that is followed: no line twice, none left out, whatever breaks; it ends with its pod."""

from collections.abc import Callable
from typing import Any

import pytest
from api_server import HANG_UP, ApiServer

from destage.cluster.connection import Connection
from destage.cluster.jobs import find_job
from destage.cluster.logs import follow_logs
from destage.errors import ClusterError

JOB = "/apis/ray.io/v1/namespaces/sweeps/rayjobs/demo-01"
PODS = "/api/v1/namespaces/sweeps/pods"
PAUSES = (0.0, 0.01, 0.01)


def put_job(server: ApiServer, state: str = "Running") -> None:
    labels = {"app.kubernetes.io/name": "destage", "destage.io/release": "demo"}
    metadata = {"name": "demo-01", "labels": labels}
    server.put(JOB, {"metadata": metadata, "spec": {}, "status": {"jobDeploymentStatus": state}})


def put_pod(server: ApiServer, phase: str, name: str = "demo-head", waiting: Any = None) -> None:
    labels = {"destage.io/release": "demo", "destage.io/component": "head"}
    container = {"state": {"waiting": waiting}} if waiting else {"state": {}}
    pod = {
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [{"name": "ray-head"}]},
        "status": {"phase": phase, "containerStatuses": [container]},
    }
    server.put(f"{PODS}/{name}", pod)


def ends(server: ApiServer, name: str = "demo-head") -> Callable[[], None]:
    return lambda: put_pod(server, "Succeeded", name)


def line(stamp: str, text: str) -> str:
    return f"2026-01-01T00:00:{stamp}Z {text}"


@pytest.fixture
def said(server: ApiServer, connection: Connection) -> Callable[[], list[tuple[str, str]]]:
    put_job(server)
    put_pod(server, "Running")
    return lambda: list(follow_logs(connection, find_job(connection, "demo"), "head", 10, pauses=PAUSES))


def queries(server: ApiServer) -> list[dict[str, str]]:
    return [query for _, path, query in server.requests if path.endswith("/log")]


def test_a_dropped_connection_neither_repeats_nor_loses_a_line(
    server: ApiServer, said: Callable[[], list[tuple[str, str]]]
) -> None:
    server.logs += [
        [line("01.1", "one"), line("01.200000000", "two"), line("01.2", "also two"), HANG_UP],
        [line("01.1", "one"), line("01.2", "two"), line("01.2", "also two"), line("01.2", "too"), HANG_UP],
        [500],
        [line("01.2", "two"), line("01.2", "also two"), line("01.2", "too"), line("02", "end"), ends(server)],
        [line("02", "end"), line("02.000000001", "last words")],
    ]
    assert [text for _, text in said()] == ["one", "two", "also two", "too", "end", "last words"]
    asked = queries(server)
    assert asked[0]["tailLines"] == "10"
    assert all("tailLines" not in query for query in asked[1:])
    assert [query.get("sinceTime") for query in asked] == [
        None,
        "2026-01-01T00:00:01.2Z",
        "2026-01-01T00:00:01.2Z",
        "2026-01-01T00:00:01.2Z",
        "2026-01-01T00:00:02Z",
    ]


def test_the_log_of_a_pod_that_ended_is_read_to_its_end(
    server: ApiServer, said: Callable[[], list[tuple[str, str]]]
) -> None:
    ends(server)()
    server.logs += [[line("01", "one"), HANG_UP], [line("01", "one"), line("02", "two")]]
    assert [text for _, text in said()] == ["one", "two"]


def test_what_the_node_says_of_a_container_that_it_removed_is_no_line_of_its_log(
    server: ApiServer, said: Callable[[], list[tuple[str, str]]]
) -> None:
    removed = "unable to retrieve container logs for containerd://0123"
    server.logs += [[line("01", "one"), removed], [removed, ends(server)], [removed]]
    assert said() == [("demo-head", "one")]


def test_a_pod_that_has_not_started_is_waited_for(
    server: ApiServer, said: Callable[[], list[tuple[str, str]]]
) -> None:
    put_pod(server, "Pending", waiting={"reason": "ContainerCreating"})
    server.logs += [[400], [400], [line("01", "one"), ends(server)], [line("01", "one")]]
    assert said() == [("demo-head", "one")]


def test_a_pod_that_cannot_start_is_told(
    server: ApiServer, said: Callable[[], list[tuple[str, str]]]
) -> None:
    put_pod(server, "Pending", waiting={"reason": "ImagePullBackOff", "message": "no such image"})
    server.logs += [[400]]
    with pytest.raises(ClusterError, match="demo-head does not start: ImagePullBackOff: no such image"):
        said()


def test_a_pod_that_is_deleted_ends_its_log(
    server: ApiServer, said: Callable[[], list[tuple[str, str]]]
) -> None:
    server.logs += [[line("01", "one"), lambda: server.objects.pop(f"{PODS}/demo-head"), HANG_UP]]
    assert said() == [("demo-head", "one")]


def test_several_pods_are_followed_at_once(
    server: ApiServer, said: Callable[[], list[tuple[str, str]]]
) -> None:
    put_pod(server, "Succeeded")
    put_pod(server, "Succeeded", "demo-other")
    server.logs += [[line("01", "one"), line("02", "two")], [line("01", "one"), line("02", "two")]]
    told = said()
    assert sorted(told) == [(pod, text) for pod in ("demo-head", "demo-other") for text in ("one", "two")]


def test_pods_are_awaited_while_the_sweep_may_still_make_them(
    server: ApiServer, connection: Connection, said: Callable[[], list[tuple[str, str]]]
) -> None:
    del server.objects[f"{PODS}/demo-head"]
    answer = server.answer
    looks = 0

    def make_at_the_third_look(*request: Any) -> tuple[int, Any]:
        nonlocal looks
        if request[1] == PODS:
            looks += 1
            if looks == 3:
                ends(server)()
        return answer(*request)

    server.answer = make_at_the_third_look  # type: ignore[method-assign]
    server.logs += [[line("01", "one")]]
    assert said() == [("demo-head", "one")]
    for state in ("Complete", "Suspended"):
        del server.objects[f"{PODS}/demo-head"]
        put_job(server, state)
        with pytest.raises(ClusterError, match=rf"demo-01 \({state}\) has no head pod"):
            list(follow_logs(connection, find_job(connection, "demo"), "head", 10, pauses=PAUSES))
        put_pod(server, "Succeeded")


def test_a_server_that_stays_away_or_says_no_ends_it(
    server: ApiServer, said: Callable[[], list[tuple[str, str]]]
) -> None:
    server.logs += [[500]] * 4
    with pytest.raises(ClusterError, match="500"):
        said()
    server.logs.clear()
    server.logs.append([403])
    with pytest.raises(ClusterError, match="not allowed"):
        said()
