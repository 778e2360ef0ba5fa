"""Sweeps on a real Kubernetes finish despite lost pods and clusters."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes_cluster.conftest import NAMESPACE, RUNS, SETTINGS, Cluster, write_values
from kubernetes_cluster.results import (
    LONG,
    SHORT,
    assert_complete,
    assert_fetched_and_listed,
    assert_unchanged,
    find_sweep,
    lose_a_worker_and_the_head,
    read_rows,
)

from destage.cluster import Release, build, read_settings
from destage.cluster.client.api_connection import ApiError
from destage.cluster.client.jobs import submit

pytestmark = [pytest.mark.kubernetes]


def test_a_sweep_survives_the_loss_of_a_worker_and_the_head(
    cluster: Cluster, reference: Callable[[int], Path]
) -> None:
    volume, study = cluster.create_volume("lossy"), cluster.write_study("lossy_sweep", LONG)
    job = cluster.destage(
        "submit", str(study), "--name", "lossy", "--values", str(write_values(cluster))
    ).strip()
    before = lose_a_worker_and_the_head(cluster, "lossy", lambda: read_rows(volume))

    cluster.destage("watch", "lossy", "--quiet")
    assert_unchanged(volume, before)
    status = json.loads(cluster.kubectl("get", "rayjob", job, "-o", "json"))["status"]
    assert status["jobStatus"] == "SUCCEEDED"
    submitter = json.loads(cluster.kubectl("get", "job", job, "-o", "json"))["status"]
    assert submitter["failed"] >= 1  # it failed with the lost head, and was retried
    assert_complete(find_sweep(volume, "lossy_sweep"), reference(LONG))

    assert_fetched_and_listed(cluster, "lossy", reference(LONG))
    assert f"RayJob {job}" in cluster.destage("delete", "lossy")
    cluster.wait_for("the pods' end", lambda: not cluster.find_pods("lossy", "worker"))
    assert "Bound" in cluster.kubectl("get", "pvc", "lossy-results", "--no-headers")


def test_a_new_cluster_resumes_the_sweep_of_a_lost_one(
    cluster: Cluster, reference: Callable[[int], Path]
) -> None:
    volume, study = cluster.create_volume("again"), cluster.write_study("again_sweep", LONG)
    # Without a retry of the submitter the job fails and is retried on a new cluster.
    values = write_values(cluster, job={**SETTINGS["job"], "submitterBackoffLimit": 0})
    job = cluster.destage("submit", str(study), "--name", "again", "--values", str(values)).strip()
    cluster.wait_for("some rows", lambda: len(read_rows(volume)) >= 3)

    def cluster_name() -> str:
        status = json.loads(cluster.kubectl("get", "rayjob", job, "-o", "json"))["status"]
        return str(status.get("rayClusterName") or "")

    first = cluster_name()
    (head,) = cluster.find_pods("again", "head")
    cluster.kubectl("delete", "pod", head, "--grace-period=0", "--force")
    cluster.wait_for("another cluster", lambda: cluster_name() not in ("", first))
    before = read_rows(volume)
    assert 0 < len(before) < RUNS
    cluster.destage("watch", "again", "--quiet")
    assert_unchanged(volume, before)
    assert_complete(find_sweep(volume, "again_sweep"), reference(LONG))
    assert json.loads(cluster.kubectl("get", "rayjob", job, "-o", "json"))["status"]["failed"] == 1
    cluster.destage("delete", "again", "--results")


def test_deleting_an_elastic_sweep_leaves_no_objects(cluster: Cluster) -> None:
    cluster.create_volume("scaled")
    study, values = (
        cluster.write_study("scaled_sweep", SHORT),
        write_values(cluster, autoscaling={"enabled": True}),
    )
    cluster.destage("submit", str(study), "--name", "scaled", "--values", str(values))

    def remaining() -> list[str]:
        kinds = "roles,rolebindings,serviceaccounts,networkpolicies,configmaps,pvc,rayjobs,rayclusters,pods"
        return cluster.kubectl("get", kinds, "-l", "destage.io/release=scaled", "-o", "name").split()

    assert "role.rbac.authorization.k8s.io/scaled-autoscaler" in remaining()
    cluster.destage("delete", "scaled", "--results")
    cluster.wait_for("the end of all of it", lambda: not remaining())


@pytest.mark.smoke
def test_the_server_rejects_an_unknown_field(cluster: Cluster) -> None:
    manifests = build(
        Release("strict", NAMESPACE, "1"), read_settings({**SETTINGS, "sweep": {"study": "call_center"}})
    )
    manifests[-1]["spec"]["backofLimit"] = 3
    with pytest.raises(ApiError) as error:
        submit(cluster.api, manifests)
    assert error.value.code == "cluster.request-rejected"
    assert error.value.place.startswith("RayJob strict-")
    assert "strict" not in cluster.kubectl("get", "all,pvc,serviceaccounts,networkpolicies", "-o", "name")


@pytest.fixture
def cordon(cluster: Cluster) -> Iterator[Callable[[], None]]:
    """Return a function that keeps new pods off the node; it accepts pods again after the test."""
    yield lambda: cluster.kubectl("cordon", "node1") and None
    cluster.kubectl("uncordon", "node1")


@pytest.mark.usefixtures("impatient_operator")
@pytest.mark.parametrize("keeper", ["pod", "watch"])
def test_a_keeper_restarts_a_sweep_whose_head_has_no_node(
    cluster: Cluster, reference: Callable[[int], Path], cordon: Callable[[], None], keeper: str
) -> None:
    """From a pod of the cluster, or from outside with `watch --keep`."""
    name = f"kept-{keeper}"
    volume, study = cluster.create_volume(name), cluster.write_study(f"kept_{keeper}", LONG)
    values = str(write_values(cluster, keeper={"enabled": keeper == "pod"}))
    job = cluster.destage("submit", str(study), "--name", name, "--values", values).strip()

    def status() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(cluster.kubectl("get", "rayjob", job, "-o", "json"))["status"]
        return found

    cluster.wait_for("some rows", lambda: len(read_rows(volume)) >= 3)
    pods = cluster.find_pods(name, "keeper")
    assert len(pods) == (keeper == "pod")
    cordon()
    (head,) = cluster.find_pods(name, "head")
    cluster.kubectl("delete", "pod", head, "--grace-period=0", "--force")
    cluster.wait_for("the failure", lambda: status().get("failed") == 1, 120)
    before = read_rows(volume)
    assert len(before) < RUNS
    if keeper == "watch":
        _, err = cluster.run("watch", name, "--quiet", code=4)
        assert f"machines were lost, but no committed result: `destage cluster watch {name} --keep`" in err
    cluster.kubectl("uncordon", "node1")

    cluster.destage("watch", name, "--quiet", *(["--keep"] if keeper == "watch" else []))
    assert (status()["jobStatus"], status()["failed"]) == ("SUCCEEDED", 1)
    assert_unchanged(volume, before)
    assert_complete(find_sweep(volume, f"kept_{keeper}"), reference(LONG))
    for pod in pods:
        assert "JobStatusCheckTimeoutExceeded (failure 1); restarting" in cluster.kubectl("logs", pod)
        cluster.wait_for("the end of the keeper", lambda pod=pod: _has_succeeded(cluster, pod), 60)
    cluster.destage("delete", name, "--results")
    for component in ("keeper", "head"):
        cluster.wait_for(f"the end of {component}", lambda kind=component: not cluster.find_pods(name, kind))


def _has_succeeded(cluster: Cluster, pod: str) -> bool:
    return cluster.kubectl("get", "pod", pod, "-o", "jsonpath={.status.phase}") == "Succeeded"
