"""The verbs of a cluster, as a user types them, against a small API server."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from api_server import ApiServer, serve
from pod_security import violations

from destage.cluster.reader_pod import ReaderPod
from destage.errors import ClusterError

EXAMPLES = Path(__file__).parents[2] / "examples"
JOBS = "/apis/ray.io/v1/namespaces/sweeps/rayjobs"
USABLE: dict[str, Any] = {
    "/version": {"gitVersion": "v1.34.0"},
    "/api/v1/namespaces/sweeps": {"metadata": {"name": "sweeps", "uid": "u0"}},
}
STATUS = {"planned": 8, "present": 3, "failed": 1, "rounds": 1, "finished": False, "writer": None}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """Serve an API, and make it the one that the kubeconfig names."""
    with serve(tmp_path) as (api, config):
        monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(config))
        yield api


def the_job(server: ApiServer) -> tuple[str, dict[str, Any]]:
    ((path, job),) = [(path, one) for path, one in server.objects.items() if path.startswith(JOBS)]
    return path, job


def test_a_dry_run_prints_what_would_be_sent_and_sends_nothing(destage: Any, study: Path) -> None:
    done = destage("cluster", "submit", str(study), "--dry-run", "--set", "workers.0.replicas=7", "-n", "lab")
    assert done.code == 0
    manifests = list(yaml.safe_load_all(done.out))
    assert {one["metadata"]["namespace"] for one in manifests} == {"lab"}
    (job,) = [one for one in manifests if one["kind"] == "RayJob"]
    assert job["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] == 7
    (config,) = [one for one in manifests if one["kind"] == "ConfigMap"]
    assert config["data"]["study.yaml"] == study.read_text()
    as_json = json.loads(destage("cluster", "submit", str(study), "--dry-run", "--json", "-n", "lab").out)
    # What `kubectl apply` takes; the workers' number is the default's again.
    assert (as_json["apiVersion"], as_json["kind"]) == ("v1", "List")
    assert [one["metadata"] for one in as_json["items"]] == [one["metadata"] for one in manifests]


@pytest.mark.parametrize(("name", "near"), [("Foo_Bar", "foo-bar"), ("-x", "x")])
def test_a_name_that_kubernetes_refuses_is_refused_before_anything_is_made(
    destage: Any, study: Path, server: ApiServer, name: str, near: str
) -> None:
    for asked in (("submit", str(study), "--dry-run"), ("doctor",)):
        done = destage("cluster", *asked, "--name", name)
        assert (done.code, done.out) == (2, "")
        assert f"did you mean {near!r}?" in done.err
    assert not server.requests


def test_later_settings_win_and_mistakes_are_named(destage: Any, study: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("head: {cpu: 2, memory: 8Gi}\n")
    second.write_text("head: {cpu: 3}\n")
    done = destage("cluster", "submit", str(study), "--dry-run", "-f", str(first), "-f", str(second))
    (job,) = [one for one in yaml.safe_load_all(done.out) if one["kind"] == "RayJob"]
    head = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]
    assert head["resources"]["limits"] == {"cpu": "3", "memory": "8Gi"}
    for given, message in (
        ("hed.cpu=2", "did you mean 'head'"),
        ("head.cpu", "write it as PATH=VALUE"),
        ("workers.4.cpu=1", "no '4' in a list of 1"),
        ("head.cpu=[1", "--set 'head.cpu=[1':1:3: not YAML: expected ',' or ']'"),
        ("job.backoffLimit=1.0.0", "job.backoffLimit: '1.0.0': must be a whole number"),
        ("image.tag=null", "image.tag: must be a text"),
    ):
        wrong = destage("cluster", "submit", str(study), "--dry-run", "--set", given)
        assert (wrong.code, wrong.out) == (2, "")
        assert message in wrong.err


def test_a_number_where_a_text_is_wanted_is_that_text_as_it_stands(destage: Any, study: Path) -> None:
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


def test_the_study_that_is_named_wins_over_any_that_a_file_gives(
    destage: Any, study: Path, tmp_path: Path
) -> None:
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
    ("content", "told"),
    [
        (None, "no study {}: neither a file nor a bundled study (backups, "),
        (b"name: \xd0\x01", "byte 6: not a text in UTF-8"),
        (b"", "a study is a table of fields"),
        (b"name: x\nscenario: {}\nsek: {}\n", "did you mean 'seek'"),
    ],
)
def test_a_study_that_cannot_be_read_is_told_as_where_it_is_run_and_before_the_settings(
    destage: Any, tmp_path: Path, content: bytes | None, told: str
) -> None:
    study = tmp_path / "it.yaml"
    if content is not None:
        study.write_bytes(content)
    done = destage("cluster", "submit", str(study), "--dry-run", "--set", "hed.cpu=2")
    assert (done.code, done.out) == (2, "")
    assert told.format(repr(str(study))) in done.err
    assert done.err == destage("run", str(study), "--store", str(tmp_path / "store")).err


def test_a_trace_must_lie_where_the_pods_see_it(destage: Any, tmp_path: Path) -> None:
    study = tmp_path / "replay.yaml"
    text = (EXAMPLES / "pgbench-write-cache.yaml").read_text()
    study.write_text(text.replace("pgbench.parquet", str(EXAMPLES / "pgbench.parquet")))
    refused = destage("cluster", "submit", str(study), "--dry-run")
    assert (refused.code, refused.out) == (2, "")
    assert "put the trace on the volume, as /results/traces/pgbench.parquet" in refused.err
    bucket = ("--set", "store.url=s3://bucket/p")
    refused = destage("cluster", "submit", str(study), "--dry-run", *bucket)
    assert (refused.code, refused.out) == (2, "")
    assert (
        "copy it to the bucket and name it by its address, as s3://bucket/p/traces/pgbench.parquet"
        in refused.err
    )
    study.write_text(text.replace("pgbench.parquet", "/results/traces/pgbench.parquet"))
    done = destage("cluster", "submit", str(study), "--dry-run")
    assert done.code == 0
    assert "/results/traces/pgbench.parquet" in done.out
    assert destage("cluster", "submit", str(study), "--dry-run", *bucket).code == 2


def test_a_trace_that_only_the_pods_reach_is_theirs_to_read(
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
    assert "the pods will look for themselves" in done.err
    assert "s3://bucket/pgbench.parquet" in done.out
    refused = destage("cluster", "submit", str(study), "--dry-run")
    assert (refused.code, refused.out) == (2, "")
    assert "a trace in a bucket goes with results in one" in refused.err


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

    monkeypatch.setattr(ReaderPod, "ask", lambda *_: json.dumps({sweep: STATUS, "other-01": STATUS}).encode())
    told = destage("cluster", "status", "demo")
    assert "unfinished: 3 of 8 runs, 1 failed" in told.out
    both = json.loads(destage("cluster", "status", "demo", "--json").out)
    assert (both["job"]["state"], both["results"]["present"]) == ("Running", 3)

    assert destage("cluster", "cancel", "demo").code == 0
    assert the_job(server)[1]["spec"]["suspend"] is True
    deleted = destage("cluster", "delete", "demo")
    assert "RayJob" in deleted.out
    assert "the results stay in the claim demo-results: submit the study again" in deleted.err


def test_a_claim_that_outlived_its_sweep_is_known_read_again_and_deleted(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    destage("cluster", "submit", str(study), "--name", "demo")
    path, job = the_job(server)
    deleted = destage("cluster", "delete", "demo")
    assert [one["kind"] for one in server.objects.values()] == ["PersistentVolumeClaim"]
    back = "submit the study again with the same settings and --name demo, which goes on from there; then "
    back += "`destage cluster fetch demo` brings them; `destage cluster delete demo --results` deletes them"
    assert f"the results stay in the claim demo-results: {back}\n" in deleted.err
    for verb in (("status", "demo"), ("fetch", "demo"), ("query", "demo", "SELECT 1"), ("delete", "demo")):
        done = destage("cluster", *verb)
        assert (done.code, done.out) == (4, "")
        assert (
            f"the sweep 'demo' is deleted, and its results are in the claim demo-results: {back}" in done.err
        )
    # The sentence works: the same job is there again, on the same claim.
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
    monkeypatch.setattr(ReaderPod, "ask", lambda *_: json.dumps({sweep: STATUS}).encode())
    assert "3 of 8 runs" in destage("cluster", "status", "demo").out
    # And so does its end.
    assert destage("cluster", "delete", "demo").code == 0
    done = destage("cluster", "delete", "demo", "--results", "--json")
    assert (done.code, json.loads(done.out)) == (0, ["PersistentVolumeClaim demo-results"])
    assert not server.objects
    done = destage("cluster", "delete", "demo", "--results")
    assert done.code == 4
    assert "no sweep 'demo' in the namespace sweeps; there are: none; results that a deleted" in done.err


def test_a_claim_that_was_there_before_is_never_deleted(destage: Any, study: Path, server: ApiServer) -> None:
    path = "/api/v1/namespaces/sweeps/persistentvolumeclaims/mine"
    server.put(path, {"kind": "PersistentVolumeClaim", "metadata": {"name": "mine"}})
    given = ("submit", str(study), "--name", "demo", "--set", "claim.existing=mine")
    for asked, told in (
        ((), "no verb deletes it"),
        (("--results",), "the claim mine was there before the sweep, and stays"),
    ):
        destage("cluster", *given)
        done = destage("cluster", "delete", "demo", *asked)
        assert (done.code, list(server.objects)) == (0, [path])
        assert told in done.err
    assert destage("cluster", "delete", "demo", "--results").code == 4
    assert list(server.objects) == [path]


def test_results_that_stay_in_a_bucket_are_said_to_and_what_can_be_done(
    destage: Any, study: Path, server: ApiServer
) -> None:
    destage("cluster", "submit", str(study), "--name", "demo", "--set", "store.url=s3://bucket/p")
    done = destage("cluster", "delete", "demo")
    assert not server.objects
    assert "the results stay in s3://bucket/p: submit the study again" in done.err
    assert "`--store s3://bucket/p` reads them from here" in done.err
    done = destage("cluster", "delete", "demo", "--results")
    assert (done.code, "left in a bucket: submit it again, then delete it" in done.err) == (4, True)


def test_status_without_results_yet_still_tells_of_the_job(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bytes:
        raise ClusterError("the pod demo-reader does not start: Unschedulable: 0/1 nodes")

    destage("cluster", "submit", str(study), "--name", "demo")
    assert server.objects
    monkeypatch.setattr(ReaderPod, "ask", refuse)
    done = destage("cluster", "status", "demo")
    assert (done.code, "New" in done.out, "Unschedulable" in done.err) == (0, True, True)


def test_a_query_of_a_sweep_that_was_noted_is_one_question(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    destage("cluster", "submit", str(study), "--name", "demo")
    sweep = the_job(server)[1]["metadata"]["annotations"]["destage.io/sweep"]
    asked: list[tuple[str, ...]] = []

    def ask(_: ReaderPod, *command: str) -> bytes:
        asked.append(command)
        return b"one\n1\n"

    monkeypatch.setattr(ReaderPod, "ask", ask)
    assert destage("cluster", "query", "demo", "SELECT 1 AS one", "--format", "csv").out == "one\n1\n"
    (command,) = asked
    assert command[:4] == ("destage", "sql", sweep, "SELECT 1 AS one")


@pytest.mark.parametrize(("outcome", "code"), [("SUCCEEDED", 0), ("FAILED", 4)])
def test_watching_ends_with_the_job_and_its_outcome(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch, outcome: str, code: int
) -> None:
    destage("cluster", "submit", str(study), "--name", "demo")
    _, job = the_job(server)
    name = job["metadata"]["annotations"]["destage.io/sweep"]
    monkeypatch.setattr(ReaderPod, "ask", lambda *_: json.dumps({name: STATUS}).encode())
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
        ({"status": {"jobDeploymentStatus": "Suspended"}}, 130, "cancelled; submit the study again to go on"),
        (None, 4, "is there no more: it was deleted"),
    ],
)
def test_watching_ends_when_the_sweep_is_cancelled_or_deleted(
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

    def ask(*_: object) -> bytes:
        if event is None:
            server.objects.pop(path, None)
        return json.dumps({name: STATUS}).encode()

    monkeypatch.setattr(ReaderPod, "ask", ask)
    monkeypatch.setattr("destage.cli.commands.cluster.watch._INTERVAL_S", 0.3)
    if event is not None:
        changed = {**job, "metadata": {**job["metadata"], "resourceVersion": "900"}, **event}
        server.watches.append([{"type": "MODIFIED", "object": changed}])
    done = destage("cluster", "watch", "demo")
    assert done.code == code
    assert line in done.err


def test_watching_says_once_what_keeps_the_pods_waiting(
    destage: Any, study: Path, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    destage("cluster", "submit", str(study), "--name", "demo")
    labels = {"destage.io/release": "demo", "destage.io/component": "head"}
    waiting = {"state": {"waiting": {"reason": "ErrImagePull", "message": "no such tag"}}}
    pod = {"metadata": {"name": "p", "labels": labels}, "status": {"containerStatuses": [waiting]}}
    server.put("/api/v1/namespaces/sweeps/pods/p", pod)

    def refuse(*_: object) -> bytes:
        raise ClusterError("the pod demo-reader does not start: ErrImagePull")

    monkeypatch.setattr(ReaderPod, "ask", refuse)
    monkeypatch.setattr("destage.cli.commands.cluster.watch._INTERVAL_S", 0.3)
    done = destage("cluster", "watch", "demo", "--timeout", "1")
    assert done.code == 4
    assert done.err.count("the head's pod: ErrImagePull: no such tag; check image.repository") == 1
    assert done.err.count("demo-reader does not start") == 1
    told = json.loads(destage("cluster", "status", "demo", "--json").out)["troubles"]
    assert [each["reason"] for each in told] == ["ErrImagePull"]


def test_doctor_says_what_is_missing_with_its_mend(destage: Any, server: ApiServer) -> None:
    server.denied = {"create pods/exec", "patch rayjobs"}
    server.objects |= {
        "/version": {"gitVersion": "v1.34.4"},
        "/api/v1/namespaces/sweeps": {
            "metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}
        },
    }
    done = destage("cluster", "doctor")
    assert done.code == 4
    assert "Kubernetes v1.34.4" in done.out
    assert "restricted" in done.out
    for line in (
        "KubeRay: its resource definitions are missing: helm install kuberay-operator",
        "storage: no classes: set claim.storageClass",
        "missing: create pods/exec, patch rayjobs: ask an administrator for the Role",
    ):
        assert line in done.err


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ({"phase": "Succeeded"}, "example.com/destage:1 starts"),
        (
            {
                "containerStatuses": [
                    {"state": {"waiting": {"reason": "ErrImagePull", "message": "no such tag"}}}
                ]
            },
            "does not start: ErrImagePull: no such tag: check image.repository",
        ),
        ({"phase": "Failed"}, "does not start: still pending"),
    ],
)
def test_doctor_starts_an_image_as_a_sweep_would(
    destage: Any, server: ApiServer, monkeypatch: pytest.MonkeyPatch, status: dict[str, Any], line: str
) -> None:
    made: list[dict[str, Any]] = []
    put = server.put

    def start(path: str, manifest: dict[str, Any]) -> dict[str, Any]:
        made.append(manifest)
        return put(path, {**manifest, "status": status})

    monkeypatch.setattr(server, "put", start)
    server.objects |= USABLE
    done = destage("cluster", "doctor", "--image", "example.com/destage:1")
    assert line in done.out + done.err
    (probe,) = made
    assert not violations(probe["spec"])
    assert server.objects == USABLE


def test_doctor_tries_out_the_settings_of_a_sweep(
    destage: Any, server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = tmp_path / "values.yaml"
    # A file for Helm, with the study in it.
    values.write_text("sweep: {study: call_center}\nstore: {url: 's3://bucket', secret: mine}\n")
    put = server.put

    def refuse(path: str, manifest: dict[str, Any]) -> dict[str, Any]:
        ended = {"message": "error: the Secret lacks AWS_SECRET_ACCESS_KEY"}
        state = {"containerStatuses": [{"state": {"terminated": ended}}]}
        return put(path, {**manifest, "status": {"phase": "Failed", **state}})

    monkeypatch.setattr(server, "put", refuse)
    server.objects |= USABLE
    done = destage("cluster", "doctor", "-f", str(values), "--set", "image.repository=example.com/destage")
    assert done.code == 4
    assert "image        example.com/destage:" in done.out
    assert (
        "credentials: the Secret mine lacks AWS_SECRET_ACCESS_KEY: make it anew: kubectl create" in done.err
    )
    assert "storage" not in done.out  # no volume is asked for
    wrong = destage("cluster", "doctor", "-f", str(values), "--set", "store.url=ftp://bucket")
    assert (wrong.code, "begins with s3://" in wrong.err) == (2, True)


NO_PODS = (
    'pods is forbidden: User "u" cannot create resource "pods" in API group "" in the namespace "sweeps"'
)
NO_ROOM = 'pods "destage-doctor" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2'
NOT_RESTRICTED = (
    'pods "destage-doctor" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true'
)
ROLE = "the Role that the chart makes with users.role=true"
POST, GET = ("POST", "/pods"), ("GET", "resourcequotas")
REFUSALS = [
    ((*POST, 403, NO_PODS), "image", "cannot create resource", ROLE),
    (
        (*POST, 403, NO_ROOM),
        "image",
        "exceeded quota: small",
        "the namespace's quota is used up: ask for less",
    ),
    ((*POST, 403, NOT_RESTRICTED), "image", "runAsNonRoot", "keep to the namespace's Pod Security level"),
    ((*POST, 404, 'namespaces "sweeps" not found'), "image", "not found", "kubectl create namespace sweeps"),
    ((*POST, 400, "webhook denied it"), "image", "webhook denied it", "a rule of the cluster's own"),
    ((*GET, 0, ""), "the rest", "cannot be reached", "ask again"),
]


@pytest.mark.parametrize(("refusal", "what", "told", "mend"), REFUSALS)
@pytest.mark.parametrize("as_json", [False, True])
def test_doctor_says_what_it_found_where_something_is_refused(
    destage: Any, server: ApiServer, refusal: Any, what: str, told: str, mend: str, as_json: bool
) -> None:
    server.objects |= USABLE
    server.refusals.append(refusal)
    done = destage("cluster", "doctor", "--image", "x:1", *(["--json"] if as_json else []))
    assert done.code == 4
    assert "destage cluster doctor" not in done.err  # it is what was asked
    (said,) = [line for line in done.err.splitlines() if line.startswith(f"error: {what}: ")]
    assert told in said
    assert mend in said
    if as_json:
        found = {each["what"]: each for each in json.loads(done.out)}
        assert told in found[what]["told"]
        assert mend in found[what]["mend"]
    else:
        found = {line.partition("  ")[0]: line for line in done.out.splitlines()}
        assert told in found[what]
    assert {"API server", "namespace", "KubeRay"} <= set(found)
    assert server.objects == USABLE


@pytest.mark.parametrize("as_json", [False, True])
def test_doctor_starts_no_pod_where_it_knows_that_it_would_be_refused(
    destage: Any, server: ApiServer, as_json: bool
) -> None:
    def ask() -> dict[str, str]:
        done = destage("cluster", "doctor", "--image", "x:1", *(["--json"] if as_json else []))
        assert done.code == 4
        if as_json:
            return {each["what"]: f"{each['told']}: {each['mend']}" for each in json.loads(done.out)}
        assert "image        was not tried out" in done.out
        lines = [line.removeprefix("error: ") for line in done.err.splitlines()]
        return {what: said for what, _, said in (line.partition(": ") for line in lines)}

    server.objects |= USABLE
    server.refusals.append(("GET", "/namespaces/sweeps", 404, 'namespaces "sweeps" not found'))
    found = ask()
    assert found["namespace"] == "sweeps is missing: kubectl create namespace sweeps"
    assert found["image"].startswith("was not tried out: the namespace is missing")
    server.denied = {"create pods"}
    found = ask()
    assert ": create pods: ask" in found["permissions"]
    assert found["image"] == f"was not tried out: you may not create pods: ask an administrator for {ROLE}"
    assert not [path for verb, path, _ in server.requests if verb == "POST" and path.endswith("/pods")]


def test_a_ray_cluster_that_is_there_is_used_and_is_no_matter_of_threads(
    destage: Any, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, str | None]] = []

    def start(*_: object, executor: str, **__: object) -> None:
        seen.append((executor, os.environ.get("RAY_ADDRESS")))
        raise ClusterError("seen")

    monkeypatch.setenv("RAY_ADDRESS", "")
    monkeypatch.setattr("destage.sweeps.run", start)
    destage("run", str(study), "--ray-address", "head:6379")
    assert seen == [("ray", "head:6379")]
    done = destage("run", str(study), "--ray-address", "head:6379", "--executor", "inline")
    assert (done.code, "leave out --executor inline" in done.err) == (2, True)


@pytest.mark.parametrize(("state", "code"), [("failed_runs", 0), ("infrastructure", 4)])
def test_driving_ends_with_0_whenever_another_try_would_change_nothing(
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
    assert "8 runs there, 8 executed, 0 reused" in done.err
    assert ("report:" in done.err) == (code == 0)
