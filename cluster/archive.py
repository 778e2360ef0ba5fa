"""A sweep's files as a list and as a tar archive: the protocol between the reader and `fetch`."""

import io
import tarfile
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from destage.objects import Location
from destage.store.location import list_tree
from destage.store.parallel import map_places


def format_file_list(sweep: Location) -> Iterator[str]:
    """Yield a line for each file of a sweep: its size [bytes] and its path in the sweep."""
    for path, size in list_tree(sweep):
        yield f"{size} {path}\n"


def parse_file_list(text: str) -> Iterator[tuple[str, int]]:
    """Yield the paths and sizes [bytes] of a file list."""
    for line in text.splitlines():
        size, _, path = line.partition(" ")
        yield path, int(size)


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
