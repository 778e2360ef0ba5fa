"""`destage cluster doctor` against a small API server."""

import json
from pathlib import Path
from typing import Any

import pytest
from api_server import USABLE, ApiServer
from pod_security import violations


def test_doctor_reports_what_is_missing(destage: Any, server: ApiServer) -> None:
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
    assert done.issues == [
        ("cluster.kuberay-missing", "KubeRay"),
        ("cluster.storage-class-missing", "storage"),
        ("cluster.permission-denied", "permissions"),
    ]
    assert "create pods/exec, patch rayjobs" in done.err


@pytest.mark.parametrize(
    ("status", "is_started"),
    [
        ({"phase": "Succeeded"}, True),
        (
            {
                "containerStatuses": [
                    {"state": {"waiting": {"reason": "ErrImagePull", "message": "no such tag"}}}
                ]
            },
            False,
        ),
        ({"phase": "Failed"}, False),
    ],
)
def test_doctor_starts_an_image_as_a_sweep_would(
    destage: Any, server: ApiServer, monkeypatch: pytest.MonkeyPatch, status: dict[str, Any], is_started: bool
) -> None:
    made: list[dict[str, Any]] = []
    put = server.put

    def start(path: str, manifest: dict[str, Any]) -> dict[str, Any]:
        made.append(manifest)
        return put(path, {**manifest, "status": status})

    monkeypatch.setattr(server, "put", start)
    server.objects |= USABLE
    done = destage("cluster", "doctor", "--image", "example.com/destage:1")
    assert ("image" in [place for _, place in done.issues]) is not is_started
    (probe,) = made
    assert not violations(probe["spec"])
    assert server.objects == USABLE


def test_doctor_tests_the_settings_of_a_sweep(
    destage: Any, server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = tmp_path / "values.yaml"
    # A values file for Helm names the study.
    values.write_text("sweep: {study: call_center}\nstore: {url: 's3://bucket', secret: mine}\n")
    put = server.put

    def refuse(path: str, manifest: dict[str, Any]) -> dict[str, Any]:
        ended = {"message": "error: cluster.secret-incomplete at s3://bucket/: missing AWS_SECRET_ACCESS_KEY"}
        state = {"containerStatuses": [{"state": {"terminated": ended}}]}
        return put(path, {**manifest, "status": {"phase": "Failed", **state}})

    monkeypatch.setattr(server, "put", refuse)
    server.objects |= USABLE
    done = destage("cluster", "doctor", "-f", str(values), "--set", "image.repository=example.com/destage")
    assert done.code == 4
    assert "image        example.com/destage:" in done.out
    assert ("cluster.secret-incomplete", "credentials") in done.issues
    assert "storage" not in done.out  # a bucket needs no volume
    wrong = destage("cluster", "doctor", "-f", str(values), "--set", "store.url=ftp://bucket")
    assert (wrong.code, [code for code, _ in wrong.issues]) == (2, ["settings.bad-store-url"])


NO_PODS = (
    'pods is forbidden: User "u" cannot create resource "pods" in API group "" in the namespace "sweeps"'
)
NO_ROOM = 'pods "destage-doctor" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2'
NOT_RESTRICTED = (
    'pods "destage-doctor" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true'
)
POST, GET = ("POST", "/pods"), ("GET", "resourcequotas")
REJECTIONS = [
    ((*POST, 403, NO_PODS), "image", "cluster.permission-denied"),
    ((*POST, 403, NO_ROOM), "image", "cluster.quota-exceeded"),
    ((*POST, 403, NOT_RESTRICTED), "image", "cluster.pod-security-violated"),
    ((*POST, 404, 'namespaces "sweeps" not found'), "image", "cluster.namespace-missing"),
    ((*POST, 400, "webhook denied it"), "image", "cluster.request-rejected"),
    ((*GET, 0, ""), "other checks", "cluster.api-unreachable"),
]


@pytest.mark.parametrize(("rejection", "subject", "code"), REJECTIONS)
@pytest.mark.parametrize("as_json", [False, True])
def test_doctor_reports_rejected_requests(
    destage: Any, server: ApiServer, rejection: Any, subject: str, code: str, as_json: bool
) -> None:
    server.objects |= USABLE
    server.refusals.append(rejection)
    done = destage("cluster", "doctor", "--image", "x:1", *(["--json"] if as_json else []))
    assert done.code == 4
    assert "destage cluster doctor" not in done.err  # this is the command
    assert (code, subject) in done.issues
    if as_json:
        found = {each["subject"]: each for each in json.loads(done.out)}
        assert found[subject]["code"] == code
        assert found[subject]["fix"]
    else:
        found = {line.partition("  ")[0]: line for line in done.out.splitlines()}
    assert subject in found
    assert {"API server", "namespace", "KubeRay"} <= set(found)
    assert server.objects == USABLE


def test_doctor_starts_no_pod_that_would_be_rejected(destage: Any, server: ApiServer) -> None:
    def find_problems() -> dict[str, str]:
        done = destage("cluster", "doctor", "--image", "x:1")
        assert done.code == 4
        return {subject: code for code, subject in done.issues}

    server.objects |= USABLE
    server.refusals.append(("GET", "/namespaces/sweeps", 404, 'namespaces "sweeps" not found'))
    found = find_problems()
    assert (found["namespace"], found["image"]) == ("cluster.namespace-missing", "cluster.namespace-missing")
    server.denied = {"create pods"}
    found = find_problems()
    assert (found["permissions"], found["image"]) == ("cluster.permission-denied",) * 2
    assert not [path for verb, path, _ in server.requests if verb == "POST" and path.endswith("/pods")]
