"""The checks of `doctor` on a sweep's settings, before the preflight pod."""

from typing import Any

import pytest
from api_server import ApiServer

from destage.cluster import Release, build, read_settings
from destage.cluster.client.api_connection import Connection
from destage.cluster.client.jobs import submit
from destage.cluster.preparation.checks import run_checks
from destage.cluster.preparation.preflight import CheckResult
from destage.errors import ClusterError

CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
QUOTA = "/api/v1/namespaces/sweeps/resourcequotas/small"
RELEASE = Release("demo", "sweeps", "1")
ELASTIC = {"autoscaling": {"enabled": True}}
MONITORED = {"podMonitor": {"enabled": True}}


@pytest.fixture(autouse=True)
def without_preflight(server: ApiServer) -> None:
    server.put("/version", {"gitVersion": "v1.34.0"})
    server.denied = {"create pods"}  # no preflight pod


def check(connection: Connection, values: dict[str, Any]) -> dict[str, CheckResult]:
    settings = read_settings({"mode": "cluster", **values})
    return {each.subject: each for each in run_checks(connection, RELEASE, settings)}


def test_the_storage_class_must_exist(server: ApiServer, connection: Connection) -> None:
    server.put(f"{CLASSES}/nfs", {"metadata": {"name": "nfs"}})
    assert check(connection, {"claim": {"storageClass": "nfs"}})["storage"].has_passed
    for values in ({"claim": {"storageClass": "nsf"}}, {}):
        assert check(connection, values)["storage"].code == "cluster.storage-class-missing"
    assert "storage" not in check(connection, {"claim": {"existing": "mine"}})


@pytest.mark.parametrize(
    ("name", "most", "used", "fits"),
    [
        # A head of 1 and 4Gi, two workers of 2 and 4Gi, submitter 500m and 512Mi, keeper 50m and 128Mi.
        ("requests.cpu", "6550m", "1", True),
        ("requests.cpu", "6549m", "1", False),
        ("limits.memory", "12928Mi", "0", True),
        ("limits.memory", "12927Mi", "0", False),
        ("pods", "9", "4", True),
        ("pods", "9", "5", False),
        ("services", "0", "0", True),
    ],
)
def test_requests_of_the_pods_must_fit_the_quota(
    server: ApiServer, connection: Connection, name: str, most: str, used: str, fits: bool
) -> None:
    status = {"hard": {name: most}, "used": {name: used}}
    server.put(QUOTA, {"metadata": {"name": "small"}, "status": status})
    found = check(connection, {})["quota"]
    assert found.code == ("" if fits else "cluster.quota-exceeded")
    assert f"{name} {used} of {most}" in found.message
    assert fits or f"small: {name} " in found.message
    spec = {"scopes": ["BestEffort"]}
    server.put(QUOTA, {"metadata": {"name": "small"}, "spec": spec, "status": status})
    assert check(connection, {})["quota"].has_passed


@pytest.mark.parametrize(
    ("values", "denied"),
    [
        (ELASTIC, "watch pods"),
        (MONITORED, "create podmonitors"),
        (MONITORED, "patch podmonitors"),
    ],
)
def test_permissions_to_create_the_manifests_are_checked(
    server: ApiServer, connection: Connection, values: dict[str, Any], denied: str
) -> None:
    server.denied |= {denied}
    found = check(connection, values)["permissions"]
    assert found.code == "cluster.permission-denied"
    assert denied in found.message
    assert denied in found.fix
    assert denied not in check(connection, {})["permissions"].message


@pytest.mark.parametrize(
    ("env", "seconds"),
    [
        (None, 300),
        ([], 300),
        ([{"name": "RAYJOB_STATUS_CHECK_TIMEOUT_SECONDS", "value": "1800"}], 1800),
        ([{"name": "RAYJOB_STATUS_CHECK_TIMEOUT_SECONDS", "value": "no"}], 300),
    ],
)
def test_the_operators_timeout_is_reported_with_its_consequence(
    server: ApiServer, connection: Connection, env: list[dict[str, str]] | None, seconds: int
) -> None:
    if env is not None:
        pod = {"containers": [{"name": "kuberay-operator", "env": env}]}
        labels = {"app.kubernetes.io/name": "kuberay-operator"}
        deployment = {"metadata": {"name": "operator", "labels": labels}, "spec": {"template": {"spec": pod}}}
        server.put("/apis/apps/v1/deployments/operator", deployment)
    else:
        server.refusals.append(("GET", "deployments", 403, "forbidden"))
    found = check(connection, {})["lost head"]
    assert found.has_passed
    assert f"for {seconds} s" in found.message
    assert ("no permission" in found.message) == (env is None)
    without = check(connection, {"keeper": {"enabled": False}})["lost head"]
    assert without.code == "cluster.status-check-timeout"


def test_a_pod_monitor_needs_the_prometheus_operator(server: ApiServer, connection: Connection) -> None:
    server.refusals.append(("GET", "monitoring.coreos.com", 404, "404 page not found"))
    assert check(connection, MONITORED)["PodMonitor"].code == "cluster.prometheus-operator-missing"
    server.refusals.append(("PATCH", "podmonitors", 404, "404 page not found"))
    settings = read_settings({"sweep": {"study": "call_center"}, **MONITORED})
    with pytest.raises(ClusterError) as error:
        submit(connection, build(RELEASE, settings))
    assert error.value.code == "cluster.prometheus-operator-missing"
    assert error.value.place == "PodMonitor demo"
