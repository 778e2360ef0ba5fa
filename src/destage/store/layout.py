"""The layout of a store: one directory `<store>/sweeps/<name>-<id>/` per sweep."""

import os
from dataclasses import dataclass

from destage.errors import StoreError
from destage.objects import Location, ObjectPath, locate
from destage.store.durable import sync_directory
from destage.store.location import find_modified_time


@dataclass(frozen=True, slots=True)
class SweepLayout:
    """The paths of one sweep's directory."""

    root: Location

    @property
    def spec(self) -> Location:
        """The study as it was run."""
        return self.root / "spec.yaml"

    @property
    def lease(self) -> Location:
        """The file that the writer locks, or the prefix of the lease objects."""
        return self.root / "lease"

    @property
    def fragments(self) -> Location:
        """The directory of committed result rows."""
        return self.root / "fragments"

    @property
    def quarantine(self) -> Location:
        """The directory of files removed from the fragments because they are damaged or foreign."""
        return self.root / "quarantine"

    @property
    def manifest(self) -> Location:
        """The directory of the index of validated fragments."""
        return self.root / "manifest"

    @property
    def answers(self) -> Location:
        """The answers of the seek, one row per point."""
        return self.root / "answers" / "answers.parquet"

    @property
    def certificates(self) -> Location:
        """One row per point and replicate: the two runs that prove an answer."""
        return self.root / "answers" / "certificates.parquet"

    @property
    def finished(self) -> Location:
        """The marker that all planned runs were executed."""
        return self.root / "finished"

    @property
    def progress(self) -> Location:
        """Recorded progress of the sweep."""
        return self.root / "progress.json"

    def plan(self, number: int) -> Location:
        """Return the path of one planning round's table.

        Args:
            number: The round; 0 is the plan made before the first run.
        """
        return self.root / ("plan.parquet" if number == 0 else f"plan-{number}.parquet")

    def make(self) -> None:
        """Create the directories that a writer needs, and sync their entries."""
        if isinstance(self.root, ObjectPath):
            return  # a bucket has none
        for directory in (self.fragments, self.manifest, self.answers.parent):
            directory.mkdir(parents=True, exist_ok=True)
        # Its parents too: synced files must stay reachable after a power cut.
        for directory in (self.root, *self.root.absolute().parents[:2]):
            sync_directory(directory)


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
    changed = {folder: find_modified_time(SweepLayout(folder).spec) for folder in folders}
    found = [folder for folder, at in changed.items() if at is not None]
    return sorted(found, key=lambda folder: (changed[folder] or 0.0, folder.name))


def find_sweep(text: str | Location, store: Location | None = None) -> Location:
    """Return the directory of a sweep given by path, URL, name or prefix.

    Args:
        text: A sweep's directory or URL, its name `<name>-<id>`, its study's name, or a prefix of its name.
        store: The store to look in; by default `default_store()`.
    """
    place = locate(text)
    if SweepLayout(place).spec.is_file():
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
    known = ", ".join(path.name for path in sweeps) or "none yet"
    root = store if store is not None else default_store()
    raise StoreError("store.unknown-sweep", f"not in the store {root}; sweeps there: {known}", str(wanted))
