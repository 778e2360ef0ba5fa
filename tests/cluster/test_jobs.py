"""Sweeps as RayJobs: made whole or not at all, found, cancelled, deleted; every refusal one sentence."""

import re
from pathlib import Path
from typing import Any

import pytest
from api_server import ApiServer
from cluster_settings import CASES

from destage.cluster import Manifest, Release, build, read_settings
from destage.cluster.connection import Connection, connect
from destage.cluster.jobs import cancel, delete_release, find_job, list_jobs, parse_job, read_study, submit
from destage.cluster.objects import delete
from destage.cluster.podlogs import read_logs
from destage.errors import ClusterError

JOBS = "/apis/ray.io/v1/namespaces/sweeps/rayjobs"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/sweeps/roles"
PODS = "/api/v1/namespaces/sweeps/pods"


def manifests(**job: Any) -> list[Manifest]:
    values = {"sweep": {"spec": "name: small\n"}, "job": job}
    return build(Release("demo", "sweeps", "1"), read_settings(values))


def test_all_of_a_release_is_made_the_job_last_and_checked_before_anything_is(
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


def test_a_refused_field_leaves_nothing_behind(server: ApiServer, connection: Connection) -> None:
    server.refusals.append(
        ("PATCH", "rayjobs", 400, 'strict decoding error: unknown field "spec.backofLimit"')
    )
    with pytest.raises(ClusterError, match=r'RayJob demo-\w+: .*unknown field "spec.backofLimit"'):
        submit(connection, manifests())
    assert not server.objects


def test_a_cluster_without_kuberay_is_told_what_to_install(server: ApiServer, connection: Connection) -> None:
    server.refusals.append(("PATCH", "rayjobs", 404, "the server could not find the requested resource"))
    with pytest.raises(ClusterError, match="install the KubeRay operator first"):
        submit(connection, manifests())


def test_a_job_that_runs_is_not_submitted_twice_and_one_that_ended_is_made_anew(
    server: ApiServer, connection: Connection
) -> None:
    job = submit(connection, manifests())
    with pytest.raises(ClusterError, match="is there already: New"):
        submit(connection, manifests())
    path = f"{JOBS}/{job.name}"
    server.put(
        path, {**server.objects[path], "status": {"jobDeploymentStatus": "Failed", "reason": "AppFailed"}}
    )
    assert find_job(connection, "demo").message == "AppFailed"
    assert submit(connection, manifests()).state == "New"
    # Cancelled, and perhaps not yet at rest.
    for state in ("Suspending", "Suspended"):
        server.put(path, {**server.objects[path], "status": {"jobDeploymentStatus": state}})
        with pytest.raises(ClusterError, match="is cancelled already; submit the study again"):
            cancel(connection, find_job(connection, "demo"))
        assert submit(connection, manifests()).state == "New"


LOG = """\
Job entrypoint command failed with exit code 2, last available logs (truncated to 20,000 chars):
{}
"""


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("The RayJob has passed\n the deadline.", "The RayJob has passed the deadline."),
        (LOG.format("one\nerror: study.yaml:  no\ntwo"), "failed with exit code 2: error: study.yaml: no"),
        (LOG.format("one\ntwo\n\n"), "failed with exit code 2: two"),
        (LOG.format(""), "failed with exit code 2"),
    ],
)
def test_of_a_log_the_last_words_are_told(message: str, told: str) -> None:
    manifest = {"metadata": {"name": "demo"}, "spec": {}, "status": {"message": message, "reason": "R"}}
    found = parse_job(manifest).message
    assert found.startswith("R: ")
    assert found.endswith(told)


def test_the_study_of_a_job_is_found_in_its_map_or_its_entrypoint(
    server: ApiServer, connection: Connection
) -> None:
    assert read_study(connection, submit(connection, manifests())) == ("", "name: small\n")
    bundled = build(Release("two", "sweeps", "1"), read_settings({"sweep": {"study": "call_center"}}))
    assert read_study(connection, submit(connection, bundled)) == ("call_center", "")
    assert server.objects


def test_the_newest_job_of_a_release_is_meant_and_an_unknown_name_lists_those_there_are(
    server: ApiServer, connection: Connection
) -> None:
    job = submit(connection, manifests())
    labels = server.objects[f"{JOBS}/{job.name}"]["metadata"]["labels"]
    for name, created in (("demo-old", "2025-01-01T00:00:00Z"), ("demo-new", "2027-01-01T00:00:00Z")):
        metadata = {"name": name, "creationTimestamp": created, "labels": labels}
        server.put(f"{JOBS}/{name}", {"metadata": metadata, "spec": {}})
    assert [each.name for each in list_jobs(connection)] == ["demo-old", job.name, "demo-new"]
    assert find_job(connection, "demo").name == "demo-new"
    assert find_job(connection, job.name).name == job.name
    with pytest.raises(ClusterError, match="no sweep 'dmo' in the namespace sweeps; there are: demo"):
        find_job(connection, "dmo")


