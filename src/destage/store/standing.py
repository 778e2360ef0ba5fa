"""How far a sweep is, noted beside its rows by the one that writes it.

Counting the rows of a million runs takes minutes, and whoever watches a sweep asks every few seconds. The
rows stay the truth: the note of a writer that is gone holds only where the fragments are still the same.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass

from destage.errors import StoreError
from destage.store.durable import write_durably
from destage.store.layout import SweepLayout
from destage.store.location import sizes_in


@dataclass(frozen=True, slots=True)
class Counts:
    """How far a sweep is.

    Attributes:
        planned: Runs planned so far.
        present: Planned runs that are there.
        failed: Planned runs whose row says failed.
        rounds: Planning rounds so far.
    """

    planned: int
    present: int
    failed: int
    rounds: int


@dataclass(frozen=True, slots=True)
class Standing(Counts):
    """How far a sweep is, as its writer notes it.

    Attributes:
        fragments: How many fragments there were when the writer ended; None while it writes.
        size: What they held together [bytes]; None while it writes.
    """

    fragments: int | None = None
    size: int | None = None

    def is_of(self, layout: SweepLayout) -> bool:
        """Return whether a sweep still has the fragments that this was made of.

        Args:
            layout: The sweep's directory.
        """
        return (self.fragments, self.size) == fragments_of(layout)


def fragments_of(layout: SweepLayout) -> tuple[int, int]:
    """Return how many fragments a sweep has, and what they hold together [bytes].

    Args:
        layout: The sweep's directory.
    """
    sizes = [
        size
        for path, size in sizes_in(layout.fragments)
        if path.suffix == ".parquet" and not path.name.startswith(".")
    ]
    return len(sizes), sum(sizes)


def note_standing(layout: SweepLayout, standing: Standing) -> None:
    """Note how far a sweep is; where that cannot be written now, the next note may.

    Args:
        layout: The sweep's directory. The caller holds the lease.
        standing: How far it is.
    """
    with suppress(StoreError):
        write_durably(layout.standing, json.dumps(asdict(standing)).encode())


def read_standing(layout: SweepLayout) -> Standing | None:
    """Return what was noted last, or None where nothing was.

    Args:
        layout: The sweep's directory.
    """
    try:
        return Standing(**json.loads(layout.standing.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
