"""Sweeps on a real Kubernetes, to their end whatever is taken from them; the operator is stood in for."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from kubernetes_cluster.conftest import NAMESPACE, RUNS, SETTINGS, Cluster, values_file
from kubernetes_cluster.results import (
    LONG,
    SHORT,
    assert_brought_and_told,
    assert_kept,
    assert_whole,
    committed,
    lose_a_worker_and_the_head,
    sweep_of,
)

from destage.errors import ClusterError

pytestmark = [pytest.mark.kubernetes]


def test_a_sweep_survives_the_loss_of_a_worker_and_of_its_head(
    cluster: Cluster, reference: Callable[[int], Path]
) -> None:
    volume, study = cluster.volume("hurt"), cluster.study("hurt_sweep", LONG)
    job = cluster.destage(
        "submit", str(study), "--name", "hurt", "--values", str(values_file(cluster))
    ).strip()
    before = lose_a_worker_and_the_head(cluster, "hurt", lambda: committed(volume))

    cluster.destage("watch", "hurt", "--quiet")
    assert_kept(volume, before)
    told = json.loads(cluster.kubectl("get", "rayjob", job, "-o", "json"))["status"]
    assert told["jobStatus"] == "SUCCEEDED"
    submitter = json.loads(cluster.kubectl("get", "job", job, "-o", "json"))["status"]
    assert submitter["failed"] >= 1  # it follows a head, which was lost, and submits to the next
    assert_whole(sweep_of(volume, "hurt_sweep"), reference(LONG))

    assert_brought_and_told(cluster, "hurt", len(committed(volume)), reference(LONG))
    assert f"RayJob {job}" in cluster.destage("delete", "hurt")
    cluster.wait("the pods' end", lambda: not cluster.pods("hurt", "worker"))
    assert "Bound" in cluster.kubectl("get", "pvc", "hurt-results", "--no-headers")


def test_a_cluster_that_is_lost_for_good_is_followed_by_a_new_one_that_goes_on(
    cluster: Cluster, reference: Callable[[int], Path]
) -> None:
    volume, study = cluster.volume("again"), cluster.study("again_sweep", LONG)
    # The submitter that has lost its head is not tried again, so that the job fails, and is.
    values = values_file(cluster, job={**SETTINGS["job"], "submitterBackoffLimit": 0})
    job = cluster.destage("submit", str(study), "--name", "again", "--values", str(values)).strip()
    cluster.wait("some rows", lambda: len(committed(volume)) >= 3)

    def cluster_name() -> str:
        told = json.loads(cluster.kubectl("get", "rayjob", job, "-o", "json"))["status"]
        return str(told.get("rayClusterName") or "")

    first = cluster_name()
    (head,) = cluster.pods("again", "head")
    cluster.kubectl("delete", "pod", head, "--grace-period=0", "--force")
    cluster.wait("another cluster", lambda: cluster_name() not in ("", first))
    before = committed(volume)
    assert 0 < len(before) < RUNS
    cluster.destage("watch", "again", "--quiet")
    assert_kept(volume, before)
    assert_whole(sweep_of(volume, "again_sweep"), reference(LONG))
    assert json.loads(cluster.kubectl("get", "rayjob", job, "-o", "json"))["status"]["failed"] == 1
    cluster.destage("delete", "again", "--results")


def test_of_a_sweep_with_autoscaling_nothing_is_left(cluster: Cluster) -> None:
    cluster.volume("scaled")
    study, values = cluster.study("scaled_sweep", SHORT), values_file(cluster, autoscaling={"enabled": True})
    cluster.destage("submit", str(study), "--name", "scaled", "--values", str(values))

    def left() -> list[str]:
        kinds = "roles,rolebindings,serviceaccounts,networkpolicies,configmaps,pvc,rayjobs,rayclusters,pods"
        return cluster.kubectl("get", kinds, "-l", "destage.io/release=scaled", "-o", "name").split()

    assert "role.rbac.authorization.k8s.io/scaled-autoscaler" in left()
    cluster.destage("delete", "scaled", "--results")
    cluster.wait("the end of all of it", lambda: not left())


def test_a_field_that_kuberay_does_not_know_is_refused_by_the_server(cluster: Cluster) -> None:
    from destage.cluster import Release, build, read_settings  # noqa: PLC0415
    from destage.cluster.jobs import submit  # noqa: PLC0415

    manifests = build(
        Release("strict", NAMESPACE, "1"), read_settings({**SETTINGS, "sweep": {"study": "call_center"}})
    )
    manifests[-1]["spec"]["backofLimit"] = 3
    with pytest.raises(ClusterError, match=r'unknown field "spec.backofLimit"|field not declared in schema'):
        submit(cluster.api, manifests)
    assert "strict" not in cluster.kubectl("get", "all,pvc,serviceaccounts,networkpolicies", "-o", "name")
