"""A followed log has each line once, whatever fails, and ends with its pod."""

from collections.abc import Callable
from typing import Any

import pytest
from api_server import HANG_UP, ApiServer
from error_codes import has_code

from destage.cluster.client.api_connection import Connection
from destage.cluster.client.jobs import find_job
from destage.cluster.client.logs import follow_logs
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
def follow(server: ApiServer, connection: Connection) -> Callable[[], list[tuple[str, str]]]:
    put_job(server)
    put_pod(server, "Running")
    return lambda: list(follow_logs(connection, find_job(connection, "demo"), "head", 10, pauses=PAUSES))


def queries(server: ApiServer) -> list[dict[str, str]]:
    return [query for _, path, query in server.requests if path.endswith("/log")]


def test_a_dropped_connection_repeats_and_loses_no_line(
    server: ApiServer, follow: Callable[[], list[tuple[str, str]]]
) -> None:
    server.logs += [
        [line("01.1", "one"), line("01.200000000", "two"), line("01.2", "also two"), HANG_UP],
        [line("01.1", "one"), line("01.2", "two"), line("01.2", "also two"), line("01.2", "too"), HANG_UP],
        [500],
        [line("01.2", "two"), line("01.2", "also two"), line("01.2", "too"), line("02", "end"), ends(server)],
        [line("02", "end"), line("02.000000001", "last words")],
    ]
    assert [text for _, text in follow()] == ["one", "two", "also two", "too", "end", "last words"]
    sent = queries(server)
    assert sent[0]["tailLines"] == "10"
    assert all("tailLines" not in query for query in sent[1:])
    assert [query.get("sinceTime") for query in sent] == [
        None,
        "2026-01-01T00:00:01.2Z",
        "2026-01-01T00:00:01.2Z",
        "2026-01-01T00:00:01.2Z",
        "2026-01-01T00:00:02Z",
    ]


def test_the_log_of_an_ended_pod_is_read_to_its_end(
    server: ApiServer, follow: Callable[[], list[tuple[str, str]]]
) -> None:
    ends(server)()
    server.logs += [[line("01", "one"), HANG_UP], [line("01", "one"), line("02", "two")]]
    assert [text for _, text in follow()] == ["one", "two"]


def test_messages_of_the_kubelet_are_skipped(
    server: ApiServer, follow: Callable[[], list[tuple[str, str]]]
) -> None:
    removed = "unable to retrieve container logs for containerd://0123"
    server.logs += [[line("01", "one"), removed], [removed, ends(server)], [removed]]
    assert follow() == [("demo-head", "one")]


def test_a_starting_pod_is_waited_for(server: ApiServer, follow: Callable[[], list[tuple[str, str]]]) -> None:
    put_pod(server, "Pending", waiting={"reason": "ContainerCreating"})
    server.logs += [[400], [400], [line("01", "one"), ends(server)], [line("01", "one")]]
    assert follow() == [("demo-head", "one")]


def test_a_pod_that_cannot_start_is_an_error(
    server: ApiServer, follow: Callable[[], list[tuple[str, str]]]
) -> None:
    put_pod(server, "Pending", waiting={"reason": "ImagePullBackOff", "message": "no such image"})
    server.logs += [[400]]
    with pytest.raises(ClusterError) as error:
        follow()
    assert (error.value.code, error.value.place) == ("cluster.pod-not-started", "demo-head")
    assert "ImagePullBackOff: no such image" in error.value.message


def test_a_deleted_pod_ends_its_log(server: ApiServer, follow: Callable[[], list[tuple[str, str]]]) -> None:
    server.logs += [[line("01", "one"), lambda: server.objects.pop(f"{PODS}/demo-head"), HANG_UP]]
    assert follow() == [("demo-head", "one")]


def test_several_pods_are_followed_concurrently(
    server: ApiServer, follow: Callable[[], list[tuple[str, str]]]
) -> None:
    put_pod(server, "Succeeded")
    put_pod(server, "Succeeded", "demo-other")
    server.logs += [[line("01", "one"), line("02", "two")], [line("01", "one"), line("02", "two")]]
    lines = follow()
    assert sorted(lines) == [(pod, text) for pod in ("demo-head", "demo-other") for text in ("one", "two")]


def test_missing_pods_are_waited_for_until_the_sweep_ends(
    server: ApiServer, connection: Connection, follow: Callable[[], list[tuple[str, str]]]
) -> None:
    del server.objects[f"{PODS}/demo-head"]
    answer = server.answer
    requests_seen = 0

    def create_at_the_third_request(*request: Any) -> tuple[int, Any]:
        nonlocal requests_seen
        if request[1] == PODS:
            requests_seen += 1
            if requests_seen == 3:
                ends(server)()
        return answer(*request)

    server.answer = create_at_the_third_request  # type: ignore[method-assign]
    server.logs += [[line("01", "one")]]
    assert follow() == [("demo-head", "one")]
    for state in ("Complete", "Suspended"):
        del server.objects[f"{PODS}/demo-head"]
        put_job(server, state)
        with pytest.raises(ClusterError, check=has_code("cluster.pods-missing", state=state)):
            list(follow_logs(connection, find_job(connection, "demo"), "head", 10, pauses=PAUSES))
        put_pod(server, "Succeeded")


def test_a_fault_of_the_server_does_not_end_the_wait_for_pods(
    server: ApiServer, follow: Callable[[], list[tuple[str, str]]]
) -> None:
    ends(server)()
    server.logs += [[line("01", "one")]]
    server.refusals += [("GET", PODS, 503, "busy")] * len(PAUSES)
    assert follow() == [("demo-head", "one")]
    server.refusals += [("GET", PODS, 503, "busy")] * (len(PAUSES) + 1)
    with pytest.raises(ClusterError, check=has_code("cluster.request-rejected", status=503)):
        follow()
    server.refusals[:] = [("GET", PODS, 404, "no such resource")]
    with pytest.raises(ClusterError, check=has_code("cluster.request-rejected", status=404)):
        follow()


def test_a_persistent_error_ends_the_log(
    server: ApiServer, follow: Callable[[], list[tuple[str, str]]]
) -> None:
    server.logs += [[500]] * 4
    with pytest.raises(ClusterError, check=has_code("cluster.request-rejected", status=500)):
        follow()
    server.logs.clear()
    server.logs.append([403])
    with pytest.raises(ClusterError, check=has_code("cluster.permission-denied")):
        follow()
