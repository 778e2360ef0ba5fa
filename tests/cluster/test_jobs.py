"""Sweeps as RayJobs: submitted as a whole or not at all, found, cancelled and deleted."""

import re
from pathlib import Path
from typing import Any

import pytest
from api_server import ApiServer
from cluster_settings import CASES
from error_codes import has_code

from destage.cluster import Manifest, Release, build, read_settings
from destage.cluster.client.api_connection import ApiError, Connection, connect
from destage.cluster.client.jobs import (
    JobMissingError,
    cancel,
    delete_release,
    find_job,
    list_jobs,
    parse_job,
    read_study,
    submit,
)
from destage.cluster.client.logs import read_logs
from destage.cluster.client.objects import delete
from destage.errors import ClusterError

JOBS = "/apis/ray.io/v1/namespaces/sweeps/rayjobs"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/sweeps/roles"
PODS = "/api/v1/namespaces/sweeps/pods"


def manifests(**job: Any) -> list[Manifest]:
    values = {"sweep": {"spec": "name: small\n"}, "job": job}
    return build(Release("demo", "sweeps", "1"), read_settings(values))


def test_all_objects_are_validated_before_the_first_is_created(
    server: ApiServer, connection: Connection
) -> None:
    job = submit(connection, manifests(), sweep="small-0123")
    assert (job.release, job.sweep, job.state, job.has_ended) == ("demo", "small-0123", "New", False)
    kinds = sorted(one["kind"] for one in server.objects.values())
    assert kinds == sorted(one["kind"] for one in manifests())
    writes = [(method, query) for method, _, query in server.requests if method in ("PATCH", "POST")]
    assert all(query["fieldValidation"] == "Strict" for _, query in writes)
    dry = [query.get("dryRun") == "All" for _, query in writes]
    assert dry == sorted(dry, reverse=True)
    assert sum(dry) == len(manifests())


def test_a_rejected_field_leaves_no_objects(server: ApiServer, connection: Connection) -> None:
    server.refusals.append(
        ("PATCH", "rayjobs", 400, 'strict decoding error: unknown field "spec.backofLimit"')
    )
    with pytest.raises(ApiError) as error:
        submit(connection, manifests())
    assert error.value.code == "cluster.request-rejected"
    assert error.value.place.startswith("RayJob demo-")
    assert "spec.backofLimit" in error.value.reason
    assert not server.objects


def test_a_binding_is_valid_before_its_role_exists(server: ApiServer, connection: Connection) -> None:
    """A user without the right to bind any Role gets this answer to a dry run."""
    server.refusals.append(("PATCH", "rolebindings", 404, 'rolebindings "demo-keeper" not found'))
    submit(connection, manifests())
    assert [path for path in server.objects if "/rolebindings/" in path]


def test_submitting_needs_kuberay(server: ApiServer, connection: Connection) -> None:
    server.refusals.append(("PATCH", "rayjobs", 404, "the server could not find the requested resource"))
    with pytest.raises(ClusterError, check=has_code("cluster.kuberay-missing")):
        submit(connection, manifests())


def test_only_an_ended_or_cancelled_job_can_be_submitted_again(
    server: ApiServer, connection: Connection
) -> None:
    job = submit(connection, manifests())
    with pytest.raises(ClusterError, check=has_code("cluster.sweep-running", state="New")):
        submit(connection, manifests())
    path = f"{JOBS}/{job.name}"
    server.put(
        path, {**server.objects[path], "status": {"jobDeploymentStatus": "Failed", "reason": "AppFailed"}}
    )
    assert find_job(connection, "demo").message == "AppFailed"
    assert submit(connection, manifests()).state == "New"
    for state in ("Suspending", "Suspended"):
        server.put(path, {**server.objects[path], "status": {"jobDeploymentStatus": state}})
        with pytest.raises(ClusterError, check=has_code("cluster.already-cancelled")):
            cancel(connection, find_job(connection, "demo"))
        assert submit(connection, manifests()).state == "New"


