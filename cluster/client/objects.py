"""Kubernetes objects by kind: their API paths, and how to apply, create, find, list and delete them."""

import time
from typing import Any

from destage.cluster.client.api_connection import ApiError, Connection, Query
from destage.cluster.resources.pods import Manifest
from destage.errors import ClusterError

MANAGER = "destage"
_PAUSE_S = 0.5
OPERATORS = {
    "ray.io": (
        "cluster.kuberay-missing",
        "install KubeRay: helm install kuberay-operator kuberay/kuberay-operator --version 1.7.0",
    ),
    "monitoring.coreos.com": (
        "cluster.prometheus-operator-missing",
        "install the Prometheus operator, or set podMonitor.enabled=false",
    ),
}
"""The operators that define the kinds of an API group: the code of the error if they are missing, the fix."""
_PATHS = {
    "ConfigMap": ("/api/v1", "configmaps"),
    "Event": ("/api/v1", "events"),
    "Job": ("/apis/batch/v1", "jobs"),
    "NetworkPolicy": ("/apis/networking.k8s.io/v1", "networkpolicies"),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims"),
    "Pod": ("/api/v1", "pods"),
    "PodDisruptionBudget": ("/apis/policy/v1", "poddisruptionbudgets"),
    "PodMonitor": ("/apis/monitoring.coreos.com/v1", "podmonitors"),
    "RayCluster": ("/apis/ray.io/v1", "rayclusters"),
    "RayJob": ("/apis/ray.io/v1", "rayjobs"),
    "ResourceQuota": ("/api/v1", "resourcequotas"),
    "Role": ("/apis/rbac.authorization.k8s.io/v1", "roles"),
    "RoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "rolebindings"),
    "ServiceAccount": ("/api/v1", "serviceaccounts"),
}


def build_path(connection: Connection, kind: str, name: str = "") -> str:
    """Return the API path of a kind in the namespace, or of one of its objects."""
    prefix, plural = _PATHS[kind]
    path = f"{prefix}/namespaces/{connection.namespace}/{plural}"
    return f"{path}/{name}" if name else path


def find_resource(kind: str) -> tuple[str, str]:
    """Return the API group and the resource name of a kind."""
    prefix, plural = _PATHS[kind]
    return (prefix.split("/")[2] if prefix.startswith("/apis/") else "", plural)


def apply(connection: Connection, manifest: Manifest, *, is_dry: bool = False) -> Manifest:
    """Create or update an object by server-side apply; unknown fields are rejected."""
    query: dict[str, str | int] = {"fieldManager": MANAGER, "fieldValidation": "Strict", "force": "true"}
    if is_dry:
        query["dryRun"] = "All"
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    try:
        return connection.call(
            "PATCH",
            build_path(connection, kind, name),
            query=query,
            body=manifest,
            content_type="application/apply-patch+yaml",
        )
    except ApiError as error:
        group = manifest["apiVersion"].partition("/")[0]
        if error.is_missing and group in OPERATORS:
            code, fix = OPERATORS[group]
            message = f"the cluster has no {manifest['apiVersion']} {kind}; {fix}"
            raise ClusterError(code, message, f"{kind} {name}") from error
        raise ApiError(error.code, error.message, f"{kind} {name}", error.data) from error


def create(connection: Connection, manifest: Manifest, *, is_dry: bool = False) -> Manifest:
    """Create an object; unknown fields are rejected.

    Raises:
        ApiError: The server rejects the object, or it exists already.
    """
    query = {"fieldManager": MANAGER, "fieldValidation": "Strict"} | ({"dryRun": "All"} if is_dry else {})
    return connection.call("POST", build_path(connection, manifest["kind"]), query=query, body=manifest)


def find(connection: Connection, kind: str, name: str) -> Manifest | None:
    """Return an object, or None if it does not exist."""
    try:
        return connection.call("GET", build_path(connection, kind, name))
    except ApiError as error:
        if error.is_missing:
            return None
        raise


def find_all(connection: Connection, kind: str, **query: str) -> list[Manifest]:
    """Return the objects of a kind in the namespace that match a `labelSelector` or `fieldSelector`."""
    objects: list[Manifest] = []
    page_query: Query = dict(query)
    while True:
        page = connection.call("GET", build_path(connection, kind), query={**page_query, "limit": 500})
        objects += page["items"]
        token: Any = page.get("metadata", {}).get("continue")
        if not token:
            return objects
        page_query = {**query, "continue": token}


def delete(connection: Connection, kind: str, name: str) -> bool:
    """Delete an object and its dependents; return whether it existed."""
    try:
        path = build_path(connection, kind, name)
        connection.call("DELETE", path, query={"propagationPolicy": "Background"})
    except ApiError as error:
        if error.is_missing:
            return False
        raise
    return True


def wait_until_deleted(connection: Connection, kind: str, name: str, deadline: float) -> None:
    """Wait for the deletion of an object until a deadline [s on the monotonic clock]."""
    while (manifest := find(connection, kind, name)) is not None:
        if time.monotonic() > deadline:
            finalizers = manifest["metadata"].get("finalizers", [])
            blocked = f" and waits for its finalizers ({', '.join(finalizers)})" if finalizers else ""
            message = (
                f"is being deleted{blocked}; try again in a minute, or find what blocks it: "
                f"kubectl --namespace {connection.namespace} describe {kind.lower()} {name}"
            )
            data = {"finalizers": finalizers}
            raise ClusterError("cluster.deletion-pending", message, f"{kind} {name}", data)
        time.sleep(_PAUSE_S)
