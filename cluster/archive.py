"""A sweep's files as a list and as a tar: what a pod beside the results gives to whoever fetches them."""

import io
import tarfile
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from destage.objects import Location
from destage.store.location import tree
from destage.store.parallel import mapped


def listing(sweep: Location) -> Iterator[str]:
    """Yield a line for each file of a sweep: its size [bytes] and its path in the sweep.

    Args:
        sweep: The sweep's directory, or its prefix in a bucket.
    """
    for path, size in tree(sweep):
        yield f"{size} {path}\n"


def sizes_of(text: str) -> Iterator[tuple[str, int]]:
    """Yield what a listing tells: paths and sizes [bytes].

    Args:
        text: The lines.
    """
    for line in text.splitlines():
        size, _, path = line.partition(" ")
        yield path, int(size)


def pack(sweep: Location, paths: Sequence[str], out: BinaryIO) -> None:
    """Write some files of a sweep as a tar.

    Args:
        sweep: The sweep's directory, or its prefix in a bucket.
        paths: The files, by their paths in the sweep.
        out: Where it goes; never sought in.

    Raises:
        StoreError: The store does not give one.
        FileNotFoundError: One is not there.
    """
    contents = mapped(_read, [sweep / path for path in paths])
    with tarfile.open(fileobj=out, mode="w|") as archive:
        for path, data in zip(paths, contents, strict=True):
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def _read(place: Location) -> bytes:
    return place.read_bytes()
