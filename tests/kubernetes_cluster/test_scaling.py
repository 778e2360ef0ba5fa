"""A sweep that somebody with the Role for users alone scales, watches, cancels and takes up again.

The operator is stood in for: that KubeRay makes and takes workers when `replicas` changes is its own claim.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from kubernetes_cluster.conftest import RUNS, SETTINGS, Cluster, values_file
from kubernetes_cluster.results import LONG, assert_kept, assert_whole, committed, hosts, sweep_of

pytestmark = [pytest.mark.kubernetes]


def scale(cluster: Cluster, name: str, workers: int) -> None:
    """Ask for so many workers, as docs/cluster.md says."""
    changes = [
        {"op": "replace", "path": f"/spec/workerGroupSpecs/0/{name}", "value": workers}
        for name in ("minReplicas", "maxReplicas", "replicas")
    ]
    cluster.kubectl("patch", "raycluster", name, "--type=json", "-p", json.dumps(changes))


def restart_the_api_server() -> None:
    """End the API server and start it again as it was; what waits on it loses its connection."""
    folder = Path(os.environ["K"]) / "run"
    pid = int((folder / "apiserver.pid").read_text())
    command = Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    os.kill(pid, signal.SIGTERM)
    while Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_text():
        time.sleep(0.1)
    with (folder / "log" / "apiserver.log").open("a") as log:
        again = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, start_new_session=True)
    (folder / "apiserver.pid").write_text(str(again.pid))


def test_a_sweep_is_scaled_watched_cancelled_and_taken_up_again(
    cluster: Cluster, person: Path, reference: Callable[[int], Path]
) -> None:
    def say(*args: str, code: int = 0) -> tuple[str, str]:
        return cluster.say(*args, code=code, config=person)

    volume, study = cluster.volume("living"), cluster.study("living_sweep", LONG)
    (group,) = SETTINGS["workers"]
    values = str(values_file(cluster, workers=[{**group, "replicas": 1}]))
    job = say("submit", str(study), "--name", "living", "--values", values)[0].strip()
    cluster.wait("some rows", lambda: len(committed(volume)) >= 2)
    assert "Running" in say("list")[0]
    assert "nothing is missing" in say("doctor")[1]
    status = json.loads(say("status", "living", "--json")[0])
    assert (status["job"]["state"], status["troubles"]) == ("Running", [])
    assert 0 < status["results"]["present"] < RUNS
    assert "living_sweep: " in say("logs", "living")[0]
    assert "Ray runtime started" in say("logs", "living", "--component", "head")[0]
    assert "Ray runtime started" in say("logs", "living", "--component", "worker")[0]

    # A second worker; the API server goes away under those who watch, and comes back.
    watch = cluster.begin("watch", "living", config=person)
    assert watch.stderr is not None
    assert f"{job}: Running" in watch.stderr.readline()
    assert len(hosts(volume)) == 1
    scale(cluster, status["job"]["cluster"], 2)
    restart_the_api_server()
    cluster.wait("rows of a second worker", lambda: len(hosts(volume)) == 2)
    before = committed(volume)
    scale(cluster, status["job"]["cluster"], 1)
    cluster.wait("one worker", lambda: len(cluster.pods("living", "worker")) == 1)
    cluster.wait("rows of the worker that is left", lambda: len(committed(volume)) > len(before) + 2)

    # Cancelled: the pods go, the rows stay.
    say("cancel", "living")
    _, told = watch.communicate(timeout=120)
    assert watch.returncode == 130, told
    assert "cancelled; submit the study again to go on" in told
    for component in ("head", "worker", "submitter"):
        cluster.wait(f"the end of {component}", lambda kind=component: not cluster.pods("living", kind))
    before = committed(volume)
    assert "Suspended" in say("status", "living")[0]
    assert "is cancelled already" in say("cancel", "living", code=4)[1]

    # Submitted again: it goes on from there.
    assert (
        say("submit", str(study), "--name", "living", "--values", str(values_file(cluster)))[0].strip() == job
    )
    say("watch", "living", "--quiet")
    assert_kept(volume, before)
    assert_whole(sweep_of(volume, "living_sweep"), reference(LONG))
    counted, _ = say("query", "living", "SELECT count(*) AS runs FROM runs", "--format", "csv")
    assert counted.replace('"', "").split() == ["runs", str(RUNS)]
    say("fetch", "living", "--store", str(cluster.folder / "living"))
    assert_whole(sweep_of(cluster.folder / "living", "living_sweep"), sweep_of(volume, "living_sweep"))
    assert f"RayJob {job}" in say("delete", "living", "--results")[0]
    cluster.wait("the claim's end", lambda: "living" not in cluster.kubectl("get", "pvc", "-o", "name"))
