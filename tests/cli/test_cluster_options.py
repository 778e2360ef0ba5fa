"""Options of the commands for clusters: context, sweep, the log that is followed, autoscaling."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from api_server import ApiServer

from destage.cluster.client.pod_command import ReaderPod
from destage.errors import ClusterError

JOB = "/rayjobs/demo"
KEEPERS = "/apis/batch/v1/namespaces/sweeps/jobs/"


@pytest.fixture
def submitted(destage: Any, study: Path, server: ApiServer) -> ApiServer:
    assert destage("cluster", "submit", str(study), "--name", "demo").code == 0
    return server


@pytest.fixture
def two_contexts(submitted: ApiServer, tmp_path: Path) -> ApiServer:
    """Make the current context one whose server does not answer; `lab` is that of the fake server."""
    file = tmp_path / "kubeconfig"
    config = yaml.safe_load(file.read_text())
    config["contexts"][0]["name"] = "lab"
    config["clusters"].append({"name": "off", "cluster": {"server": "http://127.0.0.1:9"}})
    config["contexts"].append(
        {"name": "off", "context": {"cluster": "off", "user": "u", "namespace": "sweeps"}}
    )
    config["current-context"] = "off"
    file.write_text(yaml.safe_dump(config))
    submitted.requests.clear()
    return submitted


@pytest.mark.parametrize(
    "command",
    [
        ("cluster", "submit", "small.yaml", "--name", "demo"),
        ("cluster", "list"),
        ("cluster", "status", "demo"),
        ("cluster", "watch", "demo", "--quiet"),
        ("cluster", "logs", "demo"),
        ("cluster", "fetch", "demo"),
        ("cluster", "query", "demo", "design_space"),
        ("cluster", "scale", "demo", "--workers", "2"),
        ("cluster", "cancel", "demo"),
        ("cluster", "delete", "demo"),
        ("cluster", "doctor"),
    ],
)
def test_a_context_selects_the_cluster(
    destage: Any, two_contexts: ApiServer, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bytes:
        raise ClusterError("cluster.pod-not-started", "no node", "demo-reader")

    monkeypatch.setattr(ReaderPod, "run", refuse)
    monkeypatch.setattr("destage.cluster.client.watch.RECONNECTIONS", 0, raising=False)
    job = next(path for path in two_contexts.objects if JOB in path)
    ended = two_contexts.objects[job] | {
        "status": {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}
    }
    if command[1] == "watch":
        two_contexts.put(job, ended)
    destage(*command, "--context", "lab")
    assert two_contexts.requests
    two_contexts.requests.clear()
    done = destage(*command, "--context", "elsewhere")
    assert done.code != 0
    assert not two_contexts.requests


def test_a_sweep_may_be_named(destage: Any, submitted: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fetch and delete act on the sweep that is named in place of the one that the job records."""
    assert submitted.objects
    asked: list[str] = []

    def find(_: object, name: str) -> None:
        asked.append(name)
        raise ClusterError("cluster.sweep-unknown", "no such sweep", name)

    monkeypatch.setattr("destage.cluster.in_pod.fetched_results.find_results", find)
    assert destage("cluster", "fetch", "demo", "--sweep", "other-1").issues == [
        ("cluster.sweep-unknown", "other-1")
    ]
    assert asked == ["other-1"]
    given: list[str] = []
    monkeypatch.setattr(
        "destage.cluster.client.deletion.delete_sweep",
        lambda *_, sweep, **__: [given.append(sweep) or "RayJob demo"],
    )
    assert destage("cluster", "delete", "demo", "--results", "--sweep", "other-1").code == 0
    assert given == ["other-1"]


@pytest.mark.usefixtures("submitted")
def test_a_log_is_followed(destage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [("demo-a", "one"), ("demo-a", "\x1b[36mtwo\x1b[0m"), ("demo-b", "three")]
    monkeypatch.setattr("destage.cluster.client.logs.follow_logs", lambda *_: iter(lines))
    done = destage("cluster", "logs", "demo", "--follow")
    assert (done.out, done.err) == ("one\ntwo\nthree\n", "demo-a:\ndemo-b:\n")
    rows = [
        json.loads(line) for line in destage("cluster", "logs", "demo", "--follow", "--json").out.splitlines()
    ]
    assert [row["pod"] for row in rows] == ["demo-a", "demo-a", "demo-b"]


def test_autoscaling_has_two_ends(destage: Any, study: Path, server: ApiServer) -> None:
    destage("cluster", "submit", str(study), "--name", "demo", "--set", "autoscaling.enabled=true")
    done = destage("cluster", "scale", "demo", "--min", "1", "--max", "9")
    assert done.code == 0, done.err
    (job,) = [found for path, found in server.objects.items() if JOB in path]
    group = job["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]
    assert (group["minReplicas"], group["maxReplicas"]) == (1, 9)
    assert destage("cluster", "scale", "demo", "--min", "9", "--max", "1").code != 0


def test_cancelling_ends_the_keeper(destage: Any, submitted: ApiServer) -> None:
    """A keeper would start the sweep again."""
    assert [path for path in submitted.objects if path.startswith(KEEPERS)]
    assert destage("cluster", "cancel", "demo").code == 0
    assert not [path for path in submitted.objects if path.startswith(KEEPERS)]
