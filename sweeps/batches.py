"""Cutting runs into batches: how much work one task gets, from what the runs so far have cost."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from destage.sweeps.planner import PlannedRun

LONGEST_S = 5.0
"""A batch aims at no more work than this [s], so that little is lost when one is."""
SHORTEST_S = 0.4
"""A batch aims at no less work than this [s], or handing it over would cost more than it saves."""
BATCHES_PER_S = 400
"""How many batches the driver can hand out and settle [1/s] (`make bench`): where that many batches of
`LONGEST_S` do not keep all slots busy, they get longer."""
_FADING = 0.9
"""What an old observation counts, against the next one."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some runs that one task executes.

    Attributes:
        run_ids: Their identities.
        configs: Their canonical configurations as JSON.
        attempt: How often they were tried before.
    """

    run_ids: tuple[str, ...]
    configs: tuple[str, ...]
    attempt: int = 0

    def halves(self) -> tuple["Batch", ...]:
        """Return the batch cut in two, for a next attempt; a single run stays whole."""
        if len(self.run_ids) == 1:
            return (self.again(),)
        cut = len(self.run_ids) // 2
        return tuple(
            Batch(self.run_ids[part], self.configs[part], self.attempt + 1)
            for part in (slice(cut), slice(cut, None))
        )

    def again(self) -> "Batch":
        """Return the batch for a next attempt."""
        return Batch(self.run_ids, self.configs, self.attempt + 1)


@dataclass
class CostModel:
    """How long runs take, learned from those that have ended.

    Attributes:
        seconds: The engine time of the runs seen [s].
        events: The events they simulated.
        runs: How many they were.
    """

    seconds: float = 0.0
    events: float = 0.0
    runs: float = 0.0

    def observe(self, seconds: float, events: float, runs: int) -> None:
        """Learn from runs that have ended; the latest count most.

        Args:
            seconds: The engine time they took [s].
            events: The events they simulated.
            runs: How many they were.
        """
        self.seconds = _FADING * self.seconds + seconds
        self.events = _FADING * self.events + events
        self.runs = _FADING * self.runs + runs

    def seconds_for(self, work: "Work") -> float | None:
        """Return how long some work should take [s], or None before anything was seen.

        Args:
            work: The work.
        """
        if self.runs == 0:
            return None
        by_events = work.events * self.seconds / self.events if self.events else 0.0
        return by_events + work.unknown * self.seconds / self.runs


@dataclass
class Work:
    """Some runs, as far as their cost goes.

    Attributes:
        events: What the runs with an estimate should cost [events].
        unknown: How many runs have no estimate.
    """

    events: float = 0.0
    unknown: int = 0

    def add(self, run: PlannedRun, sign: int = 1) -> None:
        """Count one more run.

        Args:
            run: The run.
            sign: -1 to count one less.
        """
        if run.events is None:
            self.unknown += sign
        else:
            self.events += sign * run.events


class Queue:
    """The runs still to be handed out, longest first, cut into batches as they are asked for."""

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
        """Put a batch back that could not be executed.

        Args:
            batch: The batch, as its next attempt.
        """
        self._retries.append(batch)

    def take(self, slots: int) -> Batch:
        """Take the next batch; there must be one.

        Before any cost is known a batch is a single run, the pilot. Then it aims at a small share of what
        is left, so that batches shrink towards the tail and all workers end together; on very many slots,
        at no less than the driver can hand out in time.

        Args:
            slots: How many batches are executed at a time.
        """
        if self._retries:
            return self._retries.popleft()
        left = self._costs.seconds_for(self._left)
        aim = 0.0
        if left is not None:
            # To hand out work W in batches of a takes W / (a BATCHES_PER_S), and the last batch a more: the
            # sum is least at the root. Beyond what keeps all slots busy nothing is gained.
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
