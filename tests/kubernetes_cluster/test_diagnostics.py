"""What a user reads of a sweep whose pods cannot run; the operator is stood in for."""

from pathlib import Path
from typing import Any

import pytest
from kubernetes_cluster.conftest import SETTINGS, VERSION, Cluster, helm, values_file

pytestmark = [pytest.mark.kubernetes]
(GROUP,) = SETTINGS["workers"]
SMALL = {"workers": [{**GROUP, "replicas": 1, "cpu": "100m"}]}
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "room": (
        {"head": {"cpu": "64", "memory": "2Gi"}},
        "the head's pod: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu",
        "ask for less (cpu, memory, fewer workers.N.replicas)",
    ),
    "image": (
        {"image": {"repository": "example.local/dstage", "tag": VERSION, "pullPolicy": "Never"}},
        f'the head\'s pod: ErrImageNeverPull: Container image "example.local/dstage:{VERSION}" is not',
        "check image.repository, image.tag and image.pullSecrets",
    ),
    "config": (
        {"sweep": {"configMap": "my-study"}},
        'the head\'s pod: FailedMount: MountVolume.SetUp failed for volume "study" : configmap "my-study"',
        "make it with `kubectl create configmap NAME --from-file=study.yaml=STUDY`",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_pod_that_cannot_run_is_told_with_its_mend(cluster: Cluster, chart: Path, name: str) -> None:
    changed, told, mend = CASES[name]
    cluster.volume(name)
    given = {"sweep": {"study": "call_center"}, **SMALL, **changed}
    helm("install", name, str(chart), "--values", str(values_file(cluster, **given)))

    def seen() -> bool:
        out, err = cluster.say("status", name)
        # A worker that lacks its image lacks it first for the container in which it waits for its head.
        workers = name != "image" or "the worker's pod: ErrImageNeverPull" in err
        return "Initializing" in out and told in err and mend in err and workers

    cluster.wait(told, seen, 60)
    _, err = cluster.say("watch", name, "--timeout", "1", code=4)
    assert told in err
    assert "has not ended after 1 s: Initializing" in err
    cluster.destage("delete", name, "--results")
    cluster.wait("the pods' end", lambda: not cluster.pods(name, "head"))
    helm("uninstall", name)


def test_a_study_with_a_mistake_is_told_by_its_own_words(cluster: Cluster, chart: Path) -> None:
    cluster.volume("spec")
    study = cluster.folder / "mistaken.yaml"
    study.write_text("name: mistaken\nscenario: {workload: {use: call_centre}}\n")
    values = values_file(cluster, **SMALL, job={**SETTINGS["job"], "backoffLimit": 0})
    helm("install", "spec", str(chart), "--values", str(values), "--set-file", f"sweep.spec={study}")
    _, err = cluster.say("watch", "spec", "--quiet", code=4)
    assert "Failed (FAILED)" in err
    assert "did you mean 'call_center'" in err
    out, _ = cluster.say("status", "spec")
    assert "did you mean 'call_center'" in out
    helm("uninstall", "spec")
