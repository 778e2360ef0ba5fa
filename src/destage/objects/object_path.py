"""Objects in a bucket, named and used as files are: `s3://`, `gs://` and `abfs://`, through pyarrow.

An object is written whole by one PUT, so it is there or it is not. On Azure pyarrow writes an empty one
first: for a moment, or after a kill, there is nothing in it. There are no directories: a prefix is there as
soon as an object under it is. Lists follow writes at once on all three services, which the lease relies on
(https://aws.amazon.com/s3/consistency/).
"""

import mimetypes
import random
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Self, TypeVar
from urllib.parse import parse_qsl, urlsplit

from destage.errors import StoreError
from destage.objects.failures import as_unreachable_error, is_final
from destage.objects.service import open_bucket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyarrow import NativeFile
    from pyarrow.fs import FileInfo, FileSystem

SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss")
_PAUSES_S = (1.0, 4.0)
"""How long to wait before each further try of a request that failed [s], give or take a half."""
_SETTLING, _SETTLING_S = 4, 0.5
"""How often, and after how long, what is empty on Azure is read again: whoever writes it may be about to."""
_PIECE = 16 << 20
"""How much of an object is read by one request, where it is read piece by piece [bytes]."""
_SECRETS = {"access_key", "secret_key", "session_token", "account_key", "client_secret", "sas_token", "sig"}
"""Names of a URL's options that would carry credentials."""
_Got = TypeVar("_Got")


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """An object as a list tells of it.

    Attributes:
        path: The object.
        size: Its size [bytes].
        modified_at: When it was last written, by the service's clock.
    """

    path: "ObjectPath"
    size: int
    modified_at: datetime


@dataclass(frozen=True, slots=True)
class Version:
    """What tells what an object holds from what it held before, and will hold.

    Attributes:
        tag: The service's tag of it (ETag); of Google's objects the time when it was written [ns].
        size: Its size [bytes].
    """

    tag: str
    size: int


