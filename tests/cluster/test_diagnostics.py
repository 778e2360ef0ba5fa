"""Each reason why pods do not run is reported once for each component, with code and fix."""

from typing import Any

import pytest
from api_server import ApiServer

from destage.cluster.client.api_connection import Connection
from destage.cluster.client.diagnostics import diagnose_pods
from destage.cluster.client.jobs import Job, parse_job

PODS = "/api/v1/namespaces/sweeps/pods"
EVENTS = "/api/v1/namespaces/sweeps/events"


def job(state: str = "Initializing") -> Job:
    labels = {"destage.io/release": "demo"}
    status = {"jobDeploymentStatus": state, "rayClusterName": "demo-1-x"}
    return parse_job({"metadata": {"name": "demo-1", "labels": labels}, "spec": {}, "status": status})


def put_pod(server: ApiServer, name: str, component: str, **status: Any) -> None:
    labels = {"destage.io/release": "demo", "destage.io/component": component}
    server.put(f"{PODS}/{name}", {"metadata": {"name": name, "labels": labels}, "status": status})


def waiting_container(reason: str, message: str = "", **last: Any) -> dict[str, Any]:
    state = {"waiting": {"reason": reason, "message": message}}
    return {"phase": "Pending", "containerStatuses": [{"state": state, "lastState": last}]}


def waiting_first(reason: str, message: str) -> dict[str, Any]:
    """Return the status of a worker whose init container cannot start."""
    first = {"state": {"waiting": {"reason": reason, "message": message}}}
    return {**waiting_container("PodInitializing"), "initContainerStatuses": [first]}


def unscheduled(message: str) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {"phase": "Pending", "conditions": [condition]}


def put_event(server: ApiServer, name: str, about: str, reason: str, message: str) -> None:
    event = {"metadata": {"name": name}, "involvedObject": {"name": about}, "reason": reason}
    server.put(f"{EVENTS}/{name}", {**event, "message": message, "type": "Warning"})


REASONS = [
    (unscheduled("0/1 nodes are available: 1 Insufficient cpu."), "pod-unschedulable", "workers.N.replicas"),
    (unscheduled("1 node(s) had untolerated taint {spot: true}"), "pod-unschedulable", "tolerations"),
    (unscheduled("1 node(s) didn't match Pod's node affinity/selector"), "pod-unschedulable", "nodeSelector"),
    (unscheduled("pod has unbound immediate PersistentVolumeClaims"), "volume-not-bound", "storageClass"),
    (waiting_container("ImagePullBackOff", "no such tag"), "image-not-pulled", "image.repository"),
    (waiting_first("ImagePullBackOff", "no such tag"), "image-not-pulled", "image.repository"),
    (
        waiting_container("CreateContainerConfigError", 'secret "key" not found'),
        "secret-missing",
        "image.pullSecrets",
    ),
    (
        waiting_container("CrashLoopBackOff", "again", terminated={"reason": "OOMKilled"}),
        "out-of-memory",
        "workers.N.memory",
    ),
    (
        waiting_container("CrashLoopBackOff", "back-off", terminated={"reason": "Error"}),
        "container-crashing",
        "destage cluster logs",
    ),
]


@pytest.mark.parametrize(("status", "code", "fix"), REASONS)
def test_a_pod_that_does_not_run_has_a_code_and_a_fix(
    server: ApiServer, connection: Connection, status: dict[str, Any], code: str, fix: str
) -> None:
    put_pod(server, "demo-head", "head", **status)
    (found,) = diagnose_pods(connection, job())
    assert found.code == f"cluster.{code}"
    assert fix in found.fix
    assert (found.issue.code, found.issue.place) == (found.code, "head pod")
    assert found.issue.message.startswith(found.reason)
    assert found.issue.message.endswith(f"; {found.fix}")


def test_pods_with_the_same_reason_are_one_diagnostic(server: ApiServer, connection: Connection) -> None:
    """Running pods, other components and pods that are being deleted have none."""
    for number in range(3):
        put_pod(server, f"demo-w{number}", "worker", **unscheduled("Insufficient memory"))
    put_pod(server, "demo-w3", "worker", phase="Running")
    put_pod(server, "demo-reader", "reader", **unscheduled("Insufficient cpu"))
    put_pod(server, "demo-head", "head", **waiting_container("ErrImagePull"))
    server.objects[f"{PODS}/demo-head"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    (found,) = diagnose_pods(connection, job())
    assert (found.component, found.pods, found.reason) == ("worker", 3, "Unschedulable")
    assert found.issue.place == "3 worker pods"


def test_pods_without_a_reason_are_diagnosed_by_events(server: ApiServer, connection: Connection) -> None:
    put_pod(server, "demo-head", "head", **waiting_container("ContainerCreating"))
    put_event(server, "a", "demo-head", "FailedMount", 'configmap "study" not found')
    put_event(server, "b", "other", "FailedMount", "of another pod")
    put_event(server, "c", "demo-1-x", "FailedToCreateWorkerPod", "exceeded quota: small")
    found = sorted((each.code, each.component, each.reason) for each in diagnose_pods(connection, job()))
    assert found == [
        ("cluster.config-map-missing", "head", "FailedMount"),
        ("cluster.quota-exceeded", "", "FailedToCreateWorkerPod"),
    ]


def test_a_submitter_without_its_cluster_has_its_own_cause(server: ApiServer, connection: Connection) -> None:
    """KubeRay leaves it after a loss of the head; the Secret is that of the deleted cluster."""
    put_pod(
        server,
        "demo-s",
        "submitter",
        **waiting_container("CreateContainerConfigError", 'secret "demo-1-x" not found'),
    )
    put_pod(
        server, "demo-h", "head", **waiting_container("CreateContainerConfigError", 'secret "key" not found')
    )
    found = {each.component: each.code for each in diagnose_pods(connection, job("Failed"))}
    assert found == {"submitter": "cluster.submitter-left", "head": "cluster.secret-missing"}


def test_events_are_optional(server: ApiServer, connection: Connection) -> None:
    """A user without permission to list events gets the diagnostics from the pods."""
    put_pod(server, "demo-w", "worker", **waiting_container("ErrImagePull", "gone"))
    put_pod(server, "demo-head", "head", **waiting_container("ContainerCreating"))
    server.refusals.append(("GET", "events", 403, "forbidden"))
    assert [each.reason for each in diagnose_pods(connection, job())] == ["ErrImagePull"]


def test_no_events_are_requested_for_a_running_sweep(server: ApiServer, connection: Connection) -> None:
    put_pod(server, "demo-head", "head", phase="Running")
    assert diagnose_pods(connection, job("Running")) == []
    assert not [path for _, path, _ in server.requests if path.endswith("events")]
