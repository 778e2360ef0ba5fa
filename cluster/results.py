"""A sweep's results on the cluster: how far they are, a copy of them here, and SQL where they lie."""

import io
import json
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from destage.cluster.archive import sizes_of
from destage.errors import ClusterError, StoreError
from destage.store.durable import write_durably
from destage.store.fragments import inspect_fragment
from destage.store.layout import SweepLayout
from destage.store.lease import hold_lease

_PORTION = 64 * 2**20
"""How much is fetched at a time, about [bytes]."""
_MOST_PATHS = 1000
"""How many files are named in one command."""


class CommandRunner(Protocol):
    """Whoever runs commands beside the results."""

    @property
    def store(self) -> str:
        """The store, as `--store` takes it there."""

    def ask(self, *command: str) -> bytes:
        """Run a command that must succeed, and return what it printed."""


@dataclass(frozen=True, slots=True)
class Remote:
    """One sweep's results on the cluster.

    Attributes:
        name: Its directory in the store.
        status: How far it is, as `destage status --json` says there.
    """

    name: str
    status: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch brought.

    Attributes:
        path: The sweep's directory here.
        files: Files fetched.
        size: What they hold [bytes].
        kept: Files that were here already.
    """

    path: Path
    files: int
    size: int
    kept: int


def find_results(asks: CommandRunner, sweep: str) -> Remote:
    """Return how far a sweep's results are.

    Args:
        asks: Runs commands beside the results.
        sweep: The sweep's directory in the store; empty where nobody noted it, and the store has one only.

    Raises:
        ClusterError: There are none yet, or several and none was named.
    """
    text = asks.ask("destage", "status", "--store", asks.store, "--json")
    found: dict[str, dict[str, Any]] = json.loads(text)
    names = [name for name in found if sweep in ("", name)]
    if len(names) == 1:
        return Remote(names[0], found[names[0]])
    if names:
        raise ClusterError(f"the store holds {len(names)} sweeps: {', '.join(names)}; say which with --sweep")
    raise ClusterError(
        f"there are no results yet of {sweep or 'this sweep'}: its plan is written when its head has started"
    )


def fetch(
    asks: CommandRunner, name: str, store: Path, progress: Callable[[int, int], None] | None = None
) -> Fetched:
    """Copy a sweep's results here; files that are here already are not fetched again.

    Committed fragments never change, so one of the same size is the same; what a writer rewrites (plan,
    manifest, answers) is fetched each time. A fetch that broke off goes on where it did.

    Args:
        asks: Runs commands beside the results.
        name: The sweep's directory in the store.
        store: The store here.
        progress: Called with bytes fetched and bytes to fetch.

    Raises:
        ClusterError: The pod cannot be asked, or gave other than it listed.
        StoreError: The store here cannot be written, or is being written.
    """
    root = store / "sweeps" / name
    layout = SweepLayout(root)
    packing = ("destage", "cluster", "pack", name, "--store", asks.store)
    sizes = dict(_of_readers(sizes_of(asks.ask(*packing, "--list").decode())))
    is_finished = sizes.pop("finished", None) is not None
    wanted = {path: size for path, size in sizes.items() if not _is_here(root, path, size)}
    total, done = sum(wanted.values()), 0
    with hold_lease(layout.lease):
        layout.make()
        for portion in _portions(wanted):
            _unpack(asks.ask(*packing, "--", *portion), portion, root)
            done += sum(wanted[path] for path in portion)
            if progress is not None:
                progress(done, total)
        if is_finished:
            layout.finished.touch()
        else:
            layout.finished.unlink(missing_ok=True)
    return Fetched(root, len(wanted), total, len(sizes) - len(wanted))


def query(asks: CommandRunner, name: str, statement: str, form: str) -> bytes:
    """Ask a sweep's rows in SQL, on the cluster; only the answer travels.

    Args:
        asks: Runs commands beside the results.
        name: The sweep's directory in the store.
        statement: One SELECT or EXPLAIN.
        form: How the rows are written.

    Raises:
        ClusterError: The statement is refused; the message says why.
    """
    return asks.ask("destage", "sql", name, statement, "--store", asks.store, "--format", form)


def _of_readers(files: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield the files that a reader needs: not what is half written, put aside, or the writer's own."""
    for path, size in files:
        parts = PurePosixPath(path).parts
        is_hidden = any(part.startswith(".") for part in parts)
        if not is_hidden and parts[0] not in ("quarantine", "lease"):
            yield path, size


def _is_here(root: Path, path: str, size: int) -> bool:
    here = root / path
    return path.startswith("fragments/") and here.is_file() and here.stat().st_size == size


def _portions(sizes: dict[str, int]) -> Iterator[list[str]]:
    portion: list[str] = []
    weight = 0
    for path, size in sizes.items():
        if portion and (weight + size > _PORTION or len(portion) == _MOST_PATHS):
            yield portion
            portion, weight = [], 0
        portion.append(path)
        weight += size
    if portion:
        yield portion


def _check(fragment: Path) -> None:
    """Look whether a fragment came whole; one that did not is not kept, or it would pass for fetched."""
    try:
        inspect_fragment(fragment, fragment.stat().st_size)
    except StoreError:
        fragment.unlink()
        raise


def _unpack(data: bytes, portion: list[str], root: Path) -> None:
    """Write what a tar holds, which is what was asked for and nothing else."""
    left = set(portion)
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                content = archive.extractfile(member)
                if member.name not in left or content is None:
                    raise ClusterError(f"the pod sent {member.name}, which nobody asked for")
                left.discard(member.name)
                place = root / member.name
                place.parent.mkdir(parents=True, exist_ok=True)
                write_durably(place, content.read())
                if member.name.startswith("fragments/"):
                    _check(place)
    except tarfile.TarError as error:
        raise ClusterError(
            f"what the pod sent is torn ({error}); the same command goes on from there"
        ) from error
    if left:
        raise ClusterError(f"the pod did not send {min(left)}")
