"""Containers of Azure, through obstore.

pyarrow's client of Azure ends the whole process when an error has a body that it cannot parse, and its writes
are not atomic: decision 38.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from destage.errors import StoreError
from destage.objects.bucket import Bucket, Entry, OpenObject, Version

if TYPE_CHECKING:
    from obstore import GetResult, ObjectMeta
    from obstore.store import AzureStore, RetryConfig

_RETRIES: "RetryConfig" = {"max_retries": 4, "retry_timeout": timedelta(seconds=10)}
_LIMIT = timedelta(minutes=10)
"""Time limit of one request with its body; the client's own is 30 s."""
_IDENTITIES = ("AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE")
"""Variables of identities that come before the one of Azure's command line."""
_STATUS = re.compile(r"status code: (\d+ [^:]*):(?:.*?<Code>(\w+)</Code>\s*<Message>([^\n<]*))?", re.DOTALL)
_TOKEN = re.compile(r"token request|az account|az login|Access Key", re.IGNORECASE)


class AzureBucket(Bucket):
    """A container."""

    def __init__(self, store: "AzureStore") -> None:
        self._store = store

    def find(self, key: str) -> Entry | None:
        try:
            with _failures():
                return _as_entry(self._store.head(key))
        except FileNotFoundError:
            return None

    def has_any(self, key: str) -> bool:
        if key and self.find(key):
            return True
        with _failures():
            return any(self._store.list(key or None, chunk_size=1))

    def read_version(self, key: str) -> Version:
        with _failures():
            metadata = self._store.head(key)
        return Version(metadata["e_tag"] or "", metadata["size"])

    def open(self, key: str) -> OpenObject:
        return _AzureObject(self._store, key)

    def write(self, key: str, data: bytes, content_type: str | None) -> None:
        attributes = {"Content-Type": content_type} if content_type else None
        with _failures():
            self._store.put(key, data, attributes=attributes)

    def delete(self, key: str) -> None:
        with _failures():
            self._store.delete(key)

    def list_objects(self, key: str) -> list[Entry]:
        with _failures():
            return [
                _as_entry(metadata) for metadata in self._store.list_with_delimiter(key or None)["objects"]
            ]

    def list_prefixes(self, key: str) -> list[str]:
        with _failures():
            prefixes = self._store.list_with_delimiter(key or None)["common_prefixes"]
        return [prefix.rpartition("/")[2] for prefix in prefixes]

    def list_below(self, key: str) -> list[Entry]:
        with _failures():
            return [_as_entry(metadata) for part in self._store.list(key or None) for metadata in part]

    def drop_markers(self, key: str) -> None:
        """Do nothing: this client leaves none."""


class _AzureObject(OpenObject):
    """An object that is read: whole by one request, or by one per piece."""

    def __init__(self, store: "AzureStore", key: str) -> None:
        self._store, self._key, self._at = store, key, 0
        self._whole: GetResult | None = None

    def size(self) -> int:
        return self._get().meta["size"]

    def seek(self, position: int, /) -> int:
        self._at = position
        return position

    def read(self, length: int | None = None, /) -> bytes:
        with _failures():
            if length is None:
                return bytes(self._get().bytes())
            data = bytes(self._store.get_range(self._key, start=self._at, length=length))
        self._at += len(data)
        return data

    def _get(self) -> "GetResult":
        if self._whole is None:
            with _failures():
                self._whole = self._store.get(self._key)
        return self._whole

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def open_container(service: str, options: str) -> AzureBucket:
    """Return a container, given its URL in two parts; pyarrow reads the options."""
    from obstore.store import AzureStore  # noqa: PLC0415 - as in `open_bucket`
    from pyarrow.fs import FileSystem  # noqa: PLC0415 - as in `open_bucket`

    filesystem, base = FileSystem.from_uri(f"{service}/" + (f"?{options}" if options else ""))
    arguments = filesystem.__reduce__()[1][0]
    account, scheme, authority = (
        arguments[name] for name in ("account_name", "blob_storage_scheme", "blob_storage_authority")
    )
    host = f"{account}{authority}" if authority.startswith(".") else f"{authority}/{account}"
    config = {name: arguments[name] for name in ("tenant_id", "client_id") if arguments[name]}
    if key := os.environ.get("AZURE_STORAGE_KEY"):
        config["account_key"] = key
    elif scheme == "http":
        message = "set AZURE_STORAGE_KEY; a token is not sent without TLS"
        raise StoreError("bucket.token-without-tls", message, service)
    elif shutil.which("az") and not any(map(os.environ.get, _IDENTITIES)):
        config["use_azure_cli"] = "true"
    with _failures():
        return AzureBucket(
            AzureStore(
                base.strip("/"),
                account_name=account,
                endpoint=f"{scheme}://{host}",
                client_options={"allow_http": scheme == "http", "timeout": _LIMIT, "read_timeout": "30s"},
                retry_config=_RETRIES,
                **config,
            )
        )


@contextmanager
def _failures() -> Iterator[None]:
    """Raise the client's errors as an OSError in the words that `failures` knows."""
    from obstore.exceptions import BaseError  # noqa: PLC0415 - as in `open_bucket`

    try:
        yield
    except FileNotFoundError as error:
        if "ContainerNotFound" in str(error):
            raise OSError(describe_failure(str(error))) from error
        raise
    except BaseError as error:
        raise OSError(describe_failure(str(error))) from error


def describe_failure(text: str) -> str:
    """Return the service's part of the client's message: code, status and reason."""
    text = text.partition("\n\nDebug source")[0]
    start = "Failed to get token: " if _TOKEN.search(text) else ""
    if match := _STATUS.search(text):
        status, code, message = match.groups("")
        return start + f"{status} {message}" if start else f"Azure Error: [{code}] {status} {message}"
    return start + text if start else f"Azure Error: [] {text.rpartition(' - ')[2]}"


def _as_entry(metadata: "ObjectMeta") -> Entry:
    return Entry(metadata["path"], metadata["size"], metadata["last_modified"])
