"""Sweeps on a real Kubernetes, to their end whatever is taken from them; the operator is stood in for."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rig.conftest import NAMESPACE, RUNS, SETTINGS, Rig, values_file
from rig.results import LONG, assert_kept, assert_whole, committed, sweep_of

from destage.errors import ClusterError

pytestmark = [pytest.mark.rig]


def test_a_sweep_survives_the_loss_of_a_worker_and_of_its_head(
    rig: Rig, reference: Callable[[int], Path]
) -> None:
    volume, study = rig.volume("hurt"), rig.study("hurt_sweep", LONG)
    job = rig.destage("submit", str(study), "--name", "hurt", "--values", str(values_file(rig))).strip()
    rig.wait("some rows", lambda: len(committed(volume)) >= 3)
    status = json.loads(rig.destage("status", "hurt", "--json"))
    assert status["job"]["state"] == "Running"
    assert 0 < status["results"]["present"] < RUNS

    worker = rig.pods("hurt", "worker")[0]
    rig.kubectl("delete", "pod", worker, "--grace-period=0", "--force")
    at_loss = len(committed(volume))
    rig.wait("rows after the loss of a worker", lambda: len(committed(volume)) > at_loss + 2)
    (head,) = rig.pods("hurt", "head")
    rig.kubectl("delete", "pod", head, "--grace-period=0", "--force")
    before = committed(volume)
    assert len(before) < RUNS

    rig.destage("watch", "hurt", "--quiet")
    assert_kept(volume, before)
    told = json.loads(rig.kubectl("get", "rayjob", job, "-o", "json"))["status"]
    assert told["jobStatus"] == "SUCCEEDED"
    submitter = json.loads(rig.kubectl("get", "job", job, "-o", "json"))["status"]
    assert submitter["failed"] >= 1  # it follows a head, which was lost, and submits to the next
    sweep = sweep_of(volume, "hurt_sweep")
    assert_whole(sweep, reference(LONG))

    here = rig.folder / "here"
    rig.destage("fetch", "hurt", "--store", str(here))
    assert_whole(sweep_of(here, "hurt_sweep"), sweep)
    again = json.loads(rig.destage("fetch", "hurt", "--store", str(here), "--json"))
    assert again["kept"] == len(committed(volume))
    counted = rig.destage("query", "hurt", "SELECT count(*) AS runs FROM runs", "--format", "csv")
    assert counted.replace('"', "").split() == ["runs", str(RUNS)]
    listed = json.loads(rig.destage("list", "--json"))
    assert [one["outcome"] for one in listed if one["release"] == "hurt"] == ["SUCCEEDED"]
    assert f"RayJob {job}" in rig.destage("delete", "hurt")
    rig.wait("the pods' end", lambda: not rig.pods("hurt", "worker"))
    assert "Bound" in rig.kubectl("get", "pvc", "hurt-results", "--no-headers")


def test_a_field_that_kuberay_does_not_know_is_refused_by_the_server(rig: Rig) -> None:
    from destage.cluster import Release, build, read_settings  # noqa: PLC0415
    from destage.cluster.jobs import submit  # noqa: PLC0415

    manifests = build(
        Release("strict", NAMESPACE, "1"), read_settings({**SETTINGS, "sweep": {"study": "call_center"}})
    )
    manifests[-1]["spec"]["backofLimit"] = 3
    with pytest.raises(ClusterError, match=r'unknown field "spec.backofLimit"|field not declared in schema'):
        submit(rig.api, manifests)
    assert "strict" not in rig.kubectl("get", "all,pvc,serviceaccounts,networkpolicies", "-o", "name")
