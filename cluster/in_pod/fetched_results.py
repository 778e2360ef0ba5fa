"""Results of a sweep on a cluster: its progress, SQL there, and a local copy.

The files of a copy pass between the reader and `fetch` as a list and as a tar archive.
"""

import io
import json
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Protocol

from destage.errors import ClusterError
from destage.objects import Location
from destage.store.files.digests import digest_of, find_digest, is_amount, is_count
from destage.store.files.durable import write_durably
from destage.store.files.layout import EXPORTS, SweepLayout, list_sizes, list_tree, map_places
from destage.store.files.regular_files import is_plain_name, is_plain_path
from destage.store.locks.lease import hold_lease

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
    contents = map_places(lambda place: place.read_bytes(), [sweep / path for path in paths])
    with tarfile.open(fileobj=out, mode="w|") as archive:
        for path, data in zip(paths, contents, strict=True):
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


_BATCH_BYTES = 64 * 2**20
"""Approximate size of one transfer."""
_BATCH_FILES = 1000
"""Most files in one transfer: their paths are arguments of a command."""


class CommandRunner(Protocol):
    """Runs commands where the results can be accessed."""

    @property
    def store(self) -> str:
        """The store, for `--store` of these commands."""

    def run(self, *command: str) -> bytes:
        """Run a command and return its standard output; raises ClusterError if it fails."""


@dataclass(frozen=True, slots=True)
class RemoteSweep:
    """A sweep in the store of the cluster.

    Attributes:
        status: Its progress, as printed by `destage status --json`.
    """

    name: str
    status: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FetchSummary:
    """The result of a fetch.

    Attributes:
        path: The local directory of the sweep.
        size: Their size [bytes].
        kept: Number of files that were already there.
        left_out: Paths that are not plain relative ones, so that they have no place in a folder.
    """

    path: Path
    files: int
    size: int
    kept: int
    left_out: tuple[str, ...] = ()


def find_results(runner: CommandRunner, sweep: str) -> RemoteSweep:
    """Return a sweep of the store with its progress; an empty name means the only sweep.

    Raises:
        ClusterError: There are no results yet, or several sweeps and no name.
    """
    statuses = _parse_status(runner.run("destage", "status", "--store", runner.store, "--json"))
    names = [name for name in statuses if sweep in ("", name)]
    if len(names) == 1:
        return RemoteSweep(names[0], _check_status(names[0], statuses[names[0]]))
    if names:
        message = f"the store has {len(names)} sweeps: {', '.join(names)}; select one with --sweep"
        raise ClusterError("cluster.sweep-ambiguous", message, runner.store, {"sweeps": names})
    message = "no results yet; the plan is written when the head has started"
    raise ClusterError("cluster.no-results", message, sweep or runner.store)


def fetch_results(
    runner: CommandRunner, name: str, store: Path, report: Callable[[int, int], None] | None = None
) -> FetchSummary:
    """Copy a sweep's results to a local store, except files that are already there.

    Files that carry the digest of their content in their name (fragments, plans, answers) never change. All
    others (heads, progress, manifest) are downloaded each time, heads last, so that a reader never sees a
    head without its files. An interrupted fetch continues where it stopped. `report` is called with the bytes
    downloaded and the bytes to download.

    The pod's list of files is not trusted: no file is written outside the sweep's directory.

    Raises:
        ClusterError: The name is not that of a sweep, or the pod sends something else than files.
    """
    if not _is_sweep_name(name):
        raise _unexpected("not the name of a sweep's directory", name)
    root = store / "sweeps" / name
    layout = SweepLayout(root)
    pack = ("destage", "cluster", "pack", name, "--store", runner.store)
    listed = dict(parse_file_list(runner.run(*pack, "--list")))
    placed = dict(_select_placed(listed))
    sizes = dict(_skip_writers_files(placed.items()))
    in_order = sorted(sizes, key=_is_head)
    missing = {path: sizes[path] for path in in_order if not _is_fetched(root, path, sizes[path])}
    total, done = sum(missing.values()), 0
    with hold_lease(layout.lease):
        layout.make()
        for batch in _split(missing):
            _unpack(runner.run(*pack, "--", *batch), batch, root)
            done += sum(missing[path] for path in batch)
            if report is not None:
                report(done, total)
        # A generation of this machine would hide those of the cluster, and exported files may lack rows.
        generations = [f"{layout.generations.name}/{file.name}" for file, _ in list_sizes(layout.generations)]
        for path in {*generations, *EXPORTS}.difference(sizes):
            (root / path).unlink(missing_ok=True)
    left_out = tuple(sorted(listed.keys() - placed.keys()))
    return FetchSummary(root, len(missing), total, len(sizes) - len(missing), left_out)


