"""What keeps a sweep's pods from running is told once a kind, with its mend."""

import re
from typing import Any

import pytest
from api_server import ApiServer

from destage.cluster.connection import Connection
from destage.cluster.diagnostics import diagnose_pods
from destage.cluster.jobs import Job, parse_job

PODS = "/api/v1/namespaces/sweeps/pods"
EVENTS = "/api/v1/namespaces/sweeps/events"


def job(state: str = "Initializing") -> Job:
    labels = {"destage.io/release": "demo"}
    status = {"jobDeploymentStatus": state, "rayClusterName": "demo-1-x"}
    return parse_job({"metadata": {"name": "demo-1", "labels": labels}, "spec": {}, "status": status})


def put_pod(server: ApiServer, name: str, component: str, **status: Any) -> None:
    labels = {"destage.io/release": "demo", "destage.io/component": component}
    server.put(f"{PODS}/{name}", {"metadata": {"name": name, "labels": labels}, "status": status})


def waiting(reason: str, message: str = "", **last: Any) -> dict[str, Any]:
    state = {"waiting": {"reason": reason, "message": message}}
    return {"phase": "Pending", "containerStatuses": [{"state": state, "lastState": last}]}


def waiting_first(reason: str, message: str) -> dict[str, Any]:
    """Return how a worker is whose init container, KubeRay's, cannot start."""
    first = {"state": {"waiting": {"reason": reason, "message": message}}}
    return {**waiting("PodInitializing"), "initContainerStatuses": [first]}


def unscheduled(message: str) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {"phase": "Pending", "conditions": [condition]}


def put_event(server: ApiServer, name: str, about: str, reason: str, message: str) -> None:
    event = {"metadata": {"name": name}, "involvedObject": {"name": about}, "reason": reason}
    server.put(f"{EVENTS}/{name}", {**event, "message": message, "type": "Warning"})


SENTENCES = [
    (unscheduled("0/1 nodes are available: 1 Insufficient cpu."), "Unschedulable: 0/1 .* cpu; ask for less"),
    (unscheduled("1 node(s) had untolerated taint {spot: true}"), "untolerated taint.*; no node takes it"),
    (unscheduled("1 node(s) didn't match Pod's node affinity/selector"), "check nodeSelector"),
    (unscheduled("pod has unbound immediate PersistentVolumeClaims"), "check claim.storageClass"),
    (waiting("ImagePullBackOff", "no such tag"), "ImagePullBackOff: no such tag; check image.repository"),
    (
        waiting_first("ImagePullBackOff", "no such tag"),
        "ImagePullBackOff: no such tag; check image.repository",
    ),
    (waiting("CreateContainerConfigError", 'secret "key" not found'), 'secret "key" .*; check image.pullSec'),
    (waiting("CrashLoopBackOff", "again", terminated={"reason": "OOMKilled"}), "OOMKilled: .*more memory"),
    (
        waiting("CrashLoopBackOff", "back-off", terminated={"reason": "Error"}),
        "CrashLoopBackOff: back-off; `",
    ),
]


@pytest.mark.parametrize(("status", "sentence"), SENTENCES)
def test_a_pod_that_does_not_run_is_told_with_its_mend(
    server: ApiServer, connection: Connection, status: dict[str, Any], sentence: str
) -> None:
    put_pod(server, "demo-head", "head", **status)
    (trouble,) = diagnose_pods(connection, job())
    assert str(trouble).startswith("the head's pod: ")
    assert re.search(sentence, str(trouble)), str(trouble)
    assert trouble.mend


def test_alike_pods_are_told_once_and_pods_that_run_or_leave_are_not(
    server: ApiServer, connection: Connection
) -> None:
    for number in range(3):
        put_pod(server, f"demo-w{number}", "worker", **unscheduled("Insufficient memory"))
    put_pod(server, "demo-w3", "worker", phase="Running")
    put_pod(server, "demo-reader", "reader", **unscheduled("Insufficient cpu"))
    put_pod(server, "demo-head", "head", **waiting("ErrImagePull"))
    server.objects[f"{PODS}/demo-head"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    (trouble,) = diagnose_pods(connection, job())
    assert (trouble.component, trouble.pods, trouble.reason) == ("worker", 3, "Unschedulable")
    assert str(trouble).startswith("3 worker pods: Unschedulable: Insufficient memory; ")


def test_pods_that_say_nothing_are_told_by_their_events(server: ApiServer, connection: Connection) -> None:
    put_pod(server, "demo-head", "head", **waiting("ContainerCreating"))
    put_event(server, "a", "demo-head", "FailedMount", 'configmap "study" not found')
    put_event(server, "b", "other", "FailedMount", "of no interest")
    put_event(server, "c", "demo-1-x", "FailedToCreateWorkerPod", "exceeded quota: small")
    told = sorted(map(str, diagnose_pods(connection, job())))
    assert [text.partition("; ")[0] for text in told] == [
        'the head\'s pod: FailedMount: configmap "study" not found',
        "the sweep: FailedToCreateWorkerPod: exceeded quota: small",
    ]
    assert "kubectl create configmap" in told[0]
    assert "quota is used up" in told[1]


def test_who_may_not_see_events_sees_the_rest(server: ApiServer, connection: Connection) -> None:
    put_pod(server, "demo-w", "worker", **waiting("ErrImagePull", "gone"))
    put_pod(server, "demo-head", "head", **waiting("ContainerCreating"))
    server.refusals.append(("GET", "events", 403, "forbidden"))
    assert [each.reason for each in diagnose_pods(connection, job())] == ["ErrImagePull"]


def test_of_a_sweep_that_runs_well_no_events_are_asked(server: ApiServer, connection: Connection) -> None:
    put_pod(server, "demo-head", "head", phase="Running")
    assert diagnose_pods(connection, job("Running")) == []
    assert not [path for _, path, _ in server.requests if path.endswith("events")]