LOG = """\
Job entrypoint command failed with exit code 2, last available logs (truncated to 20,000 chars):
{}
"""


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("The RayJob has passed\n the deadline.", "The RayJob has passed the deadline."),
        (LOG.format("one\nerror: study.yaml:  no\ntwo"), "failed with exit code 2: error: study.yaml: no"),
        (LOG.format("one\ntwo\n\n"), "failed with exit code 2: two"),
        (LOG.format(""), "failed with exit code 2"),
    ],
)
def test_a_log_in_a_status_is_reduced_to_its_last_error(message: str, expected: str) -> None:
    manifest = {"metadata": {"name": "demo"}, "spec": {}, "status": {"message": message, "reason": "R"}}
    found = parse_job(manifest).message
    assert found.startswith("R: ")
    assert found.endswith(expected)


def test_a_jobs_study_is_read_from_its_map_or_entrypoint(server: ApiServer, connection: Connection) -> None:
    assert read_study(connection, submit(connection, manifests())) == ("", "name: small\n")
    bundled = build(Release("two", "sweeps", "1"), read_settings({"sweep": {"study": "call_center"}}))
    assert read_study(connection, submit(connection, bundled)) == ("call_center", "")
    assert server.objects


def test_a_release_name_finds_its_newest_job(server: ApiServer, connection: Connection) -> None:
    job = submit(connection, manifests())
    labels = server.objects[f"{JOBS}/{job.name}"]["metadata"]["labels"]
    for name, created in (("demo-old", "2025-01-01T00:00:00Z"), ("demo-new", "2027-01-01T00:00:00Z")):
        metadata = {"name": name, "creationTimestamp": created, "labels": labels}
        server.put(f"{JOBS}/{name}", {"metadata": metadata, "spec": {}})
    assert [each.name for each in list_jobs(connection)] == ["demo-old", job.name, "demo-new"]
    assert find_job(connection, "demo").name == "demo-new"
    assert find_job(connection, job.name).name == job.name
    with pytest.raises(JobMissingError, check=has_code("cluster.sweep-missing", existing=["demo"])):
        find_job(connection, "dmo")


def test_cancelling_suspends_the_job(server: ApiServer, connection: Connection) -> None:
    job = submit(connection, manifests())
    cancel(connection, job)
    assert server.objects[f"{JOBS}/{job.name}"]["spec"]["suspend"] is True
    rules = [{"policy": "DeleteCluster", "status": "SUCCEEDED", "ttlSeconds": 1}]
    with pytest.raises(ClusterError, check=has_code("cluster.cannot-suspend")):
        cancel(connection, submit(connection, manifests(deletionRules=rules)))


def test_deleting_keeps_the_results_by_default(server: ApiServer, connection: Connection) -> None:
    submit(connection, manifests())
    deleted = delete_release(connection, "demo", with_results=False)
    # Kubernetes deletes the keeper's Role and its binding with the last job; the claim is kept.
    assert len(deleted) == len(manifests()) - 3
    assert [one["kind"] for one in server.objects.values()] == ["PersistentVolumeClaim"]
    assert delete_release(connection, "demo", with_results=True) == ["PersistentVolumeClaim demo-results"]
    assert not server.objects


def settings_of(case: str, release: str = "demo") -> list[Manifest]:
    return build(Release(release, "sweeps", "1"), read_settings(CASES[case]))


@pytest.mark.parametrize("case", [name for name, values in CASES.items() if values.get("mode") != "cluster"])
def test_deleting_removes_exactly_what_was_submitted(
    server: ApiServer, connection: Connection, case: str
) -> None:
    submit(connection, settings_of("elastic", "other"))
    labels = {"destage.io/release": "demo", "app.kubernetes.io/managed-by": "Helm"}
    server.put(f"{ROLES}/by-helm", {"metadata": {"name": "by-helm", "labels": labels}})
    before = set(server.objects)
    submit(connection, settings_of(case))
    assert len(server.objects) == len(before) + len(settings_of(case))
    delete_release(connection, "demo", with_results=True)
    assert set(server.objects) == before


