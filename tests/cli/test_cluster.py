"""`destage cluster` against a small API server."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from api_server import ApiServer

from destage.cluster.client.pod_command import HeadPod, ReaderPod
from destage.errors import ClusterError

EXAMPLES = Path(__file__).parents[2] / "examples"
JOBS = "/apis/ray.io/v1/namespaces/sweeps/rayjobs"
STATUS = {"planned": 8, "present": 3, "failed": 1, "rounds": 1, "finished": False, "writer": None}


def the_job(server: ApiServer) -> tuple[str, dict[str, Any]]:
    ((path, job),) = [(path, one) for path, one in server.objects.items() if path.startswith(JOBS)]
    return path, job


def test_a_dry_run_prints_manifests_and_sends_nothing(destage: Any, study: Path) -> None:
    done = destage("cluster", "submit", str(study), "--dry-run", "--set", "workers.0.replicas=7", "-n", "lab")
    assert done.code == 0
    manifests = list(yaml.safe_load_all(done.out))
    assert {one["metadata"]["namespace"] for one in manifests} == {"lab"}
    (job,) = [one for one in manifests if one["kind"] == "RayJob"]
    assert job["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] == 7
    (config,) = [one for one in manifests if one["kind"] == "ConfigMap"]
    assert config["data"]["study.yaml"] == study.read_text()
    as_json = json.loads(destage("cluster", "submit", str(study), "--dry-run", "--json", "-n", "lab").out)
    # `kubectl apply` reads this form.
    assert (as_json["apiVersion"], as_json["kind"]) == ("v1", "List")
    assert [one["metadata"] for one in as_json["items"]] == [one["metadata"] for one in manifests]


@pytest.mark.parametrize("name", ["Foo_Bar", "-x"])
def test_an_impossible_name_sends_nothing(destage: Any, study: Path, server: ApiServer, name: str) -> None:
    for arguments in (("submit", str(study), "--dry-run"), ("doctor",)):
        done = destage("cluster", *arguments, "--name", name)
        assert (done.code, done.out) == (2, "")
        assert [code for code, _ in done.issues] == ["settings.bad-release-name"]
    assert not server.requests


def test_later_settings_win_and_mistakes_have_codes(destage: Any, study: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("head: {cpu: 2, memory: 8Gi}\n")
    second.write_text("head: {cpu: 3}\n")
    done = destage("cluster", "submit", str(study), "--dry-run", "-f", str(first), "-f", str(second))
    (job,) = [one for one in yaml.safe_load_all(done.out) if one["kind"] == "RayJob"]
    head = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]
    assert head["resources"]["limits"] == {"cpu": "3", "memory": "8Gi"}
    for given, code in (
        ("hed.cpu=2", "settings.unknown-key"),
        ("head.cpu", "settings.bad-option"),
        ("workers.4.cpu=1", "settings.no-such-item"),
        ("head.cpu=[1", "settings.bad-syntax"),
        ("job.backoffLimit=1.0.0", "settings.wrong-type"),
        ("image.tag=null", "settings.wrong-type"),
    ):
        wrong = destage("cluster", "submit", str(study), "--dry-run", "--set", given)
        assert (wrong.code, wrong.out, [found for found, _ in wrong.issues]) == (2, "", [code])


def test_a_number_for_a_text_setting_stays_as_written(destage: Any, study: Path) -> None:
    given = ("image.tag=1.10", "head.cpu=1.50", "head.nodeSelector.gen=007", "workers.0.nodeSelector.on=true")
    given += ("claim.storageClass=2026-01-01", "workers.0.slots=010", 'image.repository="7"')
    done = destage("cluster", "submit", str(study), "--dry-run", *(f"--set={each}" for each in given))
    manifests = list(yaml.safe_load_all(done.out))
    (job,) = [one for one in manifests if one["kind"] == "RayJob"]
    ray = job["spec"]["rayClusterSpec"]
    head, worker = (each["template"]["spec"] for each in (ray["headGroupSpec"], ray["workerGroupSpecs"][0]))
    assert head["containers"][0]["image"] == "7:1.10"
    assert head["containers"][0]["resources"]["limits"]["cpu"] == "1.50"
    assert (head["nodeSelector"], worker["nodeSelector"]) == ({"gen": "007"}, {"on": "true"})
    (claim,) = [one for one in manifests if one["kind"] == "PersistentVolumeClaim"]
    assert claim["spec"]["storageClassName"] == "2026-01-01"


def test_the_given_study_replaces_that_of_a_values_file(destage: Any, study: Path, tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text("sweep: {study: heavy_users, configMap: mine}\n")
    for spec, kinds in ((str(study), 1), ("call_center", 0)):
        done = destage("cluster", "submit", spec, "--dry-run", "-f", str(values))
        assert done.code == 0
        manifests = list(yaml.safe_load_all(done.out))
        assert sum(one["kind"] == "ConfigMap" for one in manifests) == kinds
        entrypoint = manifests[-1]["spec"]["entrypoint"]
        assert ("call_center" in entrypoint, "heavy_users" in entrypoint) == (not kinds, False)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "study.not-found"),
        (b"name: \xd0\x01", "study.bad-syntax"),
        (b"", "study.wrong-type"),
        (b"name: x\nscenario: {}\nsek: {}\n", "study.unknown-key"),
    ],
)
def test_an_invalid_study_is_reported_as_by_run(
    destage: Any, tmp_path: Path, content: bytes | None, code: str
) -> None:
    """And before mistakes in the settings."""
    study = tmp_path / "it.yaml"
    if content is not None:
        study.write_bytes(content)
    done = destage("cluster", "submit", str(study), "--dry-run", "--set", "hed.cpu=2")
    assert (done.code, done.out) == (2, "")
    assert code in [found for found, _ in done.issues]
    assert done.err == destage("run", str(study), "--store", str(tmp_path / "store")).err


def test_a_trace_must_be_readable_by_the_pods(destage: Any, tmp_path: Path) -> None:
    study = tmp_path / "replay.yaml"
    text = (EXAMPLES / "pgbench-write-cache.yaml").read_text()
    study.write_text(text.replace("pgbench.parquet", str(EXAMPLES / "pgbench.parquet")))
    bucket = ("--set", "store.url=s3://bucket/p")
    for settings, code in (((), "cluster.trace-not-on-volume"), (bucket, "cluster.trace-not-in-bucket")):
        failed = destage("cluster", "submit", str(study), "--dry-run", *settings)
        assert (failed.code, failed.out) == (2, "")
        assert failed.issues == [(code, str(EXAMPLES / "pgbench.parquet"))]
    study.write_text(text.replace("pgbench.parquet", "/results/traces/pgbench.parquet"))
    done = destage("cluster", "submit", str(study), "--dry-run")
    assert done.code == 0
    assert "/results/traces/pgbench.parquet" in done.out
    assert destage("cluster", "submit", str(study), "--dry-run", *bucket).code == 2


def test_a_trace_that_only_pods_reach_is_not_an_error(
    destage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("destage.objects.object_path._PAUSES_S", ())
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    options = "?scheme=http&endpoint_override=127.0.0.1:9&region=us-east-1"
    study = tmp_path / "replay.yaml"
    text = (EXAMPLES / "pgbench-write-cache.yaml").read_text()
    study.write_text(text.replace("pgbench.parquet", f'"s3://bucket/pgbench.parquet{options}"'))
    done = destage("cluster", "submit", str(study), "--dry-run", "--set", f"store.url=s3://bucket/p{options}")
    assert done.code == 0
    assert "bucket.unreachable" in done.err
    assert "s3://bucket/pgbench.parquet" in done.out
    failed = destage("cluster", "submit", str(study), "--dry-run")
    assert (failed.code, failed.out) == (2, "")
    assert [code for code, _ in failed.issues] == ["cluster.trace-without-credentials"]


def test_a_sweep_from_submission_to_deletion(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = destage("cluster", "submit", str(study), "--name", "demo")
    assert done.code == 0
    path, job = the_job(server)
    assert done.out == f"{job['metadata']['name']}\n"
    assert "destage cluster watch demo --namespace sweeps" in done.err
    sweep = job["metadata"]["annotations"]["destage.io/sweep"]
    assert sweep.startswith("small-")

    running = {"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"}
    server.put(path, {**job, "status": running})
    assert "Running (RUNNING)" in destage("cluster", "list").out
    (listed,) = json.loads(destage("cluster", "list", "--json").out)
    assert (listed["release"], listed["sweep"], listed["outcome"]) == ("demo", sweep, "RUNNING")

    monkeypatch.setattr(ReaderPod, "run", lambda *_: json.dumps({sweep: STATUS, "other-01": STATUS}).encode())
    assert "unfinished: 3 of 8 runs, 1 failed" in destage("cluster", "status", "demo").out
    both = json.loads(destage("cluster", "status", "demo", "--json").out)
    assert (both["job"]["state"], both["results"]["present"]) == ("Running", 3)

    assert destage("cluster", "cancel", "demo").code == 0
    assert the_job(server)[1]["spec"]["suspend"] is True
    deleted = destage("cluster", "delete", "demo")
    assert "RayJob" in deleted.out
    assert "results are kept in the claim demo-results: " in deleted.err


def test_a_kept_claim_can_be_read_again_and_deleted(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    destage("cluster", "submit", str(study), "--name", "demo")
    path, job = the_job(server)
    deleted = destage("cluster", "delete", "demo")
    assert [one["kind"] for one in server.objects.values()] == ["PersistentVolumeClaim"]
    assert "results are kept in the claim demo-results: " in deleted.err
    assert "`destage cluster delete demo --results` deletes them" in deleted.err
    for command in (("status", "demo"), ("fetch", "demo"), ("query", "demo", "SELECT 1"), ("delete", "demo")):
        done = destage("cluster", *command)
        assert (done.code, done.out) == (4, "")
        assert done.issues == [("cluster.sweep-deleted", "demo")]
    # The same job, submitted again, uses the same claim.
    assert destage("cluster", "submit", str(study), "--name", "demo").code == 0
    assert the_job(server)[0] == path
    claims = [
        each["persistentVolumeClaim"]["claimName"]
        for each in the_job(server)[1]["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"][
            "volumes"
        ]
        if "persistentVolumeClaim" in each
    ]
    assert claims == ["demo-results"]
    sweep = job["metadata"]["annotations"]["destage.io/sweep"]
    monkeypatch.setattr(ReaderPod, "run", lambda *_: json.dumps({sweep: STATUS}).encode())
    assert "3 of 8 runs" in destage("cluster", "status", "demo").out
    assert destage("cluster", "delete", "demo").code == 0
    done = destage("cluster", "delete", "demo", "--results", "--json")
    assert (done.code, json.loads(done.out)) == (0, ["PersistentVolumeClaim demo-results"])
    assert not server.objects
    done = destage("cluster", "delete", "demo", "--results")
    assert (done.code, done.issues) == (4, [("cluster.sweep-missing", "demo")])


def test_an_existing_claim_is_never_deleted(destage: Any, study: Path, server: ApiServer) -> None:
    path = "/api/v1/namespaces/sweeps/persistentvolumeclaims/mine"
    server.put(path, {"kind": "PersistentVolumeClaim", "metadata": {"name": "mine"}})
    given = ("submit", str(study), "--name", "demo", "--set", "claim.existing=mine")
    for options in ((), ("--results",)):
        destage("cluster", *given)
        done = destage("cluster", "delete", "demo", *options)
        assert (done.code, list(server.objects)) == (0, [path])
        assert "existed before the sweep" in done.err
    assert destage("cluster", "delete", "demo", "--results").code == 4
    assert list(server.objects) == [path]


def test_results_in_a_bucket_are_kept(destage: Any, study: Path, server: ApiServer) -> None:
    destage("cluster", "submit", str(study), "--name", "demo", "--set", "store.url=s3://bucket/p")
    done = destage("cluster", "delete", "demo")
    assert not server.objects
    assert "results are kept in s3://bucket/p: " in done.err
    assert "`--store s3://bucket/p` reads them from here" in done.err
    done = destage("cluster", "delete", "demo", "--results")
    assert (done.code, done.issues) == (4, [("cluster.sweep-missing", "demo")])


def test_status_without_results_shows_the_job(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bytes:
        raise ClusterError("cluster.pod-not-started", "Unschedulable: 0/1 nodes", "demo-reader")

    destage("cluster", "submit", str(study), "--name", "demo")
    assert server.objects
    monkeypatch.setattr(ReaderPod, "run", refuse)
    done = destage("cluster", "status", "demo")
    assert (done.code, "New" in done.out) == (0, True)
    assert ("cluster.pod-not-started", "demo-reader") in done.issues


def test_a_query_of_a_recorded_sweep_is_one_command(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    destage("cluster", "submit", str(study), "--name", "demo")
    sweep = the_job(server)[1]["metadata"]["annotations"]["destage.io/sweep"]
    asked: list[tuple[str, ...]] = []

    def ask(_: ReaderPod, *command: str) -> bytes:
        asked.append(command)
        return b"one\n1\n"

    monkeypatch.setattr(ReaderPod, "run", ask)
    assert destage("cluster", "query", "demo", "SELECT 1 AS one", "--format", "csv").out == "one\n1\n"
    (command,) = asked
    assert command[:4] == ("destage", "query", sweep, "SELECT 1 AS one")


@pytest.mark.parametrize(("outcome", "code"), [("SUCCEEDED", 0), ("FAILED", 4)])
def test_watching_ends_with_the_job(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch, outcome: str, code: int
) -> None:
    destage("cluster", "submit", str(study), "--name", "demo")
    _, job = the_job(server)
    name = job["metadata"]["annotations"]["destage.io/sweep"]
    monkeypatch.setattr(ReaderPod, "run", lambda *_: json.dumps({name: STATUS}).encode())
    ended = {
        **job,
        "metadata": {**job["metadata"], "resourceVersion": "900"},
        "status": {"jobDeploymentStatus": "Complete", "jobStatus": outcome},
    }
    server.watches.append([{"type": "MODIFIED", "object": ended}])
    done = destage("cluster", "watch", "demo")
    assert done.code == code
    assert "3 of 8 runs" in done.err
    assert f"Complete ({outcome})" in done.err


@pytest.mark.parametrize(
    ("event", "code", "line"),
    [
        ({"status": {"jobDeploymentStatus": "Suspended"}}, 130, ": cancelled; "),
        (None, 4, "error: cluster.sweep-missing at "),
    ],
)
def test_watching_ends_on_cancellation_and_deletion(
    destage: Any,
    study: Path,
    server: ApiServer,
    monkeypatch: pytest.MonkeyPatch,
    event: dict[str, Any] | None,
    code: int,
    line: str,
) -> None:
    destage("cluster", "submit", str(study), "--name", "demo")
    path, job = the_job(server)
    name = job["metadata"]["annotations"]["destage.io/sweep"]

    monkeypatch.setattr(ReaderPod, "run", lambda *_: json.dumps({name: STATUS}).encode())
    monkeypatch.setattr("destage.cli.commands.cluster.watch._INTERVAL_S", 0.3)
    if event is None:
        server.watches.append([lambda: server.objects.pop(path)])
    else:
        changed = {**job, "metadata": {**job["metadata"], "resourceVersion": "900"}, **event}
        server.watches.append([{"type": "MODIFIED", "object": changed}])
    done = destage("cluster", "watch", "demo")
    assert done.code == code
    assert line in done.err


def test_watching_prints_each_problem_of_pods_once(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    destage("cluster", "submit", str(study), "--name", "demo")
    labels = {"destage.io/release": "demo", "destage.io/component": "head"}
    waiting = {"state": {"waiting": {"reason": "ErrImagePull", "message": "no such tag"}}}
    pod = {"metadata": {"name": "p", "labels": labels}, "status": {"containerStatuses": [waiting]}}
    server.put("/api/v1/namespaces/sweeps/pods/p", pod)

    monkeypatch.setattr("destage.cli.commands.cluster.watch._INTERVAL_S", 0.3)
    done = destage("cluster", "watch", "demo", "--timeout", "1s")
    assert done.code == 4
    assert done.issues.count(("cluster.image-not-pulled", "head pod")) == 1
    # No reader takes the room that the pods of a starting sweep need.
    assert not [path for method, path, _ in server.requests if method == "POST" and path.endswith("/pods")]
    assert done.issues[-1][0] == "cluster.watch-timeout"
    monkeypatch.setattr("destage.cli.commands.cluster.job.SHORT_TIMEOUT_S", 1.0)
    found = json.loads(destage("cluster", "status", "demo", "--json").out)["diagnostics"]
    assert [each["reason"] for each in found] == ["ErrImagePull"]


def test_watching_asks_a_head_that_did_not_answer_again_at_the_next_look(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    destage("cluster", "submit", str(study), "--name", "demo")
    path, job = the_job(server)
    server.put(path, {**job, "status": {"jobDeploymentStatus": "Running", "rayClusterName": "demo-1"}})
    labels = {
        "destage.io/release": "demo",
        "destage.io/component": "head",
        "ray.io/cluster": "demo-1",
    }
    running = {"name": "ray-head", "state": {"running": {}}}
    pod = {"metadata": {"name": "p", "labels": labels}, "status": {"containerStatuses": [running]}}
    server.put("/api/v1/namespaces/sweeps/pods/p", pod)
    asked: list[float] = []

    def answer(*_: object) -> bytes:
        asked.append(time.monotonic())
        if len(asked) == 1:
            raise ClusterError("cluster.pod-unreachable", "the API server restarts", "p")
        return json.dumps({job["metadata"]["annotations"]["destage.io/sweep"]: STATUS}).encode()

    monkeypatch.setattr(HeadPod, "run", answer)
    monkeypatch.setattr("destage.cli.commands.cluster.watch._INTERVAL_S", 0.2)
    done = destage("cluster", "watch", "demo", "--timeout", "1s")
    assert [code for code, _ in done.issues] == ["cluster.pod-unreachable", "cluster.watch-timeout"]
    assert "3 of 8 runs" in done.err
    assert len(asked) == 2  # an answer is good for longer


def test_a_ray_address_selects_the_ray_executor(
    destage: Any, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, str | None]] = []

    def start(*_: object, executor: str, **__: object) -> None:
        seen.append((executor, os.environ.get("RAY_ADDRESS")))
        raise ClusterError("cluster.api-unreachable", "seen")

    monkeypatch.setenv("RAY_ADDRESS", "")
    monkeypatch.setattr("destage.sweeps.run", start)
    destage("run", str(study), "--ray-address", "head:6379")
    assert seen == [("ray", "head:6379")]
    done = destage("run", str(study), "--ray-address", "head:6379", "--executor", "inline")
    assert (done.code, done.issues) == (2, [("usage.conflicting-options", "--ray-address")])


@pytest.mark.parametrize(("state", "code"), [("failed_runs", 0), ("infrastructure", 4)])
def test_drive_exits_with_0_unless_a_retry_helps(
    destage: Any, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str, code: int
) -> None:
    from destage import sweeps  # noqa: PLC0415

    run = sweeps.run

    def run_here(study: Any, store: Path, *, executor: str, progress: Any) -> Any:
        assert executor == "ray"
        return replace(run(study, store, executor="inline", progress=progress), state=state)

    monkeypatch.setattr(sweeps, "run", run_here)
    done = destage("cluster", "drive", str(study), "--store", str(tmp_path / "results"))
    assert done.code == code
    assert "8 runs, 8 executed" in done.err
    assert ("report:" in done.err) == (code == 0)


LOST = {
    "jobDeploymentStatus": "Failed",
    "jobStatus": "RUNNING",
    "reason": "JobStatusCheckTimeoutExceeded",
    "message": "Job status checks have been failing since 2026; exceeded timeout of 300s",
    "rayClusterName": "demo-1-x",
}


def lose_machines(destage: Any, study: Path, server: ApiServer) -> dict[str, Any]:
    """Submit a sweep without a keeper and let it fail by a loss of machines; return its job."""
    destage("cluster", "submit", str(study), "--name", "demo", "--set", "keeper.enabled=false")
    path, job = the_job(server)
    return server.put(path, {**job, "status": LOST})


def test_a_lost_sweep_says_how_to_continue(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_machines(destage, study, server)
    done = destage("cluster", "watch", "demo")
    assert done.code == 4
    (line,) = done.err.splitlines()
    assert "machines were lost, but no committed result: `destage cluster watch demo --keep`" in line
    assert not [path for method, path, _ in server.requests if method == "PATCH" and path.endswith("/status")]
    monkeypatch.setattr(ReaderPod, "run", lambda *_: json.dumps({"small-1": STATUS}).encode())
    assert "--keep` restarts the sweep" in destage("cluster", "status", "demo", "--sweep", "small-1").out


def test_watching_with_keep_restarts_a_lost_sweep(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = lose_machines(destage, study, server)
    sweep = job["metadata"]["annotations"]["destage.io/sweep"]
    monkeypatch.setattr(ReaderPod, "run", lambda *_: json.dumps({sweep: STATUS}).encode())
    ended = {
        **job,
        "metadata": {**job["metadata"], "resourceVersion": "900"},
        "status": {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"},
    }
    server.watches.append([{"type": "MODIFIED", "object": ended}])
    done = destage("cluster", "watch", "demo", "--keep")
    assert done.code == 0, done.err
    assert ": restarted (1 of at most 20 times)" in done.err
    assert done.err.index("JobStatusCheckTimeoutExceeded") < done.err.index("restarted (1")
    patched = [path for method, path, _ in server.requests if method == "PATCH" and path.endswith("/status")]
    assert patched == [f"{JOBS}/{job['metadata']['name']}/status"]


def test_scaling_says_when_it_applies(destage: Any, study: Path, server: ApiServer) -> None:
    destage("cluster", "submit", str(study), "--name", "demo")
    done = destage("cluster", "scale", "demo", "--workers", "7")
    assert done.code == 0
    assert "group workers has 7 workers when the sweep starts again" in done.err
    spec = the_job(server)[1]["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]
    assert (spec["minReplicas"], spec["replicas"], spec["maxReplicas"]) == (7, 7, 7)
    wrong = destage("cluster", "scale", "demo", "--max", "7")
    assert (wrong.code, [code for code, _ in wrong.issues]) == (4, ["cluster.cannot-scale"])
