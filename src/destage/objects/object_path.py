"""Locations: files and folders, and objects of buckets (`s3://`, `gs://`, `abfs://`) that are used like them.

An object is complete or absent. There are no directories: a prefix exists as soon as an object under it
does. Lists are consistent with writes on all three services, which the lease relies on
(https://aws.amazon.com/s3/consistency/).
"""

import mimetypes
import random
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Self, TypeVar
from urllib.parse import parse_qsl, urlsplit

from destage.errors import StoreError
from destage.objects.bucket import Bucket, Entry, Version
from destage.objects.bucket_failures import as_unreachable_error, extract_reason, is_final, is_gone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from destage.objects.bucket import OpenObject


SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss")
_PAUSES_S = (1.0, 4.0)
"""Pauses before each retry of a failed request [s], each varied by up to a half."""
_PIECE = 16 << 20
"""Size of the pieces of `read_pieces` [bytes]."""
_SECRET = re.compile(r"key|token|secret|passw|credential|signature|^sig$|^sas")
"""Names of URL options that hold credentials."""
_LOGIN = re.compile(r"^[^/]*//[^/]*@|^[^/]*:[^/]*@")
"""An address with a user, as in an endpoint or a proxy."""
_Got = TypeVar("_Got")


class ObjectTooLargeError(Exception):
    """An object that is larger than its reader allows."""


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """An entry of a list of objects.

    Attributes:
        size: Its size [bytes].
        modified_at: Time of its last write, by the service's clock.
    """

    path: "ObjectPath"
    size: int
    modified_at: datetime


@dataclass(frozen=True, slots=True, order=True)
class ObjectPath:
    """An object or a prefix, with the methods of `pathlib.Path` that Destage uses.

    Attributes:
        service: Scheme and bucket, as in `s3://bucket`.
        options: The URL's query: options of the client.
        named: The key of the location that the user gave, which errors name.
    """

    service: str
    options: str
    key: str
    named: str = field(default="", compare=False, repr=False)

    @classmethod
    def parse(cls, url: str) -> Self:
        """Parse the URL of an object or prefix.

        Args:
            url: As in `s3://bucket/prefix?region=eu-central-1`; the query is pyarrow's.

        Raises:
            StoreError: It is not such a URL, or it holds credentials.
        """
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES:
            message = f"unknown scheme; use a path or one of {', '.join(f'{s}://' for s in SCHEMES)}"
            raise StoreError("bucket.unknown-scheme", message, f"{parts.scheme}://")
        user, is_azure = parts.username, parts.scheme.startswith("abfs")
        is_known = user is None or is_azure or (parts.scheme.startswith("g") and user == "anonymous")
        asked = parse_qsl(parts.query, keep_blank_values=True, separator="&")
        has_secret = any(_SECRET.search(name.lower()) or _LOGIN.search(value) for name, value in asked)
        if parts.password is not None or not is_known or has_secret:
            message = "URLs must not hold credentials; set them in the environment, as in AWS_ACCESS_KEY_ID"
            raise StoreError("bucket.credentials-in-url", message, f"{parts.scheme}://")
        if not parts.netloc or parts.fragment or "#" in url:
            wrong = "no bucket" if not parts.netloc else "a fragment (#) is not allowed"
            message = f"{wrong}; write it as {parts.scheme}://bucket/prefix"
            raise StoreError("bucket.bad-url", message, f"{parts.scheme}://")
        key = str(PurePosixPath("/", parts.path)).lstrip("/")
        return cls(f"{parts.scheme}://{parts.netloc}", parts.query, key, key)

    def __str__(self) -> str:
        return f"{self.service}/{self.key}" + (f"?{self.options}" if self.options else "")

    def __truediv__(self, name: str) -> "ObjectPath":
        return ObjectPath(self.service, self.options, f"{self.key}/{name}" if self.key else name, self.named)

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
        """The suffix of the name, from its last dot."""
        return PurePosixPath(self.key).suffix

    @property
    def parent(self) -> "ObjectPath":
        """The prefix that contains this."""
        head, _, _ = self.key.rpartition("/")
        return ObjectPath(self.service, self.options, head, self.named)

    def absolute(self) -> "ObjectPath":
        """Return the object itself; URLs are absolute."""
        return self

    def is_file(self) -> bool:
        """Return whether the object exists."""
        return self.modified_at() is not None

    def exists(self) -> bool:
        """Return whether the object exists, or any under it."""
        return self._attempt(lambda bucket: bucket.has_any(self.key))

    def modified_at(self) -> float | None:
        """Return when the object was last written [s since 1970]; None if it does not exist."""
        entry = self._attempt(lambda bucket: bucket.find(self.key))
        return entry.modified_at.timestamp() if entry else None

    def read_version(self) -> Version:
        """Return the version of the current content."""
        return self._attempt(lambda bucket: bucket.read_version(self.key))

    def read_pieces(self, version: Version) -> "Iterator[bytes]":
        """Yield the object piece by piece, with retries of each piece.

        Raises:
            StoreError: The service fails, or the object no longer has this version.
        """
        file: OpenObject | None = None

        def get(bucket: Bucket) -> bytes:
            nonlocal file
            try:
                if file is None:
                    file = bucket.open(self.key)
                    if done:
                        file.seek(done)
                data = file.read(wanted)
            except (OSError, ValueError):
                file = None
                raise
            if len(data) != wanted:
                file = None
                raise OSError(f"received {len(data)} of {wanted} bytes")
            return data

        for done in range(0, version.size, _PIECE):
            wanted = min(_PIECE, version.size - done)
            yield self._attempt(get)
        # The version was the same before the first request and after the last one.
        if self.read_version() != version:
            raise StoreError("bucket.changed-while-read", "rewritten while it was read; try again", str(self))

    def list_objects(self) -> list[ObjectInfo]:
        """Return the objects directly under this prefix, by name."""
        return self._as_infos(self._attempt(lambda bucket: bucket.list_objects(self.key)))

    def list_below(self) -> list[ObjectInfo]:
        """Return all objects under this prefix, by key."""
        return self._as_infos(self._attempt(lambda bucket: bucket.list_below(self.key)))

    def list_prefixes(self) -> list["ObjectPath"]:
        """Return the prefixes directly under this one, by name."""
        return [self / name for name in sorted(self._attempt(lambda bucket: bucket.list_prefixes(self.key)))]

    def read_bytes(self, most: int | None = None) -> bytes:
        """Read the whole object.

        Args:
            most: The largest size that is read [bytes] (default: any).

        Raises:
            ObjectTooLargeError: It is larger.
        """

        def get(bucket: Bucket) -> bytes:
            with bucket.open(self.key) as file:
                if most is not None and file.size() > most:
                    raise ObjectTooLargeError(f"{file.size():,} bytes; at most {most:,} are read")
                return file.read()

        return self._attempt(get)

    def read_text(self) -> str:
        """Read the whole object as text; errors as in `read_bytes`."""
        return self.read_bytes().decode()

    def write_bytes(self, data: bytes) -> None:
        """Write the object, replacing an existing one."""
        kind = mimetypes.guess_type(self.name)[0]
        try:
            self._attempt(lambda bucket: bucket.write(self.key, data, kind))
        except FileNotFoundError as error:
            raise as_unreachable_error(self._named(), str(error)) from error

    def write_text(self, text: str, encoding: str = "utf-8") -> None:
        """Write the object as text, as `write_bytes`."""
        self.write_bytes(text.encode(encoding))

    def touch(self) -> None:
        """Write an empty object."""
        self.write_bytes(b"")

    def drop_markers(self) -> None:
        """Delete the empty objects that a client leaves for an empty prefix."""
        with suppress(FileNotFoundError):
            self._attempt(lambda bucket: bucket.drop_markers(self.key))

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Delete the object if it exists.

        A missing one is never an error: a repeated request finds the object deleted.
        """
        del missing_ok
        with suppress(FileNotFoundError):
            self._attempt(lambda bucket: bucket.delete(self.key))

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Do nothing: buckets have no directories."""

    def _named(self) -> str:
        """Return the URL that the user gave, without options."""
        key = self.named if self.key.startswith(self.named) else self.key
        return f"{self.service}/{key}".rstrip("/")

    def _as_infos(self, entries: list[Entry]) -> list[ObjectInfo]:
        under = f"{self.key}/" if self.key else ""
        infos = [
            ObjectInfo(self / entry.key.removeprefix(under), entry.size, entry.modified_at)
            for entry in entries
        ]
        return sorted(infos, key=lambda info: info.path)

    def _attempt(self, act: "Callable[[Bucket], _Got]") -> _Got:
        """Do something, with retries unless the failure is final.

        One try takes up to nine seconds if the service is busy or unreachable: clients retry, too.
        """
        for pause_s in (*_PAUSES_S, None):
            try:
                return act(open_bucket(self.service, self.options))
            except FileNotFoundError:
                raise
            # ValueError: Google's client closes a file that it cannot read.
            except (OSError, ValueError) as error:
                if is_gone(str(error)):
                    raise FileNotFoundError(self.key) from error
                if pause_s is None or is_final(str(error)):
                    raise as_unreachable_error(self._named(), str(error)) from error
                time.sleep(pause_s * random.uniform(0.5, 1.5))  # noqa: S311 - spreads the retries
        raise AssertionError("the last try returns or raises")


