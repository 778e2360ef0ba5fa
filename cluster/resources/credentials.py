"""The keys that a store's Secret needs, by scheme, and the command that creates it."""

import json
from collections.abc import Mapping
from pathlib import Path

from destage.cluster.resources.storage import KEY_FILE
from destage.cluster.setup.store_url import find_scheme

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
