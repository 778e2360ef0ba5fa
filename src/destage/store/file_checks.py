"""Check of all files of a sweep against the digests of what was written."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

from destage.errors import Issue, StoreError
from destage.objects import Location
from destage.store.digests import is_intact
from destage.store.fragments import NotAFragmentError, inspect_fragment
from destage.store.generations import read_head
from destage.store.head import Head
from destage.store.layout import SweepLayout
from destage.store.location import list_sizes
from destage.store.parallel import map_places


@dataclass(frozen=True, slots=True)
class FileCheck:
    """The result of a check.

    Attributes:
        files: The number of files that were read.
        problems: What is wrong, each with its file.
    """

    files: int
    problems: tuple[Issue, ...]


def check_sweep(layout: SweepLayout, progress: Callable[[int, int], None] | None = None) -> FileCheck:
    """Read a sweep's head, and compare all files that belong to the sweep with their digests."""
    try:
        head = read_head(layout)
    except StoreError as error:
        return FileCheck(1, error.issues)
    return check_files(layout, head, progress) if head is not None else FileCheck(0, ())


def check_files(
    layout: SweepLayout, head: Head, progress: Callable[[int, int], None] | None = None
) -> FileCheck:
    """Compare the head's files and all fragments with their digests.

    Args:
        progress: Called with the numbers of files read and to read.
    """
    named = [layout.generations / name for name in sorted(head.files)]
    fragments = [path for path, _ in list_sizes(layout.fragments) if not path.name.startswith(".")]
    problems = []
    total = len(named) + len(fragments)
    found = chain(map_places(_check_named, named), map_places(_check_fragment, fragments))
    for number, issue in enumerate(found, start=1):
        if issue is not None:
            problems.append(issue)
        if progress is not None:
            progress(number, total)
    return FileCheck(total, tuple(problems))


def _check_named(place: Location) -> Issue | None:
    try:
        if is_intact(place):
            return None
    except FileNotFoundError:
        return Issue("store.lost-file", str(place), "does not exist, although the head names it")
    return Issue("store.damaged-file", str(place), "damaged: its content is not what was written")


def _check_fragment(place: Location) -> Issue | None:
    try:
        inspect_fragment(place, 0)
    except NotAFragmentError as error:
        return Issue(error.code, str(place), error.message)
    return None