Location = Path | ObjectPath
"""Both types have the methods that Destage uses."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_address(text: str) -> bool:
    """Return whether a text is a URL rather than a path."""
    return _URL.match(text) is not None


def locate(text: str | Location) -> Location:
    """Return the location that a text means.

    Args:
        text: A path, or a URL as in `s3://bucket/prefix`.

    Raises:
        StoreError: It is a URL, but not of a bucket.
    """
    if isinstance(text, str) and is_address(text):
        return ObjectPath.parse(text)
    return Path(text) if isinstance(text, str) else text


_DEFAULTS = (
    ("s3:", "allow_delayed_open=true"),  # one PutObject instead of the three requests of a multipart upload
    ("gs:", "retry_limit_seconds=10"),  # instead of 15 minutes
    ("gcs:", "retry_limit_seconds=10"),
)


@lru_cache(maxsize=16)
def open_bucket(service: str, options: str) -> Bucket:
    """Return a bucket's client; cached.

    Raises:
        StoreError: The URL has a bad option, or the client lacks credentials.
        OSError: The service does not return the bucket's region.
    """
    # Clients cost 0.1 s, and most stores are folders.
    from destage.objects.arrow_bucket import open_filesystem  # noqa: PLC0415
    from destage.objects.azure_bucket import open_container  # noqa: PLC0415

    for scheme, option in _DEFAULTS:
        if service.startswith(scheme) and option.partition("=")[0] not in options:
            options = "&".join(filter(None, [options, option]))
    try:
        return (open_container if service.startswith("abfs") else open_filesystem)(service, options)
    except ValueError as error:
        message = f"cannot be opened: {extract_reason(str(error))}"
        raise StoreError("bucket.bad-url", message, service) from error
