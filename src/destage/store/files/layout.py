"""The layout of a store: one directory `<store>/sweeps/<name>-<id>/` per sweep."""

from dataclasses import dataclass

from destage.objects import Location, ObjectPath
from destage.store.files.durable import sync_directory

README = "README.md"
EXPORTS = ("points.parquet", "runs.parquet", "answers.parquet", README)
"""The files that `destage admin export` writes for other programs; nothing reads them."""


@dataclass(frozen=True, slots=True)
class SweepLayout:
    """The paths of one sweep's directory."""

    root: Location

    @property
    def generations(self) -> Location:
        """The directory of studies, plans, answers and progress, by the generation that wrote them."""
        return self.root / "generations"

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
    def exports(self) -> tuple[Location, ...]:
        """The files for other programs, of which a sweep may have some or none."""
        return tuple(self.root / name for name in EXPORTS)

    def make(self) -> None:
        """Create the directories that a writer needs, and sync their entries."""
        if isinstance(self.root, ObjectPath):
            return  # a bucket has none
        for directory in (self.generations, self.fragments):
            directory.mkdir(parents=True, exist_ok=True)
        # Its parents too: synced files must stay reachable after a power cut.
        for directory in (self.root, *self.root.absolute().parents[:2]):
            sync_directory(directory)
