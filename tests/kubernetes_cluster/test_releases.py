"""Releases of the chart on a real Kubernetes: upgrade, rollback and uninstall."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from kubernetes_cluster.conftest import RUNS, SETTINGS, Cluster, helm, write_values
from kubernetes_cluster.results import (
    LONG,
    SHORT,
    assert_complete,
    assert_unchanged,
    find_sweep,
    read_rows,
)

from destage.store import open_sweep

pytestmark = [pytest.mark.kubernetes]


def test_upgrade_and_rollback_keep_both_studies_results(
    cluster: Cluster, chart: Path, reference: Callable[[int], Path]
) -> None:
    volume = cluster.create_volume("demo")
    first, second = cluster.write_study("first_sweep", LONG), cluster.write_study("second_sweep", SHORT)
    values = str(write_values(cluster))
    notes = helm("install", "demo", str(chart), "--values", values, "--set-file", f"sweep.spec={first}")
    assert "destage cluster watch demo --namespace sweeps" in notes
    cluster.wait_for("some rows", lambda: len(read_rows(volume)) >= 3)

    # Upgrade to another study, which ends the first sweep's pods; the second uses the same claim.
    upgrade = ["upgrade", "demo", str(chart), "--values", values, "--set-file", f"sweep.spec={second}"]
    with pytest.raises(AssertionError, match=r"cluster\.sweep-running at RayJob demo-"):
        helm(*upgrade)
    helm(*upgrade, "--set", "upgrade.replaceRunning=true")
    cluster.destage("watch", "demo", "--quiet")
    assert_complete(find_sweep(volume, "second_sweep"), reference(SHORT))
    before = read_rows(volume)
    assert open_sweep(find_sweep(volume, "first_sweep")).rows().num_rows < RUNS
    status = json.loads(cluster.destage("status", "demo", "--json"))
    assert status["sweep"].startswith("second_sweep-")
    assert (status["results"]["finished"], status["results"]["present"]) == (True, RUNS)

    # Roll back: the first sweep resumes.
    helm("rollback", "demo", "1")
    cluster.destage("watch", "demo", "--quiet")
    assert_unchanged(volume, before)
    assert_complete(find_sweep(volume, "first_sweep"), reference(LONG))

    helm("test", "demo", "--timeout", "5m")
    before = read_rows(volume)
    helm("uninstall", "demo")
    assert "Bound" in cluster.kubectl("get", "pvc", "demo-results", "--no-headers")
    assert read_rows(volume) == before


def test_an_upgrade_starts_a_failed_sweep_again(
    cluster: Cluster, chart: Path, reference: Callable[[int], Path]
) -> None:
    """Its deadline has passed, which nothing retries; then it is upgraded with a later one."""
    volume, study = cluster.create_volume("late"), cluster.write_study("late_sweep", LONG)
    given = ["late", str(chart), "--set-file", f"sweep.spec={study}", "--values"]
    helm("install", *given, str(write_values(cluster)))
    # On a slow machine, the first row comes late: the deadline is set when it is there.
    cluster.wait_for("a row", lambda: read_rows(volume))
    (job,) = cluster.kubectl("get", "rayjobs", "-l", "destage.io/release=late", "-o", "name").split()
    cluster.kubectl("patch", job, "--type", "merge", "-p", '{"spec": {"activeDeadlineSeconds": 60}}')
    _, err = cluster.run("watch", "late", "--quiet", code=4)
    assert "DeadlineExceeded" in err
    before = read_rows(volume)
    assert len(before) > 0
    (group,) = SETTINGS["workers"]
    later = {**SETTINGS["job"], "activeDeadlineSeconds": 1200}
    notes = helm("upgrade", *given, str(write_values(cluster, job=later)))
    assert "the keeper starts it again within a minute" in notes
    cluster.wait_for("the restart", lambda: "Running" in cluster.destage("status", "late"), 120)
    one = str(write_values(cluster, workers=[{**group, "replicas": 1}], job=later))
    assert "destage cluster scale late --namespace sweeps --group w --workers 1" in helm(
        "upgrade", *given, one
    )
    cluster.destage("watch", "late", "--quiet")
    assert_unchanged(volume, before)
    assert_complete(find_sweep(volume, "late_sweep"), reference(LONG))
    helm("uninstall", "late")
    for component in ("keeper", "reader", "head"):
        cluster.wait_for(
            f"the end of {component}", lambda kind=component: not cluster.find_pods("late", kind)
        )
