"""What Destage does in a bucket, whichever client does it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, Self


@dataclass(frozen=True, slots=True)
class Entry:
    """An object that was listed or found.

    Attributes:
        size: Its size [bytes].
        modified_at: Time of its last write, by the service's clock.
    """

    key: str
    size: int
    modified_at: datetime


@dataclass(frozen=True, slots=True)
class Version:
    """What identifies one content of an object.

    Attributes:
        tag: The ETag; for Google the time of the write [ns].
        size: Its size [bytes].
    """

    tag: str
    size: int


class OpenObject(Protocol):
    """An object that is read."""

    def size(self) -> int:
        """Return its size [bytes]."""

    def seek(self, position: int, /) -> int:
        """Continue at a position."""

    def read(self, length: int | None = None, /) -> bytes:
        """Read a number of bytes, or all."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class Bucket(Protocol):
    """A client of one bucket; keys are whole.

    A missing object is a FileNotFoundError. Any other failure is an OSError or ValueError
    with a text that `failures` knows.
    """

    def find(self, key: str) -> Entry | None:
        """Return an object, if it exists."""

    def has_any(self, key: str) -> bool:
        """Return whether the object exists, or any under it."""

    def read_version(self, key: str) -> Version:
        """Return the version of an object's content."""

    def open(self, key: str) -> OpenObject:
        """Open an object."""

    def write(self, key: str, data: bytes, content_type: str | None) -> None:
        """Write an object, replacing an existing one."""

    def delete(self, key: str) -> None:
        """Delete an object."""

    def list_objects(self, key: str) -> list[Entry]:
        """Return the objects directly under a prefix."""

    def list_prefixes(self, key: str) -> list[str]:
        """Return the names of the prefixes directly under a prefix."""

    def list_below(self, key: str) -> list[Entry]:
        """Return all objects under a prefix."""

    def drop_markers(self, key: str) -> None:
        """Delete the empty objects that the client leaves for an empty prefix."""