def test_a_role_is_deleted_with_its_releases_last_job(server: ApiServer, connection: Connection) -> None:
    first = submit(connection, settings_of("elastic"))
    more = {**CASES["elastic"], "sweep": {"spec": "name: small\n"}}
    second = submit(connection, build(Release("demo", "sweeps", "1"), read_settings(more)))
    owners = server.objects[f"{ROLES}/demo-autoscaler"]["metadata"]["ownerReferences"]
    assert {(each["kind"], each["name"]) for each in owners} == {
        ("RayJob", first.name),
        ("RayJob", second.name),
    }
    assert delete(connection, "RayJob", second.name)
    assert f"{ROLES}/demo-autoscaler" in server.objects
    assert delete(connection, "RayJob", first.name)
    assert not [path for path in server.objects if "/roles/" in path or "/rolebindings/" in path]


def test_a_rejected_deletion_can_be_repeated(server: ApiServer, connection: Connection) -> None:
    submit(connection, manifests())
    server.refusals.append(("DELETE", "networkpolicies", 403, "forbidden"))
    with pytest.raises(ClusterError, check=has_code("cluster.permission-denied")):
        delete_release(connection, "demo", with_results=True)
    delete_release(connection, find_job(connection, "demo").release, with_results=True)
    assert not server.objects


REJECTIONS = [
    (401, "Unauthorized", "cluster.not-authenticated"),
    (403, 'rayjobs.ray.io is forbidden: User "u" cannot list', "cluster.permission-denied"),
    (403, 'pods "x" is forbidden: exceeded quota: small', "cluster.quota-exceeded"),
    (403, 'pods "x" is forbidden: violates PodSecurity "restricted"', "cluster.pod-security-violated"),
    (500, "etcdserver: request timed out", "cluster.request-rejected"),
]


@pytest.mark.parametrize(("status", "reason", "code"), REJECTIONS)
def test_each_rejection_has_a_code_and_one_line(
    server: ApiServer, connection: Connection, status: int, reason: str, code: str
) -> None:
    server.refusals.append(("GET", "rayjobs", status, reason))
    with pytest.raises(ApiError) as error:
        list_jobs(connection)
    assert (error.value.code, error.value.status, error.value.reason) == (code, status, reason)
    assert error.value.place == JOBS
    assert "\n" not in str(error.value)


def test_a_dropped_connection_is_one_line(server: ApiServer, connection: Connection) -> None:
    server.refusals.append(("GET", "rayjobs", 0, ""))
    with pytest.raises(ClusterError) as error:
        list_jobs(connection)
    assert (error.value.code, error.value.place) == ("cluster.api-unreachable", connection.host)
    assert "Remote end closed connection" in error.value.message
    assert "\n" not in str(error.value)


def test_an_unreachable_server_and_a_missing_context_have_codes(server: ApiServer, tmp_path: Path) -> None:
    assert server is not None
    config = tmp_path / "kubeconfig"
    config.write_text(re.sub(r"127.0.0.1:\d+", "127.0.0.1:9", config.read_text()))
    with pytest.raises(ClusterError, check=has_code("cluster.api-unreachable")):
        list_jobs(connect())
    with pytest.raises(ClusterError, check=has_code("cluster.not-configured")):
        connect("other")


def test_the_log_of_a_waiting_pod_says_why(server: ApiServer, connection: Connection) -> None:
    job = submit(connection, manifests())
    with pytest.raises(ClusterError, check=has_code("cluster.pods-missing", component="head")):
        list(read_logs(connection, job, "head", 10))
    labels = {"destage.io/release": "demo", "destage.io/component": "head"}
    waiting = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}
    pod = {
        "metadata": {"name": "demo-head", "labels": labels},
        "spec": {"containers": [{"name": "ray-head"}]},
        "status": {"containerStatuses": [waiting]},
    }
    server.put(f"{PODS}/demo-head", pod)
    server.refusals.append(("GET", "/log", 400, "container is waiting to start"))
    assert list(read_logs(connection, job, "head", 10)) == [
        ("demo-head", "no log yet: ImagePullBackOff: no such image")
    ]
