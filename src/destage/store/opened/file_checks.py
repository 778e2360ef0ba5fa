"""Check of all files of a sweep against the digests of what was written."""

from dataclasses import dataclass
from itertools import chain

from destage.errors import Issue, MachineError, StoreError
from destage.objects import Location
from destage.store.files.digests import is_intact
from destage.store.files.layout import SweepLayout, list_sizes, map_places
from destage.store.fragment_files.fragments import NotAFragmentError, open_fragment
from destage.store.state.head import Head
from destage.store.state.lookup import RESTORE, open_head
from destage.system_failures import find_shortage

_ATTEMPTS = 5
"""Maximum readings of a sweep whose head changes."""


@dataclass(frozen=True, slots=True)
class FileCheck:
    """The result of a check.

    Attributes:
        files: The number of files that were read.
        problems: What is wrong, each with its file.
    """

    files: int
    problems: tuple[Issue, ...]


def check_sweep(layout: SweepLayout) -> FileCheck:
    """Read a sweep's head, and compare all files that belong to the sweep with their digests.

    A head that has to be restored is a problem.

    The sweep may be written meanwhile: where its head has changed, the files of the later one are compared.
    """
    for _ in range(_ATTEMPTS):
        try:
            opened = open_head(layout)
            if opened is None:
                return FileCheck(0, ())
            compared = check_files(layout, opened.head)
            checked = FileCheck(compared.files, (*opened.warnings, *compared.problems))
            if not checked.problems or open_head(layout) == opened:
                return checked
        except MachineError:
            raise
        except StoreError as error:
            return FileCheck(1, error.issues)
    return checked


def check_files(layout: SweepLayout, head: Head) -> FileCheck:
    """Compare the head's files and all fragments with their digests."""
    named = [layout.generations / name for name in sorted(head.files)]
    fragments = [path for path, _ in list_sizes(layout.fragments) if not path.name.startswith(".")]
    issues = chain(map_places(_check_named, named), map_places(_check_fragment, fragments))
    return FileCheck(len(named) + len(fragments), tuple(issue for issue in issues if issue is not None))


def _check_named(place: Location) -> Issue | None:
    try:
        if is_intact(place):
            return None
    except FileNotFoundError:
        return Issue("store.lost-file", str(place), f"does not exist, although the head names it; {RESTORE}")
    except OSError as error:
        return _unreadable(place, error)
    return Issue("store.damaged-file", str(place), f"damaged: its content is not what was written; {RESTORE}")


def _check_fragment(place: Location) -> Issue | None:
    try:
        with open_fragment(place):
            return None
    except NotAFragmentError as error:
        return Issue(error.code, str(place), error.message)
    except FileNotFoundError:
        return None  # compacted or moved since it was listed
    except OSError as error:
        return _unreadable(place, error)


def _unreadable(place: Location, error: OSError) -> Issue:
    """Return a problem of a file.

    Raises:
        MachineError: It is one of this process.
    """
    if (shortage := find_shortage(error, str(place))) is not None:
        raise shortage from error
    return Issue("store.unreadable-file", str(place), f"cannot be read: {error.strerror or error}")
