"""A user with only the Role for users scales, watches, cancels and resumes a sweep."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from kubernetes_cluster.conftest import RUNS, SETTINGS, Cluster, write_values
from kubernetes_cluster.results import (
    LONGER,
    assert_complete,
    assert_recorded,
    assert_unchanged,
    find_hosts,
    find_sweep,
    read_rows,
    wait_for_rows,
)

from destage.cluster.client.objects import find_all
from destage.errors import ClusterError

pytestmark = [pytest.mark.kubernetes]


def restart_the_api_server() -> None:
    """Restart the API server, which drops all connections."""
    folder = Path(os.environ["K"]) / "run"
    pid = int((folder / "apiserver.pid").read_text())
    command = Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    os.kill(pid, signal.SIGTERM)
    while Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_text():
        time.sleep(0.1)
    with (folder / "log" / "apiserver.log").open("a") as log:
        again = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, start_new_session=True)
    (folder / "apiserver.pid").write_text(str(again.pid))


def is_serving(cluster: Cluster) -> bool:
    """Return whether the API server knows KubeRay's kinds, which takes seconds after its start."""
    try:
        find_all(cluster.api, "RayJob")
    except ClusterError:
        return False
    return True


def test_a_user_scales_watches_cancels_and_resumes_a_sweep(
    cluster: Cluster, user_config: Path, reference: Callable[[int], Path]
) -> None:
    def run(*args: str, code: int = 0) -> tuple[str, str]:
        return cluster.run(*args, code=code, config=user_config)

    volume, study = cluster.create_volume("living"), cluster.write_study("living_sweep", LONGER)
    (group,) = SETTINGS["workers"]
    values = str(write_values(cluster, workers=[{**group, "replicas": 1}]))
    job = run("submit", str(study), "--name", "living", "--values", values)[0].strip()
    seen = wait_for_rows(cluster, 2, lambda: read_rows(volume))
    assert "Running" in run("list")[0]
    run("doctor")
    status = json.loads(run("status", "living", "--json")[0])
    assert (status["job"]["state"], status["diagnostics"]) == ("Running", [])
    assert_recorded(status["results"], seen)
    # The head was asked: no reader takes room from the sweep.
    assert status["results"]["recorded_s"] < 60
    assert not cluster.find_pods("living", "reader")
    assert "living_sweep: " in run("logs", "living")[0]
    assert "Ray runtime started" in run("logs", "living", "--component", "head")[0]
    assert "Ray runtime started" in run("logs", "living", "--component", "worker")[0]

    # A second worker; the API server restarts while a watch is running.
    watch = cluster.start("watch", "living", "--timeout", "10min", config=user_config)
    assert watch.stderr is not None
    assert f"{job}: Running" in watch.stderr.readline()
    # Read before the restart: the sweep may end sooner than a restarted server is asked again.
    assert any("; driver: last sign of life " in line for line in watch.stderr)
    assert len(find_hosts(volume)) == 1
    assert "group w has 2 workers" in run("scale", "living", "--workers", "2")[1]
    restart_the_api_server()
    cluster.wait_for("rows of a second worker", lambda: len(find_hosts(volume)) == 2)
    cluster.wait_for("the API server", lambda: is_serving(cluster))
    before = read_rows(volume)
    run("scale", "living", "--workers", "1")
    cluster.wait_for("one worker", lambda: len(cluster.find_pods("living", "worker")) == 1)
    cluster.wait_for("rows of the worker that is left", lambda: len(read_rows(volume)) > len(before) + 2)

    # Cancelled: the pods are deleted, the rows are kept.
    run("cancel", "living")
    _, err = watch.communicate(timeout=120)
    assert watch.returncode == 130, err
    assert " of 200 runs" in err
    for component in ("head", "worker", "submitter"):
        cluster.wait_for(
            f"the end of {component}", lambda kind=component: not cluster.find_pods("living", kind)
        )
    before = read_rows(volume)
    assert "Suspended" in run("status", "living")[0]
    assert "cluster.already-cancelled" in run("cancel", "living", code=4)[1]

    # Submitted again: the sweep resumes.
    assert (
        run("submit", str(study), "--name", "living", "--values", str(write_values(cluster)))[0].strip()
        == job
    )
    run("watch", "living", "--quiet")
    assert_unchanged(volume, before)
    assert_complete(find_sweep(volume, "living_sweep"), reference(LONGER))
    counted, _ = run("query", "living", "SELECT count(*) AS runs FROM runs", "--format", "csv")
    assert counted.replace('"', "").split() == ["runs", str(RUNS)]
    run("fetch", "living", "--store", str(cluster.folder / "living"))
    cluster.wait_for("the readers' end", lambda: not cluster.find_pods("living", "reader"), 30)
    assert_complete(find_sweep(cluster.folder / "living", "living_sweep"), find_sweep(volume, "living_sweep"))
    assert f"RayJob {job}" in run("delete", "living", "--results")[0]
    cluster.wait_for("the claim's end", lambda: "living" not in cluster.kubectl("get", "pvc", "-o", "name"))
