"""The diagnostics of a sweep whose pods cannot run."""

from pathlib import Path
from typing import Any

import pytest
from kubernetes_cluster.conftest import SETTINGS, VERSION, Cluster, helm, write_values

pytestmark = [pytest.mark.kubernetes]
(GROUP,) = SETTINGS["workers"]
SMALL = {"workers": [{**GROUP, "replicas": 1, "cpu": "100m"}]}
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "cpu": (
        {"head": {"cpu": "64", "memory": "2Gi"}},
        "cluster.pod-unschedulable at head pod: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu",
    ),
    "image": (
        {"image": {"repository": "example.local/dstage", "tag": VERSION, "pullPolicy": "Never"}},
        "cluster.image-not-pulled at head pod: ErrImageNeverPull: Container image",
    ),
    "config": (
        {"sweep": {"configMap": "my-study"}},
        "cluster.config-map-missing at head pod: FailedMount: MountVolume.SetUp failed for volume",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_pod_that_cannot_run_is_reported(cluster: Cluster, chart: Path, name: str) -> None:
    changed, warning = CASES[name]
    cluster.create_volume(name)
    given = {"sweep": {"study": "call_center"}, **SMALL, **changed}
    helm("install", name, str(chart), "--values", str(write_values(cluster, **given)))

    def is_reported() -> bool:
        out, err = cluster.run("status", name)
        # A worker without its image fails in the init container that waits for the head.
        is_complete = name != "image" or "cluster.image-not-pulled at worker pod: ErrImageNeverPull" in err
        return "Initializing" in out and warning in err and is_complete

    cluster.wait_for(warning, is_reported, 60)
    _, err = cluster.run("watch", name, "--timeout", "1s", code=4)
    assert warning in err
    assert "cluster.watch-timeout" in err
    cluster.destage("delete", name, "--results")
    cluster.wait_for("the pods' end", lambda: not cluster.find_pods(name, "head"))
    helm("uninstall", name)


def test_an_error_in_the_study_is_reported(cluster: Cluster, chart: Path) -> None:
    cluster.create_volume("spec")
    study = cluster.folder / "mistaken.yaml"
    study.write_text("name: mistaken\nscenario: {workload: {use: call_centre}}\n")
    values = write_values(cluster, **SMALL, job={**SETTINGS["job"], "backoffLimit": 0})
    helm("install", "spec", str(chart), "--values", str(values), "--set-file", f"sweep.spec={study}")
    _, err = cluster.run("watch", "spec", "--quiet", code=4)
    assert "Failed (FAILED)" in err
    assert "catalog.unknown-entry at scenario.workload.use" in err
    assert "catalog.unknown-entry at scenario.workload.use" in cluster.destage("status", "spec")
    helm("uninstall", "spec")
