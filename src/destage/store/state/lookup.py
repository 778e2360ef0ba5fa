"""The sweeps of a store, by path, URL, name or prefix, and the head that readers of one take."""

import os
from dataclasses import dataclass

from destage.errors import Issue, StoreError
from destage.objects import Location, ObjectPath, locate
from destage.spec.near_names import suggest_names
from destage.store.files.digests import damaged
from destage.store.files.layout import SweepLayout, find_modified_time
from destage.store.state.head import DAMAGE, Head, find_head, list_heads
from destage.store.state.restoration import restore_head

_MOST_LISTED = 3
"""Sweeps that a message lists; of more, only the nearest."""


def default_store() -> Location:
    """Return the default store: `DESTAGE_STORE`, else `destage-store` in the current directory."""
    return locate(os.environ.get("DESTAGE_STORE") or "destage-store")


def list_sweeps(store: Location | None = None) -> list[Location]:
    """Return the directories of all sweeps of a store, newest last."""
    root = (store if store is not None else default_store()) / "sweeps"
    folders: list[Location] = []
    if isinstance(root, ObjectPath):
        folders += root.list_prefixes()
    elif root.is_dir():
        folders += root.iterdir()
    heads = {folder: list_heads(SweepLayout(folder)) for folder in folders}
    changed = {folder: find_modified_time(names[-1]) for folder, names in heads.items() if names}
    return sorted(changed, key=lambda folder: (changed[folder] or 0.0, folder.name))


def find_sweep(text: str | Location, store: Location | None = None) -> Location:
    """Return the directory of a sweep given by path, URL, name or prefix.

    Args:
        text: A sweep's directory or URL, its name `<name>-<id>`, its study's name, or a prefix of its name.
        store: The store to look in; by default `default_store()`.
    """
    place = locate(text)
    if list_heads(SweepLayout(place)):
        return place
    sweeps = list_sweeps(store)
    wanted = str(text)
    for matches in (
        [path for path in sweeps if path.name == wanted],
        [path for path in sweeps if path.name.rpartition("-")[0] == wanted],
        [path for path in sweeps if path.name.startswith(wanted)],
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            names = ", ".join(path.name for path in matches)
            message = f"matches {len(matches)} sweeps: {names}; give more of the name"
            raise StoreError("store.ambiguous-sweep", message, str(wanted))
    root = store if store is not None else default_store()
    stored = [path.name for path in sweeps]
    if len(stored) <= _MOST_LISTED:
        hint = f"; sweeps there: {', '.join(stored) or 'none yet'}"
    else:
        hint = f"{suggest_names(wanted, stored)}; `destage status` lists all {len(stored)}"
    raise StoreError("store.unknown-sweep", f"not in the store {root}{hint}", str(wanted))


RESTORE = "`destage run SWEEP` restores it"
"""What an error or warning of a damaged file of a plan tells the user to do."""


@dataclass(frozen=True, slots=True)
class OpenHead:
    """The head that readers take.

    Attributes:
        generation: The name of its generation.
    """

    generation: str
    head: Head
    warnings: tuple[Issue, ...] = ()


def open_head(layout: SweepLayout) -> OpenHead | None:
    """Return the head that readers take, if the sweep has one; a damaged one is restored.

    Raises:
        StoreError: It is damaged and cannot be restored, or of another format.
    """
    heads: list[Location] = []
    try:
        named_head = find_head(layout)
        if named_head is not None:
            return OpenHead(*named_head)
        heads = list_heads(layout)
        if not heads or isinstance(layout.root, ObjectPath):
            return None  # an empty object is being written
        raise damaged(heads[-1])
    except StoreError as error:
        heads = heads or list_heads(layout)
        if error.code not in DAMAGE or not heads:
            raise
        generation = heads[-1].name[: len("000000-00000000")]
        try:
            head = restore_head(layout, generation)
        except StoreError as damage:
            raise error from damage
        if head is None:
            raise
    message = f"damaged: study, plan and rows are read without it; {RESTORE}"
    return OpenHead(generation, head, (Issue("store.head-restored", str(heads[-1]), message),))
