"""What `doctor` finds when it tries out the settings of a sweep: each trouble with its mend."""

from typing import Any

import pytest
from api_server import ApiServer
from pod_security import violations

from destage.cluster import Release, read_settings
from destage.cluster.check_result import Finding
from destage.cluster.connection import Connection
from destage.cluster.credentials import find_missing_credentials, making
from destage.cluster.preflight import run_preflight

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
WELL = {"phase": "Succeeded"}


def failed(message: str) -> dict[str, Any]:
    ended = {"exitCode": 1, "message": f"a warning\nerror: {message}\n"}
    return {"phase": "Failed", "containerStatuses": [{"state": {"terminated": ended}}]}


def waiting(reason: str, message: str) -> dict[str, Any]:
    state = {"waiting": {"reason": reason, "message": message}}
    return {"phase": "Pending", "containerStatuses": [{"state": state}]}


class Trial:
    """Tries out settings on a server whose pod comes to a given end.

    Attributes:
        pods: The pods that were made.
        accounts: The accounts that there were when each was made.
    """

    def __init__(self, server: ApiServer, connection: Connection) -> None:
        self.pods: list[Any] = []
        self.accounts: list[list[str]] = []
        self._server, self._connection, self._put = server, connection, server.put

    def __call__(
        self, values: dict[str, Any], status: dict[str, Any], image: str | None = None
    ) -> dict[str, Finding]:
        def start(path: str, manifest: dict[str, Any]) -> dict[str, Any]:
            if path != POD:
                return self._put(path, manifest)
            self.pods.append(manifest)
            self.accounts.append([name for name in self._server.objects if name.startswith(ACCOUNTS)])
            metadata = manifest["metadata"] | {"uid": "u1"}
            return self._put(path, {**manifest, "metadata": metadata, "status": status})

        self._server.put = start  # type: ignore[method-assign]
        settings = read_settings({"mode": "cluster", **values})
        found = list(run_preflight(self._connection, Release("demo", "sweeps", "1"), settings, image))
        assert POD not in self._server.objects
        return {each.what: each for each in found}


@pytest.fixture
def trial(server: ApiServer, connection: Connection) -> Trial:
    return Trial(server, connection)


def test_all_well_is_said_of_image_credentials_and_store(trial: Trial) -> None:
    found = trial(S3, WELL)
    assert list(found) == ["image", "credentials", "store"]
    assert all(each.is_well for each in found.values())
    assert found["store"].told == "s3://bucket/p?region=eu-west-1 can be written"
    (pod,) = trial.pods
    (container,) = pod["spec"]["containers"]
    assert container["command"] == ["destage", "cluster", "probe", "--secret"]
    assert container["envFrom"] == [{"secretRef": {"name": "store"}}]
    assert not violations(pod["spec"])
    assert "serviceAccountName" not in pod["spec"]


SENTENCES = [
    (
        S3,
        waiting("CreateContainerConfigError", 'secret "store" not found'),
        "credentials",
        "the Secret store is missing",
        "kubectl create secret generic store --from-literal=AWS_ACCESS_KEY_ID=...",
    ),
    (
        S3,
        failed("the Secret lacks AWS_SECRET_ACCESS_KEY"),
        "credentials",
        "the Secret store lacks AWS_SECRET_ACCESS_KEY",
        "make it anew: kubectl create secret generic store",
    ),
    (
        S3,
        failed("s3://bucket/p/probe-1 cannot be reached: AWS Error ACCESS_DENIED during PutObject operation"),
        "store",
        "cannot be written: s3://bucket/p/probe-1",
        "let the keys list the bucket, and put, get and delete objects in it",
    ),
    (
        S3,
        failed(
            "s3://bucket/p/probe-1 cannot be reached: AWS Error NO_SUCH_BUCKET during PutObject operation"
        ),
        "store",
        "NO_SUCH_BUCKET",
        "make the bucket, or check store.url",
    ),
    (
        S3,
        failed(
            "s3://bucket/p/probe-1 cannot be reached: AWS Error NETWORK_CONNECTION: curlCode: 28, Timeout"
        ),
        "store",
        "Timeout",
        "whether network policies and the firewall let pods out to port 443",
    ),
    (
        EKS,
        failed("s3://bucket/p/probe-1 cannot be reached: AWS Error ACCESS_DENIED during PutObject operation"),
        "store",
        "cannot be written by the account demo-ray",
        "let the account sweeps/demo-ray list the bucket",
    ),
    (
        GOOGLE,
        failed(
            "gs://bucket/probe-1 cannot be reached: google::cloud::Status(PERMISSION_DENIED: Permanent error"
        ),
        "store",
        "PERMISSION_DENIED",
        "let the keys list the bucket",
    ),
    (
        GOOGLE,
        failed(
            "[Errno 2] google::cloud::Status(NOT_FOUND: Permanent error, with a last message of Not Found"
        ),
        "store",
        "gs://bucket cannot be written",
        "make the bucket, or check store.url",
    ),
    (
        AKS,
        failed("UploadFrom failed for 'https://a': Azure Error: [AccessDenied] 403 Forbidden Access denied"),
        "store",
        "cannot be written by the account demo-ray",
        "let the account sweeps/demo-ray list the bucket",
    ),
    (
        AKS,
        failed("UploadFrom failed for 'https://a': Azure Error: [ContainerNotFound] 404 The specified"),
        "store",
        "ContainerNotFound",
        "make the bucket, or check store.url",
    ),
    (CLAIM, failed("the store /results cannot be written"), "store", "the claim mine cannot be", "fsGroup"),
    (
        S3,
        waiting("ErrImagePull", "no such tag"),
        "image",
        "destage:1 does not start: ErrImagePull: no such tag",
        "check image.repository",
    ),
    (
        S3,
        {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"message": "exec: destage"}}}]},
        "image",
        "does not start",
        "check image.repository",
    ),
]


