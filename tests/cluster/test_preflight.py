"""The preflight pod of `doctor` tests image, credentials and store; each failure has a code and a fix."""

from typing import Any

import pytest
from api_server import ApiServer
from pod_security import violations

from destage.cluster import Release, read_settings
from destage.cluster.client.api_connection import Connection
from destage.cluster.preparation.preflight import CheckResult, run_preflight
from destage.cluster.resources.storage import find_missing_credentials, format_secret_command

POD = "/api/v1/namespaces/sweeps/pods/destage-doctor"
ACCOUNTS = "/api/v1/namespaces/sweeps/serviceaccounts"
S3 = {"store": {"url": "s3://bucket/p?region=eu-west-1", "secret": "store"}}
EKS = {
    "store": {"url": "s3://bucket/p?region=eu-west-1"},
    "accounts": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/destage"}},
}
GOOGLE = {"store": {"url": "gs://bucket", "secret": "google"}}
AKS = {
    "store": {"url": "abfss://c@a.dfs.core.windows.net/p"},
    "accounts": {"annotations": {"azure.workload.identity/client-id": "0000"}},
}
CLAIM = {"claim": {"existing": "mine"}}
SUCCEEDED = {"phase": "Succeeded"}


def failed(message: str) -> dict[str, Any]:
    ended = {"exitCode": 1, "message": f"a warning\nerror: {message}\n"}
    return {"phase": "Failed", "containerStatuses": [{"state": {"terminated": ended}}]}


def waiting_container(reason: str, message: str) -> dict[str, Any]:
    state = {"waiting": {"reason": reason, "message": message}}
    return {"phase": "Pending", "containerStatuses": [{"state": state}]}


class Preflight:
    """Runs the preflight on a server whose pod ends in a given way.

    Attributes:
        pods: The pods that were created.
        accounts: The service accounts that existed when each pod was created.
    """

    def __init__(self, server: ApiServer, connection: Connection) -> None:
        self.pods: list[Any] = []
        self.accounts: list[list[str]] = []
        self._server, self._connection, self._put = server, connection, server.put

    def __call__(
        self, values: dict[str, Any], status: dict[str, Any], image: str | None = None
    ) -> dict[str, CheckResult]:
        def start(path: str, manifest: dict[str, Any]) -> dict[str, Any]:
            if path != POD:
                return self._put(path, manifest)
            self.pods.append(manifest)
            self.accounts.append([name for name in self._server.objects if name.startswith(ACCOUNTS)])
            metadata = manifest["metadata"] | {"uid": "u1"}
            return self._put(path, {**manifest, "metadata": metadata, "status": status})

        self._server.put = start  # type: ignore[method-assign]
        settings = read_settings({"mode": "cluster", **values})
        results = list(run_preflight(self._connection, Release("demo", "sweeps", "1"), settings, image))
        assert POD not in self._server.objects
        return {each.subject: each for each in results}


@pytest.fixture
def preflight(server: ApiServer, connection: Connection) -> Preflight:
    return Preflight(server, connection)


def test_a_successful_preflight_checks_three_subjects(preflight: Preflight) -> None:
    found = preflight(S3, SUCCEEDED)
    assert list(found) == ["image", "credentials", "store"]
    assert all(each.has_passed for each in found.values())
    assert found["store"].message == "s3://bucket/p?region=eu-west-1 is writable"
    (pod,) = preflight.pods
    (container,) = pod["spec"]["containers"]
    assert container["command"] == ["destage", "cluster", "probe", "--secret"]
    assert container["envFrom"] == [{"secretRef": {"name": "store"}}]
    assert not violations(pod["spec"])
    assert "serviceAccountName" not in pod["spec"]


FAILURES = [
    (
        S3,
        waiting_container("CreateContainerConfigError", 'secret "store" not found'),
        "credentials",
        "secret-missing",
        "kubectl create secret generic store --from-literal=AWS_ACCESS_KEY_ID=...",
    ),
    (
        S3,
        failed("cluster.secret-incomplete: missing AWS_SECRET_ACCESS_KEY"),
        "credentials",
        "secret-incomplete",
        "create it again: kubectl create secret generic store",
    ),
    (
        S3,
        failed("bucket.x at s3://bucket/p/probe-1: AWS Error ACCESS_DENIED during PutObject operation"),
        "store",
        "store-not-writable",
        "allow the keys to list the bucket and to put, get and delete objects in it",
    ),
    (
        S3,
        failed("bucket.x at s3://bucket/p/probe-1: AWS Error NO_SUCH_BUCKET during PutObject operation"),
        "store",
        "store-not-writable",
        "create the bucket, or check store.url",
    ),
    (
        S3,
        failed("bucket.x at s3://bucket/p/probe-1: AWS Error NETWORK_CONNECTION: curlCode: 28, Timeout"),
        "store",
        "store-not-writable",
        "network policies and firewalls allow egress to port 443",
    ),
    (
        EKS,
        failed("bucket.x at s3://bucket/p/probe-1: AWS Error ACCESS_DENIED during PutObject operation"),
        "store",
        "store-not-writable",
        "allow the account sweeps/demo-ray to list the bucket",
    ),
    (
        GOOGLE,
        failed("bucket.x at gs://bucket/probe-1: google::cloud::Status(PERMISSION_DENIED: Permanent error"),
        "store",
        "store-not-writable",
        "allow the keys to list the bucket",
    ),
    (
        GOOGLE,
        failed(
            "[Errno 2] google::cloud::Status(NOT_FOUND: Permanent error, with a last message of Not Found"
        ),
        "store",
        "store-not-writable",
        "create the bucket, or check store.url",
    ),
    (
        AKS,
        failed("UploadFrom failed for 'https://a': Azure Error: [AccessDenied] 403 Forbidden Access denied"),
        "store",
        "store-not-writable",
        "allow the account sweeps/demo-ray to list the bucket",
    ),
    (
        AKS,
        failed("UploadFrom failed for 'https://a': Azure Error: [ContainerNotFound] 404 The specified"),
        "store",
        "store-not-writable",
        "create the bucket, or check store.url",
    ),
    (
        CLAIM,
        failed("store.not-writable at /results: no permission"),
        "store",
        "store-not-writable",
        "fsGroup",
    ),
    (
        S3,
        waiting_container("ErrImagePull", "no such tag"),
        "image",
        "image-not-started",
        "check image.repository",
    ),
    (
        S3,
        {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"message": "exec: destage"}}}]},
        "image",
        "image-not-started",
        "check image.repository",
    ),
]


