"""A bucket's service: the client that reaches it, made once a process, and what its words for trouble say."""

import os
from functools import lru_cache
from typing import TYPE_CHECKING

from destage.errors import StoreError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_REFUSED = (
    "ACCESS_DENIED",
    "INVALID_ACCESS_KEY_ID",
    "SIGNATURE_DOES_NOT_MATCH",
    "PERMISSION_DENIED",
    "HTTP status 403",
    "HTTP status 401",
    "Azure Error: [Auth",
    " 403 ",
)
"""What services say to those whom they do not let in."""
FINAL = (*_REFUSED, "NO_SUCH_BUCKET", "Permanent error")
"""What services say when trying again would not help."""
_DEFAULTS = (
    ("s3:", "allow_delayed_open=true"),  # one PutObject instead of the three requests of a multipart upload
    ("gs:", "retry_limit_seconds=10"),  # instead of 15 minutes
    ("gcs:", "retry_limit_seconds=10"),
)


def is_refusal(error: StoreError) -> bool:
    """Return whether a service lets somebody not in, rather than being out of reach.

    Args:
        error: What reading or writing an object led to.
    """
    return any(word in str(error) for word in _REFUSED)


@lru_cache(maxsize=16)
def opened(service: str, options: str) -> "tuple[FileSystem, str]":
    """Return a bucket's file system and what stands before its keys; made once a process.

    Args:
        service: Scheme and bucket.
        options: The URL's query.

    Raises:
        StoreError: There is no such client, or it lacks what it needs.
    """
    from pyarrow.fs import FileSystem  # noqa: PLC0415 - costs 0.1 s, and most stores are folders

    for scheme, option in _DEFAULTS:
        if service.startswith(scheme) and option.partition("=")[0] not in options:
            options = "&".join(filter(None, [options, option]))
    try:
        filesystem, base = FileSystem.from_uri(f"{service}/" + (f"?{options}" if options else ""))
    except (OSError, ValueError) as error:
        raise StoreError(f"{service} cannot be opened: {told(error)}") from error
    return (_with_key(filesystem, service) if service.startswith("abfs") else filesystem), base.strip("/")


def _with_key(filesystem: "FileSystem", service: str) -> "FileSystem":
    """Return an Azure file system with the storage account's key, where the environment has one.

    Every other credential pyarrow finds itself; this one it takes neither from there nor from a URL.
    """
    from pyarrow.fs import AzureFileSystem  # noqa: PLC0415 - as in `opened`

    key = os.environ.get("AZURE_STORAGE_KEY")
    known = {name: value or None for name, value in filesystem.__reduce__()[1][0].items()}
    if key:
        return AzureFileSystem(**known | {"account_key": key})
    if known.get("blob_storage_scheme") == "http":  # Azure's library ends the process then
        raise StoreError(f"{service} without TLS needs AZURE_STORAGE_KEY: a token is not sent in the clear")
    return filesystem


def told(error: BaseException) -> str:
    """Return what a service said, as one line of some length.

    Args:
        error: What its client raised.
    """
    return " ".join(str(error).split())[:300]
