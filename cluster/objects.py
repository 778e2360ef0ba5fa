"""Objects of each kind: where they lie in the API; applying, finding, listing and deleting them."""

import time
from typing import Any

from destage.cluster.connection import ApiError, Connection, Query
from destage.cluster.pods import Manifest
from destage.errors import ClusterError

MANAGER = "destage"
_PAUSE_S = 0.5
OPERATORS = {
    "ray.io": "helm install kuberay-operator kuberay/kuberay-operator --version 1.7.0",
    "monitoring.coreos.com": "install the Prometheus operator, or leave out podMonitor.enabled",
}
"""What brings the kinds of an API group into a cluster that does not know them."""
_PLACES = {
    "ConfigMap": ("/api/v1", "configmaps"),
    "Event": ("/api/v1", "events"),
    "NetworkPolicy": ("/apis/networking.k8s.io/v1", "networkpolicies"),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims"),
    "Pod": ("/api/v1", "pods"),
    "PodMonitor": ("/apis/monitoring.coreos.com/v1", "podmonitors"),
    "RayCluster": ("/apis/ray.io/v1", "rayclusters"),
    "RayJob": ("/apis/ray.io/v1", "rayjobs"),
    "ResourceQuota": ("/api/v1", "resourcequotas"),
    "Role": ("/apis/rbac.authorization.k8s.io/v1", "roles"),
    "RoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "rolebindings"),
    "ServiceAccount": ("/api/v1", "serviceaccounts"),
}


def place(connection: Connection, kind: str, name: str = "") -> str:
    """Return the path of a kind's objects in the namespace, or of one of them.

    Args:
        connection: The API server.
        kind: The kind.
        name: One object's name.
    """
    prefix, plural = _PLACES[kind]
    path = f"{prefix}/namespaces/{connection.namespace}/{plural}"
    return f"{path}/{name}" if name else path


def resource(kind: str) -> tuple[str, str]:
    """Return a kind's API group and the name of its objects there.

    Args:
        kind: The kind.
    """
    prefix, plural = _PLACES[kind]
    return (prefix.split("/")[2] if prefix.startswith("/apis/") else "", plural)


def apply(connection: Connection, manifest: Manifest, *, is_dry: bool = False) -> Manifest:
    """Make an object, or bring the one that is there into line; unknown fields are refused.

    Args:
        connection: The API server.
        manifest: What it shall be.
        is_dry: Whether the server only checks it.

    Raises:
        ClusterError: The server refuses, or does not know the kind.
    """
    query: dict[str, str | int] = {"fieldManager": MANAGER, "fieldValidation": "Strict", "force": "true"}
    if is_dry:
        query["dryRun"] = "All"
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    try:
        return connection.call(
            "PATCH",
            place(connection, kind, name),
            query=query,
            body=manifest,
            content_type="application/apply-patch+yaml",
        )
    except ApiError as error:
        group = manifest["apiVersion"].partition("/")[0]
        if error.is_missing and group in OPERATORS:
            first = "install the KubeRay operator first " if group == "ray.io" else ""
            mend = f"{first}({OPERATORS[group]})" if first else OPERATORS[group]
            raise ClusterError(f"the cluster knows no {manifest['apiVersion']} {kind}: {mend}") from error
        raise ApiError(f"{kind} {name}: {error.message}", error.status, error.mend) from error


def create(connection: Connection, manifest: Manifest) -> Manifest:
    """Make an object; unknown fields are refused.

    Args:
        connection: The API server.
        manifest: What it shall be.

    Raises:
        ApiError: The server refuses: there is one of that name, say.
    """
    query = {"fieldManager": MANAGER, "fieldValidation": "Strict"}
    return connection.call("POST", place(connection, manifest["kind"]), query=query, body=manifest)


def find(connection: Connection, kind: str, name: str) -> Manifest | None:
    """Return an object, or None where there is none of that name.

    Args:
        connection: The API server.
        kind: The kind.
        name: The name.
    """
    try:
        return connection.call("GET", place(connection, kind, name))
    except ApiError as error:
        if error.is_missing:
            return None
        raise


def find_all(connection: Connection, kind: str, **query: str) -> list[Manifest]:
    """Return the objects of a kind in the namespace.

    Args:
        connection: The API server.
        kind: The kind.
        query: What they must meet: `labelSelector`, `fieldSelector`.
    """
    found: list[Manifest] = []
    more: Query = dict(query)
    while True:
        page = connection.call("GET", place(connection, kind), query={**more, "limit": 500})
        found += page["items"]
        token: Any = page.get("metadata", {}).get("continue")
        if not token:
            return found
        more = {**query, "continue": token}


def delete(connection: Connection, kind: str, name: str) -> bool:
    """Delete an object with all that belongs to it, and return whether there was one.

    Args:
        connection: The API server.
        kind: The kind.
        name: The name.
    """
    try:
        connection.call("DELETE", place(connection, kind, name), query={"propagationPolicy": "Background"})
    except ApiError as error:
        if error.is_missing:
            return False
        raise
    return True


def wait_until_deleted(connection: Connection, kind: str, name: str, until: float) -> None:
    """Wait until an object that was deleted is gone: before that no other can have its name.

    Args:
        connection: The API server.
        kind: The kind.
        name: The name.
        until: When to give up [s on the monotonic clock].

    Raises:
        ClusterError: It is there still; the message says what holds it, as far as it tells.
    """
    while (there := find(connection, kind, name)) is not None:
        if time.monotonic() > until:
            holds = ", ".join(there["metadata"].get("finalizers", []))
            held = f", held by its finalizers ({holds})" if holds else ""
            raise ClusterError(
                f"the {kind} {name} is deleted but not yet gone{held}: try again in a minute, or see what "
                f"holds it: kubectl --namespace {connection.namespace} describe {kind.lower()} {name}"
            )
        time.sleep(_PAUSE_S)
