"""Objects in a bucket, named and used as files are: `s3://`, `gs://` and `abfs://`, through pyarrow.

An object is written whole by one PUT, so it is there or it is not. On Azure pyarrow writes an empty one
first: for a moment, or after a kill, there is nothing in it. There are no directories: a prefix is there as
soon as an object under it is. Lists follow writes at once on all three services, which the lease relies on
(https://aws.amazon.com/s3/consistency/).
"""

import mimetypes
import os
import random
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Self, TypeVar
from urllib.parse import parse_qsl, urlsplit

from destage.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyarrow.fs import FileInfo, FileSystem

SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss")
_PAUSES_S = (1.0, 4.0)
"""How long to wait before each further try of a request that failed [s], give or take a half."""
_SETTLING, _SETTLING_S = 4, 0.5
"""How often, and after how long, what is empty on Azure is read again: whoever writes it may be about to."""
_FINAL = (
    "ACCESS_DENIED",
    "INVALID_ACCESS_KEY_ID",
    "SIGNATURE_DOES_NOT_MATCH",
    "NO_SUCH_BUCKET",
    "HTTP status 403",
    "HTTP status 401",
    "Permanent error",
    "Azure Error: [Auth",
    " 403 ",
)
"""What services say when trying again would not help."""
_DEFAULTS = (
    ("s3:", "allow_delayed_open=true"),  # one PutObject instead of the three requests of a multipart upload
    ("gs:", "retry_limit_seconds=10"),  # instead of 15 minutes
    ("gcs:", "retry_limit_seconds=10"),
)
_SECRETS = {"access_key", "secret_key", "session_token", "account_key", "client_secret", "sas_token", "sig"}
"""Names of a URL's options that would carry credentials."""
_Got = TypeVar("_Got")


@dataclass(frozen=True, slots=True)
class Listed:
    """An object as a list tells of it.

    Attributes:
        path: The object.
        size: Its size [bytes].
        changed: When it was last written, by the service's clock.
    """

    path: "ObjectPath"
    size: int
    changed: datetime