@dataclass(frozen=True, slots=True, order=True)
class ObjectPath:
    """An object, or the prefix of some, with the part of `pathlib.Path` that Destage uses.

    Attributes:
        service: Scheme and bucket, as in `s3://bucket`.
        options: The URL's query: how the service is reached.
        key: The object's key in the bucket.
        named: The key of what a user named, and this lies under: what is wrong is said of that.
    """

    service: str
    options: str
    key: str
    named: str = field(default="", compare=False, repr=False)

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
            message = f"unknown scheme; use a path or one of {', '.join(f'{s}://' for s in SCHEMES)}"
            raise StoreError("bucket.unknown-scheme", message, f"{parts.scheme}://")
        user, is_azure = parts.username, parts.scheme.startswith("abfs")
        is_known = user is None or is_azure or (parts.scheme.startswith("g") and user == "anonymous")
        asked = {name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
        if parts.password is not None or not is_known or asked & _SECRETS:
            message = "URLs must not hold credentials; set them in the environment, as in AWS_ACCESS_KEY_ID"
            raise StoreError("bucket.credentials-in-url", message, f"{parts.scheme}://")
        if not parts.netloc or parts.fragment:
            raise StoreError("bucket.bad-url", f"no bucket; write it as {parts.scheme}://bucket/prefix", url)
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
        """What the name ends in, from its last dot on."""
        return PurePosixPath(self.key).suffix

    @property
    def parent(self) -> "ObjectPath":
        """The prefix that this lies under."""
        head, _, _ = self.key.rpartition("/")
        return ObjectPath(self.service, self.options, head, self.named)

    def absolute(self) -> "ObjectPath":
        """Return the object itself: it is not relative to anything."""
        return self

    def is_file(self) -> bool:
        """Return whether the object is there."""
        return self.modified_at() is not None

    def exists(self) -> bool:
        """Return whether the object is there, or any under it."""
        there: bool = self._info().type.name != "NotFound"
        return there

    def modified_at(self) -> float | None:
        """Return when the object was last written [s since 1970], or None where it is not there."""
        info = self._info()
        return info.mtime.timestamp() if info.is_file else None

    def read_version(self) -> Version:
        """Return which content the object has now.

        Raises:
            FileNotFoundError: It is not there.
            StoreError: The service does not tell.
        """

        def look(filesystem: "FileSystem", place: str) -> Version:
            if self.service.startswith("g"):  # Google's client begins to read all that it opens
                info = filesystem.get_file_info(place)
                if not info.is_file:
                    raise FileNotFoundError(place)
                return Version(str(info.mtime_ns), info.size)
            with filesystem.open_input_file(place) as file:
                told = {name.lower(): value.decode() for name, value in file.metadata().items()}
                return Version(told["etag"], file.size())

        return self._attempt(look)

    def read_pieces(self, version: Version) -> "Iterator[bytes]":
        """Yield what the object holds piece by piece, each tried again as often as a whole object.

        Raises:
            FileNotFoundError: It is not there.
            StoreError: The service does not give it, or it holds something else by now.
        """
        file: NativeFile | None = None

        def get(filesystem: "FileSystem", place: str) -> bytes:
            nonlocal file
            try:
                if file is None:
                    file = filesystem.open_input_file(place)
                    if done:
                        file.seek(done)
                data: bytes = file.read(wanted)
            except (OSError, ValueError):
                file = None
                raise
            if len(data) != wanted:
                file = None
                raise OSError(f"{len(data)} of {wanted} bytes came")
            return data

        for done in range(0, version.size, _PIECE):
            wanted = min(_PIECE, version.size - done)
            yield self._attempt(get)
        # What is the same before the first request and after the last was the same at all of them.
        if self.read_version() != version:
            raise StoreError("bucket.changed-while-read", "rewritten while it was read; try again", str(self))

    def list_objects(self) -> list[ObjectInfo]:
        """Return the objects right under this, in the order of their names."""
        return [
            ObjectInfo(self / info.base_name, info.size, info.mtime)
            for info in self._children()
            if info.is_file
        ]

    def list_below(self) -> list[ObjectInfo]:
        """Return all objects under this, in the order of their keys."""
        from pyarrow.fs import FileSelector  # noqa: PLC0415 - as in `open_bucket`

        def look(filesystem: "FileSystem", place: str) -> list[ObjectInfo]:
            found = filesystem.get_file_info(FileSelector(place, allow_not_found=True, recursive=True))
            return [
                ObjectInfo(self / info.path.removeprefix(f"{place}/"), info.size, info.mtime)
                for info in found
                if info.is_file
            ]

        return sorted(self._attempt(look), key=lambda each: each.path)

    def list_prefixes(self) -> list["ObjectPath"]:
        """Return the prefixes right under this, in the order of their names."""
        if self.service.startswith("g"):  # pyarrow tells of Google's objects only
            start = f"{self.key}/" if self.key else ""
            names = {each.path.key.removeprefix(start).partition("/") for each in self.list_below()}
            return [self / name for name in sorted({name for name, slash, _ in names if slash})]
        return [self / info.base_name for info in self._children() if not info.is_file]

    def read_bytes(self) -> bytes:
        """Return what the object holds.

        Raises:
            FileNotFoundError: It is not there.
            StoreError: The service does not give it.
        """

        def get(filesystem: "FileSystem", place: str) -> bytes:
            # A stream would ask for 256 KiB at a time; this asks for all at once.
            with filesystem.open_input_file(place) as file:
                data: bytes = file.read()
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
            raise as_unreachable_error(self._named(), str(error)) from error

    def write_text(self, text: str, encoding: str = "utf-8") -> None:
        """Write the object whole, as `write_bytes`."""
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

        Raises:
            StoreError: The service does not delete it.
        """
        del missing_ok
        with suppress(FileNotFoundError):
            self._attempt(lambda filesystem, place: filesystem.delete_file(place))

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Do nothing: a prefix is there as soon as an object under it is."""

    def _named(self) -> str:
        """Return what a user named, without its options: this itself, or what it lies under."""
        key = self.named if self.key.startswith(self.named) else self.key
        return f"{self.service}/{key}".rstrip("/")

    def _info(self) -> "FileInfo":
        return self._attempt(lambda filesystem, place: filesystem.get_file_info(place))

    def _children(self) -> list["FileInfo"]:
        from pyarrow.fs import FileSelector  # noqa: PLC0415 - as in `open_bucket`

        found: list[FileInfo] = self._attempt(
            lambda filesystem, place: filesystem.get_file_info(FileSelector(place, allow_not_found=True))
        )
        return sorted(found, key=lambda info: info.base_name)

    def _attempt(self, act: "Callable[[FileSystem, str], _Got]") -> _Got:
        """Do something, again and again while the service may yet do it.

        One try takes up to some nine seconds where the service is busy or does not answer: pyarrow's clients
        try many times themselves.
        """
        from pyarrow import ArrowException  # noqa: PLC0415 - as in `open_bucket`

        for pause_s in (*_PAUSES_S, None):
            try:
                filesystem, base = open_bucket(self.service, self.options)
                return act(filesystem, f"{base}/{self.key}".rstrip("/"))
            except FileNotFoundError:
                raise
            # Google's client closes a file that it cannot read; what Azure's library raises without
            # credentials pyarrow does not know.
            except (OSError, ValueError, ArrowException) as error:
                if pause_s is None or is_final(str(error)):
                    raise as_unreachable_error(self._named(), str(error)) from error
                time.sleep(pause_s * random.uniform(0.5, 1.5))  # noqa: S311 - so that not all come back at once
        raise AssertionError("the last try returns or raises")
