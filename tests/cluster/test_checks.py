"""What `doctor` finds of the settings of a sweep before it starts anything."""

from typing import Any

import pytest
from api_server import ApiServer

from destage.cluster import Release, build, read_settings
from destage.cluster.check_result import Finding
from destage.cluster.checks import examine
from destage.cluster.connection import Connection
from destage.cluster.jobs import submit
from destage.errors import ClusterError

CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
QUOTA = "/api/v1/namespaces/sweeps/resourcequotas/small"
RELEASE = Release("demo", "sweeps", "1")
ELASTIC = {"autoscaling": {"enabled": True}}
MONITORED = {"podMonitor": {"enabled": True}}


@pytest.fixture(autouse=True)
def usable(server: ApiServer) -> None:
    server.put("/version", {"gitVersion": "v1.34.0"})
    server.denied = {"create pods"}  # nothing is started


def look(connection: Connection, values: dict[str, Any]) -> dict[str, Finding]:
    settings = read_settings({"mode": "cluster", **values})
    return {each.what: each for each in examine(connection, RELEASE, settings)}


def test_the_storage_class_that_is_named_is_looked_for(server: ApiServer, connection: Connection) -> None:
    server.put(f"{CLASSES}/nfs", {"metadata": {"name": "nfs"}})
    assert look(connection, {"claim": {"storageClass": "nfs"}})["storage"].is_well
    wrong = look(connection, {"claim": {"storageClass": "nsf"}})["storage"]
    assert (wrong.told, "one of nfs" in wrong.mend) == ("there is no class nsf", True)
    assert not look(connection, {})["storage"].is_well
    assert "storage" not in look(connection, {"claim": {"existing": "mine"}})


@pytest.mark.parametrize(
    ("name", "most", "used", "is_enough"),
    [
        # A head of 1 and 4Gi, two workers of 2 and 4Gi, submitter 500m and 512Mi, reader 250m and 1Gi.
        ("requests.cpu", "6750m", "1", True),
        ("requests.cpu", "6749m", "1", False),
        ("limits.memory", "13824Mi", "0", True),
        ("limits.memory", "13823Mi", "0", False),
        ("pods", "9", "4", True),
        ("pods", "9", "5", False),
        ("services", "0", "0", True),
    ],
)
def test_what_the_pods_request_is_compared_with_what_is_left(
    server: ApiServer, connection: Connection, name: str, most: str, used: str, is_enough: bool
) -> None:
    status = {"hard": {name: most}, "used": {name: used}}
    server.put(QUOTA, {"metadata": {"name": "small"}, "status": status})
    found = look(connection, {})["quota"]
    assert found.is_well == is_enough
    assert f"{name} {used} of {most}" in found.told
    assert is_enough or f"small: {name} " in found.told
    spec = {"scopes": ["BestEffort"]}
    server.put(QUOTA, {"metadata": {"name": "small"}, "spec": spec, "status": status})
    assert look(connection, {})["quota"].is_well


@pytest.mark.parametrize(
    ("values", "denied"),
    [
        (ELASTIC, "create roles"),
        (ELASTIC, "patch rolebindings"),
        (ELASTIC, "patch rayclusters"),
        (MONITORED, "create podmonitors"),
    ],
)
def test_permissions_are_asked_for_what_the_settings_make(
    server: ApiServer, connection: Connection, values: dict[str, Any], denied: str
) -> None:
    server.denied |= {denied}
    found = look(connection, values)["permissions"]
    assert denied in found.told
    assert f"{denied}, which the Role of users.role=true leaves out" in found.mend
    assert denied not in look(connection, {})["permissions"].told


def test_a_pod_monitor_that_the_cluster_does_not_know_is_told(
    server: ApiServer, connection: Connection
) -> None:
    server.refusals.append(("GET", "monitoring.coreos.com", 404, "404 page not found"))
    found = look(connection, MONITORED)["PodMonitor"]
    assert "the Prometheus operator" in found.mend
    server.refusals.append(("PATCH", "podmonitors", 404, "404 page not found"))
    settings = read_settings({"sweep": {"study": "call_center"}, **MONITORED})
    with pytest.raises(ClusterError, match=r"knows no monitoring.coreos.com/v1 PodMonitor: install the Prom"):
        submit(connection, build(RELEASE, settings))
