"""The store of a job: its volume or bucket, the credentials for it, and the traces in it.

The keys of a store's Secret, by scheme, become environment variables, which the clients of S3 and Azure read.
Google's client reads a file, so its Secret is mounted. Without a Secret the pod's service account must have
access. The pods read the traces of a study from files on the results volume, or from objects in a bucket.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from destage.cluster.setup.cluster_settings import Settings, find_ports, find_scheme
from destage.cluster.setup.object_labels import Labels, Release
from destage.errors import Issue
from destage.objects import ObjectPath, is_address

Part = dict[str, Any]
RESULTS = "/results"
"""The mount path of the volume with the store."""
_CREDENTIALS = "/etc/destage-store"
"""The mount path of a Google store's Secret."""
KEY_FILE = "key.json"
"""The key of a Google service account in its Secret."""
_AZURE_IDENTITY = "azure.workload.identity/"


def build_store_env(settings: Settings) -> list[Part]:
    """Return the environment variables for the store."""
    env: list[Part] = [{"name": "DESTAGE_STORE", "value": settings.store.url or RESULTS}]
    if _has_key_file(settings):
        env.append({"name": "GOOGLE_APPLICATION_CREDENTIALS", "value": f"{_CREDENTIALS}/{KEY_FILE}"})
    return env


def build_store_env_from(settings: Settings) -> Part:
    """Return the container field that turns the keys of the store's Secret into environment variables."""
    if not settings.store.secret or _has_key_file(settings):
        return {}
    return {"envFrom": [{"secretRef": {"name": settings.store.secret}}]}


def build_store_mounts(settings: Settings) -> list[Part]:
    """Return the mounts of `store_volumes`."""
    if _has_key_file(settings):
        return [{"name": "credentials", "mountPath": _CREDENTIALS, "readOnly": True}]
    return [] if settings.store.url else [{"name": "results", "mountPath": RESULTS}]


def build_store_volumes(release: Release, settings: Settings) -> list[Part]:
    """Return the volumes for the store."""
    if _has_key_file(settings):
        return [{"name": "credentials", "secret": {"secretName": settings.store.secret}}]
    if settings.store.url:
        return []
    return [{"name": "results", "persistentVolumeClaim": {"claimName": release.claim_name(settings)}}]


def build_identity_labels(settings: Settings) -> Labels:
    """Return the labels that workload identity needs on pods; only Azure's needs one."""
    is_azure = any(name.startswith(_AZURE_IDENTITY) for name in settings.accounts.annotations)
    return {f"{_AZURE_IDENTITY}use": "true"} if is_azure else {}


def _has_key_file(settings: Settings) -> bool:
    return bool(settings.store.secret) and find_scheme(settings.store.url) == "gs"


_VARIABLES: dict[str, tuple[tuple[str, ...], ...]] = {
    "s3": (("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),),
    "abfs": (("AZURE_STORAGE_KEY",), ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")),
}
"""The environment variables that a store's client reads: alternative sets."""
_FILE_VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"


def find_missing_credentials(url: str, environment: Mapping[str, str]) -> str:
    """Return what a store's Secret lacks in the environment of its pod; empty if it is complete."""
    scheme = find_scheme(url)
    if scheme == "gs":
        return _check_key_file(Path(environment.get(_FILE_VARIABLE, "")))
    missing = [[name for name in names if not environment.get(name)] for names in _VARIABLES.get(scheme, ())]
    if not missing or not all(missing):
        return ""
    return f"missing {', or '.join(' and '.join(names) for names in missing)}"


def format_secret_command(url: str, secret: str) -> str:
    """Return the command that creates a store's Secret."""
    scheme = find_scheme(url)
    if scheme == "gs":
        options = [f"--from-file={KEY_FILE}=FILE"]
    else:
        options = [f"--from-literal={name}=..." for name in _VARIABLES[scheme][0]]
    return " ".join([f"kubectl create secret generic {secret}", *options])


def _check_key_file(path: Path) -> str:
    try:
        key = json.loads(path.read_text())
    except OSError:
        return f"missing {KEY_FILE}"
    except ValueError:
        return f"{KEY_FILE} is invalid JSON"
    has_type = isinstance(key, dict) and key.get("type")
    return "" if has_type else f"{KEY_FILE} is not a Google key: it has no type"


def find_trace_issues(document: object, settings: Settings) -> list[Issue]:
    """Return an issue for each trace of a study that the pods cannot read."""
    return [issue for trace in _traces(document) if (issue := _find_issue(trace, settings))]


def _find_issue(trace: str, settings: Settings) -> Issue | None:
    url, name = settings.store.url, Path(trace).name
    if not is_address(trace):
        if url:
            target = str(ObjectPath.parse(url) / "traces" / name)
            message = (
                f"pods have no volume with store.url; copy the trace to a bucket and set the file to {target}"
            )
            return Issue("cluster.trace-not-in-bucket", trace, message, data={"target": target})
        if trace.startswith(f"{RESULTS}/"):
            return None
        target = f"{RESULTS}/traces/{name}"
        message = f"pods read only the results volume; copy the trace there and set the file to {target}"
        return Issue("cluster.trace-not-on-volume", trace, message, data={"target": target})
    if not url:
        message = (
            "pods have no credentials for a bucket without store.url; copy the trace to the results volume"
        )
        return Issue("cluster.trace-without-credentials", trace, message)
    policy = settings.network_policy
    blocked = sorted(set(find_ports(trace)) - {*find_ports(url), *policy.egress_ports})
    if policy.enabled and blocked:
        ports = ", ".join(map(str, blocked))
        message = f"the NetworkPolicy blocks port {ports}; add it to networkPolicy.egressPorts"
        return Issue("cluster.trace-port-blocked", trace, message, data={"ports": blocked})
    return None


def _traces(document: object) -> Iterator[str]:
    """Yield the traces of a study: each `file` of an arrival."""
    if isinstance(document, Mapping):
        for key, value in document.items():
            if str(key).rpartition(".")[2] == "file":
                yield from map(str, value if isinstance(value, list) else [value])
            else:
                yield from _traces(value)
    elif isinstance(document, list):
        for value in document:
            yield from _traces(value)