@pytest.mark.parametrize(("values", "status", "what", "told", "mend"), SENTENCES)
def test_what_is_wrong_is_said_with_its_mend(
    trial: Trial, values: dict[str, Any], status: dict[str, Any], what: str, told: str, mend: str
) -> None:
    found = trial(values, status)
    assert [name for name, each in found.items() if not each.is_well] == [what]
    assert told in found[what].told
    assert mend in found[what].mend


def test_a_secret_that_is_mounted_and_missing_is_told_by_an_event(trial: Trial, server: ApiServer) -> None:
    event = {
        "metadata": {"name": "e1"},
        "message": 'MountVolume.SetUp failed for volume "credentials" : secret "google" not found',
    }
    server.put("/api/v1/namespaces/sweeps/events/e1", event)
    found = trial(GOOGLE, {"phase": "Pending"})
    assert list(found) == ["credentials"]
    assert found["credentials"].mend == "kubectl create secret generic google --from-file=key.json=FILE"
    ((_, _, query),) = [one for one in server.requests if one[1].endswith("/events")][:1]
    assert query["fieldSelector"] == "involvedObject.uid=u1,type=Warning"


def test_an_account_is_made_for_the_trial_and_taken_away_again(trial: Trial, server: ApiServer) -> None:
    found = trial(EKS, WELL)
    assert found["store"].told.endswith("can be written by the account demo-ray")
    assert trial.accounts == [[f"{ACCOUNTS}/demo-ray"]]
    assert trial.pods[0]["spec"]["serviceAccountName"] == "demo-ray"
    assert not server.objects
    server.put(f"{ACCOUNTS}/demo-ray", {"metadata": {"name": "demo-ray"}})
    trial(EKS, WELL)
    assert list(server.objects) == [f"{ACCOUNTS}/demo-ray"]


def test_a_claim_that_the_sweep_would_make_is_not_mounted(trial: Trial) -> None:
    found = trial({}, WELL, image="example.com/destage@sha256:0")
    assert list(found) == ["image"]
    (container,) = trial.pods[0]["spec"]["containers"]
    assert container["image"] == "example.com/destage@sha256:0"
    assert container["command"] == ["destage", "--version"]
    assert [volume["name"] for volume in trial.pods[0]["spec"]["volumes"]] == ["tmp"]
    trial(CLAIM, WELL)
    assert [volume["name"] for volume in trial.pods[1]["spec"]["volumes"]] == ["tmp", "results"]


def test_a_pod_of_an_earlier_trial_is_cleared_away(trial: Trial, server: ApiServer) -> None:
    server.put(POD, {"metadata": {"name": "destage-doctor"}, "status": {"phase": "Failed"}})
    assert trial({}, WELL)["image"].is_well


AZURE = "abfss://c@a.dfs.core.windows.net/p"
PRINCIPAL = {"AZURE_TENANT_ID": "1", "AZURE_CLIENT_ID": "2", "AZURE_CLIENT_SECRET": "3"}
LACKS = [
    ("s3://b", {"AWS_ACCESS_KEY_ID": "1", "AWS_SECRET_ACCESS_KEY": "2"}, ""),
    ("s3://b", {"AWS_ACCESS_KEY_ID": "1", "AWS_SECRET_ACCESS_KEY": ""}, "lacks AWS_SECRET_ACCESS_KEY"),
    (AZURE, {"AZURE_STORAGE_KEY": "1"}, ""),
    (AZURE, PRINCIPAL, ""),
    (
        AZURE,
        {"AZURE_TENANT_ID": "1", "AZURE_CLIENT_ID": "2"},
        "lacks AZURE_STORAGE_KEY, or AZURE_CLIENT_SECRET",
    ),
    ("gs://b", {}, "lacks key.json"),
    ("/results", {}, ""),
]


@pytest.mark.parametrize(("url", "environment", "told"), LACKS)
def test_a_secret_has_what_the_schemes_client_reads(url: str, environment: dict[str, str], told: str) -> None:
    found = find_missing_credentials(url, environment)
    assert told in found
    assert bool(found) == bool(told)


def test_the_command_that_makes_a_secret_names_what_is_looked_for() -> None:
    assert making("s3://b", "x").count("--from-literal=AWS_") == 2
    assert "--from-literal=AZURE_STORAGE_KEY=" in making(AZURE, "x")
