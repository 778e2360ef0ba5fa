"""Clients of the services of buckets, one per process."""

import os
from functools import lru_cache
from typing import TYPE_CHECKING

from destage.errors import StoreError
from destage.objects.failures import extract_reason

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_DEFAULTS = (
    ("s3:", "allow_delayed_open=true"),  # one PutObject instead of the three requests of a multipart upload
    ("gs:", "retry_limit_seconds=10"),  # instead of 15 minutes
    ("gcs:", "retry_limit_seconds=10"),
)


@lru_cache(maxsize=16)
def open_bucket(service: str, options: str) -> "tuple[FileSystem, str]":
    """Return a bucket's file system and the prefix of its keys; cached.

    Raises:
        StoreError: The URL has a bad option, or the client lacks credentials.
        OSError: The service does not return the bucket's region.
    """
    from pyarrow.fs import FileSystem  # noqa: PLC0415 - costs 0.1 s, and most stores are folders

    for scheme, option in _DEFAULTS:
        if service.startswith(scheme) and option.partition("=")[0] not in options:
            options = "&".join(filter(None, [options, option]))
    try:
        filesystem, base = FileSystem.from_uri(f"{service}/" + (f"?{options}" if options else ""))
    except ValueError as error:
        raise StoreError(
            "bucket.bad-url", f"cannot be open_bucket: {extract_reason(str(error))}", service
        ) from error
    return (_with_key(filesystem, service) if service.startswith("abfs") else filesystem), base.strip("/")


def _with_key(filesystem: "FileSystem", service: str) -> "FileSystem":
    """Return an Azure file system with the storage account's key, if the environment has one.

    pyarrow finds all other credentials itself.
    """
    from pyarrow.fs import AzureFileSystem  # noqa: PLC0415 - as in `open_bucket`

    key = os.environ.get("AZURE_STORAGE_KEY")
    known = {name: value or None for name, value in filesystem.__reduce__()[1][0].items()}
    if key:
        return AzureFileSystem(**known | {"account_key": key})
    if known.get("blob_storage_scheme") == "http":  # Azure's library would end the process
        message = "set AZURE_STORAGE_KEY; a token is not sent without TLS"
        raise StoreError("bucket.token-without-tls", message, service)
    return filesystem
