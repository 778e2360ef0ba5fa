"""The URL of an object store: its scheme and ports, and validation of the settings that depend on it."""

import re
from collections.abc import Iterator

from destage.cluster.setup.cluster_settings import Settings
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
    """Return the scheme of a store's client: `s3`, `gs` or `abfs`; empty for anything else."""
    found = _ADDRESS.search(url)
    return found[1].replace("abfss", "abfs") if found else ""


def find_ports(url: str) -> list[int]:
    """Return the ports of a store and its token service: 443, and that of the store's endpoint."""
    named = [int(port) for port in _PORT.findall(url)]
    if not named and _PLAIN.search(url):
        named = [_HTTP]
    return list(dict.fromkeys([_HTTPS, *named]))


def find_store_issues(settings: Settings) -> Iterator[Issue]:
    """Yield the issues of the store settings; the chart's `_refusals.tpl` has the same."""
    url = settings.store.url
    if settings.store.secret and not url:
        message = "needs store.url: a volume has no credentials"
        yield Issue("settings.secret-without-url", "store.secret", message)
    if not url:
        return
    if not _ADDRESS.search(url):
        message = "must start with s3://, gs://, abfs:// or abfss:// and a bucket"
        yield Issue("settings.bad-store-url", "store.url", message)
    elif _has_credentials(url):
        # The URL is not repeated: logs are kept.
        message = (
            "must not contain credentials: put them into a Secret (store.secret) or use workload identity "
            "(accounts.annotations)"
        )
        yield Issue("settings.credentials-in-url", "store.url", message)
    if settings.claim.existing:
        message = "excludes claim.existing: results go to a bucket or to a volume"
        yield Issue("settings.store-and-claim", "store.url", message)


def _has_credentials(url: str) -> bool:
    """Return whether an otherwise valid URL is rejected, as everywhere, because it contains credentials."""
    try:
        ObjectPath.parse(url)
    except StoreError:
        return True
    return False