@pytest.mark.parametrize(("values", "status", "subject", "code", "fix"), FAILURES)
def test_a_failed_preflight_has_a_code_and_a_fix(
    preflight: Preflight, values: dict[str, Any], status: dict[str, Any], subject: str, code: str, fix: str
) -> None:
    results = preflight(values, status)
    assert [name for name, each in results.items() if not each.has_passed] == [subject]
    assert results[subject].code == f"cluster.{code}"
    assert fix in results[subject].fix
    assert results[subject].issue.place == subject


def test_the_message_has_the_probes_error_and_its_place(preflight: Preflight) -> None:
    error = "AWS Error ACCESS_DENIED during PutObject operation"
    results = preflight(S3, failed(f"bucket.access-denied at s3://bucket/p/probe-1: {error}"))
    assert results["store"].message.endswith(f"is not writable: s3://bucket/p/probe-1: {error}")


def test_a_missing_mounted_secret_is_found_in_an_event(preflight: Preflight, server: ApiServer) -> None:
    event = {
        "metadata": {"name": "e1"},
        "message": 'MountVolume.SetUp failed for volume "credentials" : secret "google" not found',
    }
    server.put("/api/v1/namespaces/sweeps/events/e1", event)
    found = preflight(GOOGLE, {"phase": "Pending"})
    assert list(found) == ["credentials"]
    assert found["credentials"].fix == "kubectl create secret generic google --from-file=key.json=FILE"
    ((_, _, query),) = [one for one in server.requests if one[1].endswith("/events")][:1]
    assert query["fieldSelector"] == "involvedObject.uid=u1,type=Warning"


def test_the_account_exists_during_the_preflight_only(preflight: Preflight, server: ApiServer) -> None:
    found = preflight(EKS, SUCCEEDED)
    assert found["store"].message.endswith("is writable with the account demo-ray")
    assert preflight.accounts == [[f"{ACCOUNTS}/demo-ray"]]
    assert preflight.pods[0]["spec"]["serviceAccountName"] == "demo-ray"
    assert not server.objects
    server.put(f"{ACCOUNTS}/demo-ray", {"metadata": {"name": "demo-ray"}})
    preflight(EKS, SUCCEEDED)
    assert list(server.objects) == [f"{ACCOUNTS}/demo-ray"]


def test_a_claim_that_does_not_exist_yet_is_not_mounted(preflight: Preflight) -> None:
    found = preflight({}, SUCCEEDED, image="example.com/destage@sha256:0")
    assert list(found) == ["image"]
    (container,) = preflight.pods[0]["spec"]["containers"]
    assert container["image"] == "example.com/destage@sha256:0"
    assert container["command"] == ["destage", "--version"]
    assert [volume["name"] for volume in preflight.pods[0]["spec"]["volumes"]] == ["tmp"]
    preflight(CLAIM, SUCCEEDED)
    assert [volume["name"] for volume in preflight.pods[1]["spec"]["volumes"]] == ["tmp", "results"]


def test_the_pod_of_an_earlier_preflight_is_replaced(preflight: Preflight, server: ApiServer) -> None:
    server.put(POD, {"metadata": {"name": "destage-doctor"}, "status": {"phase": "Failed"}})
    assert preflight({}, SUCCEEDED)["image"].has_passed


AZURE = "abfss://c@a.dfs.core.windows.net/p"
PRINCIPAL = {"AZURE_TENANT_ID": "1", "AZURE_CLIENT_ID": "2", "AZURE_CLIENT_SECRET": "3"}
MISSING_KEYS = [
    ("s3://b", {"AWS_ACCESS_KEY_ID": "1", "AWS_SECRET_ACCESS_KEY": "2"}, ""),
    ("s3://b", {"AWS_ACCESS_KEY_ID": "1", "AWS_SECRET_ACCESS_KEY": ""}, "missing AWS_SECRET_ACCESS_KEY"),
    (AZURE, {"AZURE_STORAGE_KEY": "1"}, ""),
    (AZURE, PRINCIPAL, ""),
    (
        AZURE,
        {"AZURE_TENANT_ID": "1", "AZURE_CLIENT_ID": "2"},
        "missing AZURE_STORAGE_KEY, or AZURE_CLIENT_SECRET",
    ),
    ("gs://b", {}, "missing key.json"),
    ("/results", {}, ""),
]


@pytest.mark.parametrize(("url", "environment", "missing"), MISSING_KEYS)
def test_a_secret_needs_the_keys_of_its_scheme(url: str, environment: dict[str, str], missing: str) -> None:
    assert find_missing_credentials(url, environment) == missing


def test_the_secret_command_has_the_needed_keys() -> None:
    assert format_secret_command("s3://b", "x").count("--from-literal=AWS_") == 2
    assert "--from-literal=AZURE_STORAGE_KEY=" in format_secret_command(AZURE, "x")