@dataclass(frozen=True, slots=True, order=True)
class ObjectPath:
    """An object, or the prefix of some, with the part of `pathlib.Path` that Destage uses.

    Attributes:
        service: Scheme and bucket, as in `s3://bucket`.
        options: The URL's query: how the service is reached.
        key: The object's key in the bucket.
    """

    service: str
    options: str
    key: str

    @classmethod
    def parse(cls, url: str) -> Self:
        """Return what a URL names.

        Args:
            url: As in `s3://bucket/prefix?region=eu-central-1`; the query is pyarrow's.

        Raises:
            StoreError: It is no such URL, or it carries credentials.
        """
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES:
            raise StoreError(
                f"{parts.scheme}:// is no address of a bucket: allowed is a path, or "
                f"{', '.join(f'{s}://' for s in SCHEMES)}"
            )
        user, is_azure = parts.username, parts.scheme.startswith("abfs")
        is_known = user is None or is_azure or (parts.scheme.startswith("g") and user == "anonymous")
        asked = {name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
        if parts.password is not None or not is_known or asked & _SECRETS:
            raise StoreError(
                f"a URL is seen by many: take the credentials out of {parts.scheme}://... "
                "and give them by the environment, as in AWS_ACCESS_KEY_ID"
            )
        if not parts.netloc or parts.fragment:
            raise StoreError(f"{url!r} names no bucket: write it as {parts.scheme}://bucket/prefix")
        key = str(PurePosixPath("/", parts.path)).lstrip("/")
        return cls(f"{parts.scheme}://{parts.netloc}", parts.query, key)

    def __str__(self) -> str:
        return f"{self.service}/{self.key}" + (f"?{self.options}" if self.options else "")

    def __truediv__(self, name: str) -> "ObjectPath":
        return ObjectPath(self.service, self.options, f"{self.key}/{name}" if self.key else name)

    @property
    def name(self) -> str:
        """The last part of the key."""
        return PurePosixPath(self.key).name

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return PurePosixPath(self.key).stem

    @property
    def suffix(self) -> str:
        """What the name ends in, from its last dot on."""
        return PurePosixPath(self.key).suffix

    @property
    def parent(self) -> "ObjectPath":
        """The prefix that this lies under."""
        head, _, _ = self.key.rpartition("/")
        return ObjectPath(self.service, self.options, head)

    def absolute(self) -> "ObjectPath":
        """Return the object itself: it is not relative to anything."""
        return self

    def is_file(self) -> bool:
        """Return whether the object is there."""
        return self.changed() is not None

    def exists(self) -> bool:
        """Return whether the object is there, or any under it."""
        there: bool = self._info().type.name != "NotFound"
        return there

    def changed(self) -> float | None:
        """Return when the object was last written [s since 1970], or None where it is not there."""
        info = self._info()
        return info.mtime.timestamp() if info.is_file else None

    def listed(self) -> list[Listed]:
        """Return the objects right under this, in the order of their names."""
        return [
            Listed(self / info.base_name, info.size, info.mtime) for info in self._children() if info.is_file
        ]

    def below(self) -> list[Listed]:
        """Return all objects under this, in the order of their keys."""
        from pyarrow.fs import FileSelector  # noqa: PLC0415 - as in `_opened`

        def look(filesystem: "FileSystem", place: str) -> list[Listed]:
            found = filesystem.get_file_info(FileSelector(place, allow_not_found=True, recursive=True))
            return [
                Listed(self / info.path.removeprefix(f"{place}/"), info.size, info.mtime)
                for info in found
                if info.is_file
            ]

        return sorted(self._attempt(look), key=lambda each: each.path)

    def prefixes(self) -> list["ObjectPath"]:
        """Return the prefixes right under this, in the order of their names."""
        if self.service.startswith("g"):  # pyarrow tells of Google's objects only
            start = f"{self.key}/" if self.key else ""
            names = {each.path.key.removeprefix(start).partition("/") for each in self.below()}
            return [self / name for name in sorted({name for name, slash, _ in names if slash})]
        return [self / info.base_name for info in self._children() if not info.is_file]

    def read_bytes(self) -> bytes:
        """Return what the object holds.

        Raises:
            FileNotFoundError: It is not there.
            StoreError: The service does not give it.
        """

        def get(filesystem: "FileSystem", place: str) -> bytes:
            with filesystem.open_input_stream(place) as stream:
                data: bytes = stream.read()
            return data

        data = self._attempt(get)
        for _ in range(_SETTLING if self.service.startswith("abfs") and self.suffix else 0):
            if data:
                break
            time.sleep(_SETTLING_S)
            data = self._attempt(get)
        return data

    def read_text(self) -> str:
        """Return what the object holds as text; errors as in `read_bytes`."""
        return self.read_bytes().decode()

    def write_bytes(self, data: bytes) -> None:
        """Write the object whole, in place of one that is there.

        Args:
            data: What it shall hold.

        Raises:
            StoreError: The service does not take it.
        """
        kind = mimetypes.guess_type(self.name)[0]

        def put(filesystem: "FileSystem", place: str) -> None:
            with filesystem.open_output_stream(
                place, metadata={"Content-Type": kind} if kind else None
            ) as stream:
                stream.write(data)
            # Only S3 takes an object in one request, wholly or not at all.
            if not self.service.startswith("s3:") and (there := filesystem.get_file_info(place).size) != len(
                data
            ):
                raise OSError(f"{there} of {len(data)} bytes are there after they were written")

        try:
            self._attempt(put)
        except FileNotFoundError as error:
            raise StoreError(f"{self} cannot be written: there is no such bucket") from error

    def write_text(self, text: str, encoding: str = "utf-8") -> None:
        """Write the object whole, as `write_bytes`.

        Args:
            text: What it shall hold.
            encoding: How.
        """
        self.write_bytes(text.encode(encoding))

    def touch(self) -> None:
        """Write an empty object."""
        self.write_bytes(b"")

    def drop_markers(self) -> None:
        """Delete the empty objects that pyarrow leaves for a prefix that nothing is under any more.

        Raises:
            StoreError: The service does not delete them.
        """
        if self.service.startswith("g"):
            return  # Google's are none
        with suppress(FileNotFoundError):
            self._attempt(lambda filesystem, place: filesystem.delete_dir(place))

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Delete the object; one that is not there is no error, whatever is asked.

        A request whose answer got lost is sent again, and finds nothing.

        Args:
            missing_ok: As in `pathlib.Path`.

        Raises:
            StoreError: The service does not delete it.
        """
        del missing_ok
        with suppress(FileNotFoundError):
            self._attempt(lambda filesystem, place: filesystem.delete_file(place))

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Do nothing: a prefix is there as soon as an object under it is."""

    def _info(self) -> "FileInfo":
        return self._attempt(lambda filesystem, place: filesystem.get_file_info(place))

    def _children(self) -> list["FileInfo"]:
        from pyarrow.fs import FileSelector  # noqa: PLC0415 - as in `_opened`

        found: list[FileInfo] = self._attempt(
            lambda filesystem, place: filesystem.get_file_info(FileSelector(place, allow_not_found=True))
        )
        return sorted(found, key=lambda info: info.base_name)

    def _attempt(self, act: "Callable[[FileSystem, str], _Got]") -> _Got:
        """Do something, again and again while the service may yet do it.

        One try takes up to some nine seconds where the service is busy or does not answer: pyarrow's clients
        try many times themselves.
        """
        filesystem, base = _opened(self.service, self.options)
        place = f"{base}/{self.key}".rstrip("/")
        for pause_s in (*_PAUSES_S, None):
            try:
                return act(filesystem, place)
            except FileNotFoundError:
                raise
            except OSError as error:
                if pause_s is None or any(word in str(error) for word in _FINAL):
                    raise StoreError(f"{self} cannot be reached: {_told(error)}") from error
                time.sleep(pause_s * random.uniform(0.5, 1.5))  # noqa: S311 - so that not all come back at once
        raise AssertionError("the last try returns or raises")


@lru_cache(maxsize=16)
def _opened(service: str, options: str) -> "tuple[FileSystem, str]":
    """Return a bucket's file system and what stands before its keys; made once a process."""
    from pyarrow.fs import FileSystem  # noqa: PLC0415 - costs 0.1 s, and most stores are folders

    for scheme, option in _DEFAULTS:
        if service.startswith(scheme) and option.partition("=")[0] not in options:
            options = "&".join(filter(None, [options, option]))
    try:
        filesystem, base = FileSystem.from_uri(f"{service}/" + (f"?{options}" if options else ""))
    except (OSError, ValueError) as error:
        raise StoreError(f"{service} cannot be opened: {_told(error)}") from error
    return (_with_key(filesystem, service) if service.startswith("abfs") else filesystem), base.strip("/")


def _with_key(filesystem: "FileSystem", service: str) -> "FileSystem":
    """Return an Azure file system with the storage account's key, where the environment has one.

    Every other credential pyarrow finds itself; this one it takes neither from there nor from a URL.
    """
    from pyarrow.fs import AzureFileSystem  # noqa: PLC0415 - as in `_opened`

    key = os.environ.get("AZURE_STORAGE_KEY")
    known = {name: value or None for name, value in filesystem.__reduce__()[1][0].items()}
    if key:
        return AzureFileSystem(**known | {"account_key": key})
    if known.get("blob_storage_scheme") == "http":  # Azure's library ends the process then
        raise StoreError(f"{service} without TLS needs AZURE_STORAGE_KEY: a token is not sent in the clear")
    return filesystem


def _told(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
