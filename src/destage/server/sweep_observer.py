"""The progress of a sweep, observed from outside while any process writes it.

An error is one line that starts with its code.
"""

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from destage.errors import DestageError, Issue
from destage.objects import Location
from destage.store import open_sweep
from destage.store.files.layout import SweepLayout
from destage.store.locks.lease import find_writer
from destage.store.opened.recorded_progress import Status, measure_fragments, status
from destage.store.state.head import list_heads
from destage.system_failures import describe_system_error, find_shortage


def describe_error(error: Exception) -> str:
    """Return an error in one line."""
    if isinstance(error, DestageError):
        return str(error.issues[0])
    if isinstance(error, OSError):
        return str(describe_system_error(error))
    if (shortage := find_shortage(error)) is not None:
        return str(shortage.issues[0])
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return str(Issue("system.internal-error", "", message))


Version = tuple[str, int, int]
"""What changes with every commit: the name of the head, the number of fragments and their size [bytes]."""
_WINDOW_S = 60.0
"""The time over which the rate is taken [s]."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The state of the sweep when it was last read.

    Attributes:
        version: Changes with every commit.
        counts: The status of the sweep; None before the first that could be read.
        is_adaptive: Whether planning rounds add runs until the sweep is finished.
        rate: Runs per second over the last minute [1/s].
        error: Why the sweep could not be read, in one line.
    """

    version: Version = ("", 0, 0)
    counts: Status | None = None
    is_adaptive: bool = False
    rate: float = 0.0
    error: str | None = None

    @property
    def eta_s(self) -> float | None:
        """The time left for all rounds, as far as they can be foreseen [s]; None where it is unknown."""
        if self.counts is None or self.counts.writer is None or self.rate <= 0:
            return None
        return (self.counts.planned + self.counts.later_runs - self.counts.present) / self.rate


class SweepObserver:
    """Reads the progress of a sweep; `observe` is called by one thread, `latest` is read by any."""

    def __init__(self, path: Location) -> None:
        self.latest = Observation()
        self._layout = SweepLayout(path)
        self._seen: deque[tuple[float, int]] = deque()

    def observe(self) -> None:
        """Read the state of the sweep once."""
        before = self.latest
        try:
            self.latest = self._look(before)
        except Exception as error:  # noqa: BLE001 - the page shows it, and the next call may succeed
            self.latest = Observation(
                before.version, before.counts, before.is_adaptive, error=describe_error(error)
            )

    def _look(self, before: Observation) -> Observation:
        heads = list_heads(self._layout)
        version: Version = (heads[-1].name if heads else "", *measure_fragments(self._layout))
        counts, is_adaptive = before.counts, before.is_adaptive
        is_changed = version != before.version or before.error is not None
        # Without a writer and without a change the status is the same, and finding it may read all rows.
        if counts is None or is_changed or counts.writer or find_writer(self._layout.lease):
            counts = status(self._layout.root)
        if is_changed:
            spec = open_sweep(self._layout.root).spec()
            is_adaptive = "seek" in spec or isinstance(spec.get("replicates"), Mapping)
        return Observation(version, counts, is_adaptive, self._measure(counts))

    def _measure(self, counts: Status) -> float:
        now = time.monotonic()
        if counts.writer is None or (self._seen and counts.present < self._seen[-1][1]):
            self._seen.clear()
        self._seen.append((now, counts.present))
        while len(self._seen) > 2 and self._seen[1][0] <= now - _WINDOW_S:  # noqa: PLR2004
            self._seen.popleft()
        (began, first), (_, last) = self._seen[0], self._seen[-1]
        return (last - first) / (now - began) if now > began else 0.0