def test_cancelling_suspends_and_keeps_the_job_so_that_its_results_can_be_fetched(
    server: ApiServer, connection: Connection
) -> None:
    job = submit(connection, manifests())
    cancel(connection, job)
    assert server.objects[f"{JOBS}/{job.name}"]["spec"]["suspend"] is True
    rules = [{"policy": "DeleteCluster", "status": "SUCCEEDED", "ttlSeconds": 1}]
    with pytest.raises(ClusterError, match="cannot suspend it"):
        cancel(connection, submit(connection, manifests(deletionRules=rules)))


def test_deleting_keeps_the_results_unless_they_are_named(server: ApiServer, connection: Connection) -> None:
    submit(connection, manifests())
    deleted = delete_release(connection, "demo", with_results=False)
    assert len(deleted) == len(manifests()) - 1
    assert [one["kind"] for one in server.objects.values()] == ["PersistentVolumeClaim"]
    assert delete_release(connection, "demo", with_results=True) == ["PersistentVolumeClaim demo-results"]
    assert not server.objects


def settings_of(case: str, release: str = "demo") -> list[Manifest]:
    return build(Release(release, "sweeps", "1"), read_settings(CASES[case]))


@pytest.mark.parametrize("case", [name for name, values in CASES.items() if values.get("mode") != "cluster"])
def test_whatever_submitting_makes_deleting_removes_and_nothing_of_others(
    server: ApiServer, connection: Connection, case: str
) -> None:
    submit(connection, settings_of("elastic", "other"))
    labels = {"destage.io/release": "demo", "app.kubernetes.io/managed-by": "Helm"}
    server.put(f"{ROLES}/by-helm", {"metadata": {"name": "by-helm", "labels": labels}})
    there = set(server.objects)
    submit(connection, settings_of(case))
    assert len(server.objects) == len(there) + len(settings_of(case))
    delete_release(connection, "demo", with_results=True)
    assert set(server.objects) == there


def test_a_role_goes_with_the_last_job_of_its_release(server: ApiServer, connection: Connection) -> None:
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


def test_a_deletion_that_was_refused_can_be_asked_for_again(
    server: ApiServer, connection: Connection
) -> None:
    submit(connection, manifests())
    server.refusals.append(("DELETE", "networkpolicies", 403, "forbidden"))
    with pytest.raises(ClusterError, match="not allowed"):
        delete_release(connection, "demo", with_results=True)
    delete_release(connection, find_job(connection, "demo").release, with_results=True)
    assert not server.objects


SENTENCES = [
    (401, "Unauthorized", r"does not know you \(Unauthorized\): log in again"),
    (
        403,
        'rayjobs.ray.io is forbidden: User "u" cannot list',
        r"not allowed: .*User \"u\" cannot list.*doctor",
    ),
    (500, "etcdserver: request timed out", "refused: etcdserver: request timed out"),
]


@pytest.mark.parametrize(("status", "told", "sentence"), SENTENCES)
def test_every_refusal_is_one_sentence(
    server: ApiServer, connection: Connection, status: int, told: str, sentence: str
) -> None:
    server.refusals.append(("GET", "rayjobs", status, told))
    with pytest.raises(ClusterError, match=sentence) as error:
        list_jobs(connection)
    assert "\n" not in str(error.value)


def test_a_server_that_hangs_up_is_one_sentence(server: ApiServer, connection: Connection) -> None:
    server.refusals.append(("GET", "rayjobs", 0, ""))
    message = r"the API server http://127\S+ cannot be reached: Remote end closed connection .*kubectl"
    with pytest.raises(ClusterError, match=message) as error:
        list_jobs(connection)
    assert "\n" not in str(error.value)


def test_a_server_that_is_not_there_and_a_missing_context_are_one_sentence(
    server: ApiServer, tmp_path: Path
) -> None:
    assert server is not None
    config = tmp_path / "kubeconfig"
    config.write_text(re.sub(r"127.0.0.1:\d+", "127.0.0.1:9", config.read_text()))
    with pytest.raises(ClusterError, match=r"cannot be reached: .*Connection refused; check it with"):
        list_jobs(connect())
    with pytest.raises(
        ClusterError, match=r"no cluster is configured: .*other.*; set KUBECONFIG or --context"
    ):
        connect("other")


def test_logs_of_a_pod_that_waits_say_why(server: ApiServer, connection: Connection) -> None:
    job = submit(connection, manifests())
    with pytest.raises(ClusterError, match="has no head pod"):
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
