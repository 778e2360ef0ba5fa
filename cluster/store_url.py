"""The URL of an object store, as far as a cluster must know it: scheme, ports, and what it may not hold."""

import re
from collections.abc import Iterator

from destage.cluster.settings import Settings
from destage.errors import Issue, StoreError
from destage.objects import ObjectPath

_ADDRESS = re.compile(r"^(s3|gs|abfss?)://[^/?#]")
_PORT = re.compile(
    r"(?:^abfss?://[^/?]*|[?&](?:endpoint_override|blob_storage_authority|dfs_storage_authority)=[^&]*)"
    r"(?::|%3A)([0-9]+)"
)
_PLAIN = re.compile(r"[?&](scheme=http|enable_tls=(false|0))(&|$)")
_HTTP, _HTTPS = 80, 443


def find_scheme(url: str) -> str:
    """Return whose client reads a store: `s3`, `gs` or `abfs`.

    Args:
        url: The store.
    """
    found = _ADDRESS.search(url)
    return found[1].replace("abfss", "abfs") if found else ""


def find_ports(url: str) -> list[int]:
    """Return the ports that a store and the services beside it listen on: 443, and its endpoint's own.

    Args:
        url: The store.
    """
    named = [int(port) for port in _PORT.findall(url)]
    if not named and _PLAIN.search(url):
        named = [_HTTP]
    return list(dict.fromkeys([_HTTPS, *named]))


def store_mistakes(settings: Settings) -> Iterator[Issue]:
    """Yield what is wrong with the store of some settings: the same as the chart refuses.

    Args:
        settings: What is asked for.
    """
    url = settings.store.url
    if settings.store.secret and not url:
        yield Issue("store.secret", settings.store.secret, "goes with store.url: a volume has no credentials")
    if not url:
        return
    if not _ADDRESS.search(url):
        yield Issue("store.url", url, "begins with s3://, gs://, abfs:// or abfss:// and a bucket")
    elif _has_credentials(url):
        told = "name their Secret in store.secret, or use workload identity (accounts.annotations)"
        # The URL is not repeated: what is printed is kept.
        yield Issue("store.url", None, f"holds no credentials: {told}")
    if settings.claim.existing:
        yield Issue("store.url", url, "and claim.existing exclude each other: a bucket or a volume, not both")


def _has_credentials(url: str) -> bool:
    """Return whether a store's URL, sound in all else, is refused wherever a store is named."""
    try:
        ObjectPath.parse(url)
    except StoreError:
        return True
    return False