def query_results(runner: CommandRunner, name: str, statement: str, form: str) -> bytes:
    """Run SQL on a sweep's rows on the cluster and return the rows, `json` or in a format of `query`."""
    options = ("--json",) if form == "json" else ("--format", form)
    return runner.run("destage", "query", name, statement, "--store", runner.store, *options)


def _parse_status(data: bytes) -> dict[str, object]:
    """Return by sweep what `destage status --json` printed."""
    try:
        statuses = json.loads(data)
    except (ValueError, RecursionError):
        statuses = None
    if not isinstance(statuses, dict):
        raise _unexpected("not the output of `destage status --json`", "destage status")
    return statuses


def _check_status(name: str, status: object) -> dict[str, Any]:
    """Return the progress of a sweep whose name and counts are those of a sweep."""
    if not _is_sweep_name(name):
        raise _unexpected("not the name of a sweep's directory", name)
    if isinstance(status, dict) and isinstance(error := status.get("error"), str):
        raise ClusterError("cluster.sweep-unreadable", error, name)
    is_status = (
        isinstance(status, dict)
        and all(is_count(status.get(key)) for key in ("planned", "present", "failed", "rounds"))
        and isinstance(status.get("finished"), bool)
        and (status.get("writer") is None or isinstance(status["writer"], str))
        and (status.get("recorded_s") is None or is_amount(status["recorded_s"]))
    )
    if not isinstance(status, dict) or not is_status:
        raise _unexpected("not the progress of a sweep", name)
    return status


def _is_sweep_name(name: str) -> bool:
    return is_plain_name(name) and name[0] not in ".-"


def _unexpected(reason: str, place: str) -> ClusterError:
    return ClusterError("cluster.unexpected-answer", f"the pod answered with this; {reason}", place)


def _select_placed(sizes: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield the files that have a place in a folder: plain relative paths, none the folder of another.

    An object's key may be any text: it may have an empty component, or be that of a prefix.
    """
    folders = {str(parent) for path in sizes for parent in PurePosixPath(path).parents}
    for path, size in sizes.items():
        if is_plain_path(path) and path not in folders:
            yield path, size


def _skip_writers_files(files: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield the files that a reader needs, without temporary files, quarantine, lease and readers' copies."""
    for path, size in files:
        parts = PurePosixPath(path).parts
        is_hidden = any(part.startswith(".") for part in parts)
        if not is_hidden and parts[0] not in ("quarantine", "lease", "copies"):
            yield path, size


def _is_head(path: str) -> bool:
    return path.startswith("generations/") and path.endswith(".json")


def _is_fetched(root: Path, path: str, size: int) -> bool:
    local = root / path
    return find_digest(path) is not None and local.is_file() and local.stat().st_size == size


def _split(sizes: dict[str, int]) -> Iterator[list[str]]:
    """Yield the files in batches of limited size and number."""
    batch: list[str] = []
    batch_bytes = 0
    for path, size in sizes.items():
        if batch and (batch_bytes + size > _BATCH_BYTES or len(batch) == _BATCH_FILES):
            yield batch
            batch, batch_bytes = [], 0
        batch.append(path)
        batch_bytes += size
    if batch:
        yield batch


def _unpack(data: bytes, requested: list[str], root: Path) -> None:
    """Write the requested files of a tar archive; any other file in it is an error."""
    missing = set(requested)
    try:
        for path, content in read_archive(data):
            if path not in missing:
                message = "the pod sent a file that was not requested"
                raise ClusterError("cluster.unexpected-file", message, path)
            missing.discard(path)
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if find_digest(path) not in (None, digest_of(content)):
                message = "its content is not what was written; run the same command again"
                raise ClusterError("cluster.download-damaged", message, str(target))
            write_durably(target, content)
    except (tarfile.TarError, ValueError) as error:
        message = f"the download is truncated ({error}); run the same command again to continue"
        raise ClusterError("cluster.download-truncated", message, str(root)) from error
    if missing:
        message = "the download lacks this file; run the same command again to continue"
        raise ClusterError("cluster.download-truncated", message, min(missing))
