"""Where things lie in a store: one directory `<store>/sweeps/<name>-<id>/` per sweep."""

import os
from dataclasses import dataclass
from pathlib import Path

from destage.errors import StoreError
from destage.store.durable import sync_directory


@dataclass(frozen=True, slots=True)
class SweepLayout:
    """The paths of one sweep's directory.

    Attributes:
        root: The sweep's directory.
    """

    root: Path

    @property
    def spec(self) -> Path:
        """The study as it was run."""
        return self.root / "spec.yaml"

    @property
    def lease(self) -> Path:
        """The file whose lock the one writer holds."""
        return self.root / "lease"

    @property
    def fragments(self) -> Path:
        """The directory of committed result rows."""
        return self.root / "fragments"

    @property
    def quarantine(self) -> Path:
        """The directory of files that were found among the fragments and are none."""
        return self.root / "quarantine"

    @property
    def manifest(self) -> Path:
        """The index of the fragments whose footers were validated."""
        return self.root / "manifest" / "index.jsonl"

    @property
    def answers(self) -> Path:
        """One row per point: what the seek found."""
        return self.root / "answers" / "answers.parquet"

    @property
    def certificates(self) -> Path:
        """One row per point and replicate: the two runs that prove an answer."""
        return self.root / "answers" / "certificates.parquet"

    @property
    def finished(self) -> Path:
        """The mark that the plan was carried out to its end."""
        return self.root / "finished"

    def plan(self, number: int) -> Path:
        """Return the path of one planning round's table.

        Args:
            number: The round; 0 is the plan made before anything ran.
        """
        return self.root / ("plan.parquet" if number == 0 else f"plan-{number}.parquet")

    def make(self) -> None:
        """Create the directories that a writer needs, and force their entries to disk."""
        for directory in (self.fragments, self.manifest.parent, self.answers.parent):
            directory.mkdir(parents=True, exist_ok=True)
        # The sweep's own entry as well: what is forced to disk in it must not become unreachable.
        for directory in (self.root, *self.root.absolute().parents[:2]):
            sync_directory(directory)


def default_store() -> Path:
    """Return the store used when none is named: `DESTAGE_STORE`, else `destage-store` beside the caller."""
    return Path(os.environ.get("DESTAGE_STORE") or "destage-store")


def list_sweeps(store: Path | None = None) -> list[Path]:
    """Return the directories of all sweeps of a store, newest last.

    Args:
        store: The store; by default `default_store()`.
    """
    root = (store if store is not None else default_store()) / "sweeps"
    if not root.is_dir():
        return []
    found = [path for path in root.iterdir() if SweepLayout(path).spec.is_file()]
    return sorted(found, key=lambda path: (SweepLayout(path).spec.stat().st_mtime_ns, path.name))


def find_sweep(text: str | Path, store: Path | None = None) -> Path:
    """Return the directory of the sweep that a user means.

    Args:
        text: A sweep's directory, its full name `<name>-<id>`, its study's name, or the beginning of one.
        store: The store to look in; by default `default_store()`.

    Raises:
        StoreError: No sweep, or more than one, answers to the text.
    """
    if SweepLayout(Path(text)).spec.is_file():
        return Path(text)
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
            raise StoreError(f"{wanted!r} names {len(matches)} sweeps: {names}; say which")
    known = ", ".join(path.name for path in sweeps) or "none yet"
    root = store if store is not None else default_store()
    raise StoreError(f"no sweep {wanted!r} in the store {root}; there are: {known}")
