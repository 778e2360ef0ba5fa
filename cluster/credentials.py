"""What a Secret must hold, by the store's scheme, and how one is made."""

import json
from collections.abc import Mapping
from pathlib import Path

from destage.cluster.storage import KEY_FILE
from destage.cluster.store_url import find_scheme

_NEEDED: dict[str, tuple[tuple[str, ...], ...]] = {
    "s3": (("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),),
    "abfs": (("AZURE_STORAGE_KEY",), ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")),
}
"""The variables that a store's client reads; one of several sets has to be there."""
_FILE = "GOOGLE_APPLICATION_CREDENTIALS"


def find_missing_credentials(url: str, environment: Mapping[str, str]) -> str:
    """Return what a Secret lacks, as one sentence; empty where it lacks nothing.

    Args:
        url: The store.
        environment: The environment variables of a container that has the Secret.
    """
    scheme = find_scheme(url)
    if scheme == "gs":
        return _missing_key(Path(environment.get(_FILE, "")))
    choices = _NEEDED.get(scheme, ())
    lacks = [[name for name in names if not environment.get(name)] for names in choices]
    if not lacks or not all(lacks):
        return ""
    return f"the Secret lacks {', or '.join(' and '.join(names) for names in lacks)}"


def making(url: str, secret: str) -> str:
    """Return the command that makes a store's Secret.

    Args:
        url: The store.
        secret: The Secret's name.
    """
    scheme = find_scheme(url)
    if scheme == "gs":
        given = [f"--from-file={KEY_FILE}=FILE"]
    else:
        given = [f"--from-literal={name}=..." for name in _NEEDED[scheme][0]]
    return " ".join([f"kubectl create secret generic {secret}", *given])


def _missing_key(path: Path) -> str:
    try:
        key = json.loads(path.read_text())
    except OSError:
        return f"the Secret lacks {KEY_FILE}"
    except ValueError:
        return f"the Secret's {KEY_FILE} is no JSON"
    has_kind = isinstance(key, dict) and key.get("type")
    return "" if has_kind else f"the Secret's {KEY_FILE} is no key of Google's: it has no type"
