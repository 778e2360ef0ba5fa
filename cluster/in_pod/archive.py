"""A sweep's files as a list and as a tar archive: the protocol between the reader and `fetch`."""

import io
import tarfile
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from destage.errors import ClusterError
from destage.objects import Location
from destage.store.files.parallel import map_places
from destage.store.files.store_location import list_tree

_MOST_DIGITS = 18


def format_file_list(sweep: Location) -> Iterator[str]:
    """Yield a line for each file of a sweep: its size [bytes] and its path in the sweep."""
    for path, size in list_tree(sweep):
        yield f"{size} {path}\n"


def parse_file_list(data: bytes) -> Iterator[tuple[str, int]]:
    """Yield the paths and sizes [bytes] of a file list; the paths are as another machine states them.

    Raises:
        ClusterError: It is not a file list.
    """
    for number, line in enumerate(data.decode(errors="replace").split("\n")[:-1], start=1):
        size, _, path = line.partition(" ")
        if not (size.isdecimal() and size.isascii() and len(size) <= _MOST_DIGITS and path):
            message = "must be the size and the path of a file"
            raise ClusterError("cluster.unexpected-answer", message, f"line {number} of the list of files")
        yield path, int(size)


def read_archive(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the regular files in a tar archive.

    Raises:
        ClusterError: Something else is in it, such as a link or a file with holes.
        tarfile.TarError: It is not an archive, or it is truncated.
    """
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() and not member.issparse() else None
            if content is None:
                message = "the pod sent a link, a directory or a file with holes"
                raise ClusterError("cluster.unexpected-file", message, member.name)
            yield member.name, content.read()


def write_archive(sweep: Location, paths: Sequence[str], out: BinaryIO) -> None:
    """Write files of a sweep as a tar archive to a stream, which need not be seekable."""
    contents = map_places(_read, [sweep / path for path in paths])
    with tarfile.open(fileobj=out, mode="w|") as archive:
        for path, data in zip(paths, contents, strict=True):
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def _read(path: Location) -> bytes:
    return path.read_bytes()
