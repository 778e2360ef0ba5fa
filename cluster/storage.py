"""Where a pod finds the results, a volume or an object store, and what lets it in.

A Secret's keys become environment variables, as the clients of S3 and of Azure read them. Google's client
reads a file only, so for it the Secret is mounted. Without a Secret the pod's own account has to do.
"""

from typing import Any

from destage.cluster.labels import Labels, Release
from destage.cluster.settings import Settings
from destage.cluster.store_url import find_scheme

Part = dict[str, Any]
RESULTS = "/results"
"""Where a volume with the store is mounted."""
CREDENTIALS = "/etc/destage-store"
"""Where the Secret of a Google store is mounted."""
KEY_FILE = "key.json"
"""What the key of Google's service account is called in its Secret."""
_AZURE_IDENTITY = "azure.workload.identity/"


def store_of(settings: Settings) -> str:
    """Return the store, as `--store` takes it.

    Args:
        settings: What is asked for.
    """
    return settings.store.url or RESULTS


def store_env(settings: Settings) -> list[Part]:
    """Return the environment variables that tell a container of the store.

    Args:
        settings: What is asked for.
    """
    env: list[Part] = [{"name": "DESTAGE_STORE", "value": store_of(settings)}]
    if _is_key_file(settings):
        env.append({"name": "GOOGLE_APPLICATION_CREDENTIALS", "value": f"{CREDENTIALS}/{KEY_FILE}"})
    return env


def store_env_from(settings: Settings) -> Part:
    """Return the Secret whose keys become environment variables, as a part of a container.

    Args:
        settings: What is asked for.
    """
    if not settings.store.secret or _is_key_file(settings):
        return {}
    return {"envFrom": [{"secretRef": {"name": settings.store.secret}}]}


def store_mounts(settings: Settings) -> list[Part]:
    """Return what a container mounts of `store_volumes`.

    Args:
        settings: What is asked for.
    """
    if _is_key_file(settings):
        return [{"name": "credentials", "mountPath": CREDENTIALS, "readOnly": True}]
    return [] if settings.store.url else [{"name": "results", "mountPath": RESULTS}]


def store_volumes(release: Release, settings: Settings) -> list[Part]:
    """Return the volumes that a pod needs for the store.

    Args:
        release: What it belongs to.
        settings: What is asked for.
    """
    if _is_key_file(settings):
        return [{"name": "credentials", "secret": {"secretName": settings.store.secret}}]
    if settings.store.url:
        return []
    return [{"name": "results", "persistentVolumeClaim": {"claimName": release.claim(settings)}}]


def identity_labels(settings: Settings) -> Labels:
    """Return the labels by which a cloud gives a pod its account's identity; only Azure's asks for one.

    Args:
        settings: What is asked for.
    """
    is_azure = any(name.startswith(_AZURE_IDENTITY) for name in settings.accounts.annotations)
    return {f"{_AZURE_IDENTITY}use": "true"} if is_azure else {}


def _is_key_file(settings: Settings) -> bool:
    return bool(settings.store.secret) and find_scheme(settings.store.url) == "gs"
