"""Batches of runs: how much work one task gets, from the cost of the runs so far."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from destage.sweeps.planner import PlannedRun

LONGEST_S = 5.0
"""Maximum work of a batch [s], so that a lost batch costs little."""
SHORTEST_S = 0.4
"""Minimum work of a batch [s], so that handing it over costs less than it saves."""
BATCHES_PER_S = 400
"""Batches that the driver can hand out and commit [1/s] (`make bench`): if that many batches of `LONGEST_S`
do not keep all slots busy, they get longer."""
_FADING = 0.9
"""Weight of an observation relative to the next one."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs that one task executes.

    Attributes:
        configs: Their canonical configurations as JSON.
        attempt: How many times they were tried before.
    """

    run_ids: tuple[str, ...]
    configs: tuple[str, ...]
    attempt: int = 0

    def split(self) -> tuple["Batch", ...]:
        """Return the batch in two halves for another attempt; a single run stays whole."""
        if len(self.run_ids) == 1:
            return (self.retry(),)
        cut = len(self.run_ids) // 2
        return tuple(
            Batch(self.run_ids[part], self.configs[part], self.attempt + 1)
            for part in (slice(cut), slice(cut, None))
        )

    def retry(self) -> "Batch":
        """Return the batch for another attempt."""
        return Batch(self.run_ids, self.configs, self.attempt + 1)


@dataclass
class CostModel:
    """The time that runs take, learned from the runs that have ended.

    Attributes:
        seconds: Engine time of the runs observed [s].
        events: Events they simulated.
    """

    seconds: float = 0.0
    events: float = 0.0
    runs: float = 0.0

    def observe(self, seconds: float, events: float, runs: int) -> None:
        """Add runs that have ended, with their engine time [s]; the latest weigh most."""
        self.seconds = _FADING * self.seconds + seconds
        self.events = _FADING * self.events + events
        self.runs = _FADING * self.runs + runs

    def seconds_for(self, work: "Work") -> float | None:
        """Return the expected engine time of some work [s]; None before any observation."""
        if self.runs == 0:
            return None
        by_events = work.events * self.seconds / self.events if self.events else 0.0
        return by_events + work.unknown * self.seconds / self.runs


@dataclass
class Work:
    """The cost of some runs.

    Attributes:
        events: Sum over the runs with an estimate [events].
        unknown: The number of runs without an estimate.
    """

    events: float = 0.0
    unknown: int = 0

    def add(self, run: PlannedRun, sign: int = 1) -> None:
        """Add a run, or remove it with the sign -1."""
        if run.events is None:
            self.unknown += sign
        else:
            self.events += sign * run.events


class Queue:
    """The runs waiting, longest first, cut into batches on demand."""

    def __init__(self, runs: Sequence[PlannedRun], costs: CostModel) -> None:
        self._runs = deque(sorted(runs, key=lambda run: (-(run.events or 0.0), run.run_id)))
        self._left = Work()
        for run in self._runs:
            self._left.add(run)
        self._retries: deque[Batch] = deque()
        self._costs = costs

    def __bool__(self) -> bool:
        return bool(self._runs or self._retries)

    def retry(self, batch: Batch) -> None:
        """Put back a batch for its next attempt."""
        self._retries.append(batch)

    def take(self, slots: int) -> Batch:
        """Take the next batch of a queue that is not empty.

        Before any cost is known a batch is a single run, the pilot. Afterwards it is a small share of the
        work left, so that batches shrink towards the end and all workers end together; with very many slots,
        at least what the driver can hand out in time.

        Args:
            slots: How many batches are executed at a time.
        """
        if self._retries:
            return self._retries.popleft()
        left = self._costs.seconds_for(self._left)
        aim = 0.0
        if left is not None:
            # Work W in batches of length a ends after W / (a BATCHES_PER_S) + a, least at the root of
            # W / BATCHES_PER_S. A batch longer than what keeps all slots busy gains nothing.
            least = min(slots / BATCHES_PER_S, math.sqrt(left / BATCHES_PER_S))
            aim = max(min(max(left / (4 * slots), SHORTEST_S), LONGEST_S), least)
        taken: list[PlannedRun] = []
        work = Work()
        while self._runs:
            work.add(self._runs[0])
            seconds = self._costs.seconds_for(work)
            if taken and (seconds is None or seconds > aim):
                break
            taken.append(self._runs.popleft())
            self._left.add(taken[-1], -1)
        return Batch(tuple(run.run_id for run in taken), tuple(run.config for run in taken))
