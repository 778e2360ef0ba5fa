"""Access of a pod to the results: a volume or an object store, and the credentials for it.

The keys of a Secret become environment variables, which the clients of S3 and Azure read. Google's client
reads a file, so its Secret is mounted. Without a Secret the pod's service account must have access.
"""

from typing import Any

from destage.cluster.setup.cluster_settings import Settings
from destage.cluster.setup.object_labels import Labels, Release
from destage.cluster.setup.store_url import find_scheme

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
