"""Batches of runs: how much work one task gets, from the cost of the runs so far, and what becomes of it.

That is a receipt once its rows are committed, a failure, or why the session must end.
"""

import math
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.errors import Issue
from destage.store.state.plan import CONFIG_COLUMNS
from destage.sweeps.space.identity import pack_ids, read_bytes, unpack_ids

LONGEST_S = 2.0
"""Maximum work of a batch [s], so that a session that drains ends soon."""
SHORTEST_S = 0.4
"""Minimum work of a batch [s], so that handing it over costs less than it saves."""
BATCHES_PER_S = 1000
"""Batches that the driver can hand out and commit [1/s] (`make bench`): if that many batches of `LONGEST_S`
do not keep all slots busy, they get longer."""
_FADING = 0.9
"""Weight of an observation relative to the next one."""


@dataclass(frozen=True, slots=True)
class Configs:
    """The canonical configurations of some runs, in parts: most are the same in many runs.

    As texts they take some ten times the memory, so they are joined where they are executed.

    Attributes:
        texts: For each part of a configuration its values, as members of a JSON object.
        codes: For each part, the indices of its values: one a run, -1 for none.
    """

    texts: tuple[tuple[str, ...], ...]
    codes: tuple[tuple[int, ...], ...]

    def __getitem__(self, runs: slice) -> "Configs":
        return Configs(self.texts, tuple(codes[runs] for codes in self.codes))

    def join(self) -> tuple[str, ...]:
        """Return the configurations as JSON texts."""
        parts = [
            [texts[code] if code >= 0 else "" for code in codes]
            for texts, codes in zip(self.texts, self.codes, strict=True)
        ]
        return tuple([f"{{{','.join(filter(None, members))}}}" for members in zip(*parts, strict=True)])


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs that one task executes.

    Attributes:
        attempt: How many times they were tried before.
    """

    run_ids: tuple[str, ...]
    configs: Configs
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

    def rest(self, count: int) -> "Batch":
        """Return the batch without its first runs, which were executed."""
        return Batch(self.run_ids[count:], self.configs[count:], self.attempt)

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


@dataclass(frozen=True, slots=True)
class Work:
    """The cost of some runs.

    Attributes:
        events: Sum over the runs with an estimate [events].
        unknown: The number of runs without an estimate.
    """

    events: float = 0.0
    unknown: int = 0


class Queue:
    """Runs of a plan that wait, longest first, cut into batches on demand."""

    def __init__(
        self,
        plan: pa.Table,
        costs: CostModel,
        rows: np.ndarray | None = None,
        *,
        longest_s: float = LONGEST_S,
    ) -> None:
        """Queue the runs in some rows of a plan (default: all), for batches of some work at most [s]."""
        ids = read_bytes(pack_ids(plan["run_id"]))
        events = plan["estimated_events"].to_numpy()
        if rows is not None:
            ids, events = ids[rows], events[rows]
        is_unknown = np.isnan(events)
        estimates = np.where(is_unknown, 0.0, events)
        high, low = ids.view(">u8").T
        order = np.lexsort((low, high, -estimates))
        self._ids = ids[order]
        self._configs = _Parts(plan, order if rows is None else rows[order])
        # Before each run: the work of all runs before it.
        self._events = np.concatenate([[0.0], np.cumsum(estimates[order])])
        self._unknown = np.concatenate([[0], np.cumsum(is_unknown[order])])
        self._next = 0
        self._retries: deque[Batch] = deque()
        self._costs = costs
        self._longest_s = longest_s

    def __bool__(self) -> bool:
        return self._next < len(self._ids) or bool(self._retries)

    def retry(self, batch: Batch) -> None:
        """Put back a batch for its next attempt."""
        self._retries.append(batch)

    @property
    def left_s(self) -> float:
        """Expected engine time of the runs that were not taken yet [s]; 0 before any cost is known."""
        return self._seconds_until(len(self._ids))

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
        first, count = self._next, len(self._ids)
        end = first + 1
        left = self._costs.seconds_for(self._work_until(count))
        if left is not None:
            # Work W in batches of length a ends after W / (a BATCHES_PER_S) + a, least at the root of
            # W / BATCHES_PER_S. A batch longer than what keeps all slots busy gains nothing.
            least = min(slots / BATCHES_PER_S, math.sqrt(left / BATCHES_PER_S))
            aim = max(min(max(left / (4 * slots), SHORTEST_S), self._longest_s), least)
            end += bisect_right(range(end + 1, count + 1), aim, key=self._seconds_until)
        self._next = end
        return Batch(unpack_ids(self._ids[first:end].tobytes()), self._configs.take(first, end))

    def _work_until(self, end: int) -> Work:
        """Return the work of the runs from the next one to `end`."""
        first = self._next
        events = float(self._events[end] - self._events[first])
        return Work(events, int(self._unknown[end] - self._unknown[first]))

    def _seconds_until(self, end: int) -> float:
        return self._costs.seconds_for(self._work_until(end)) or 0.0


class _Parts:
    """The parts of the configurations of the runs of a queue."""

    def __init__(self, plan: pa.Table, rows: np.ndarray) -> None:
        self._texts: list[pa.LargeStringArray] = []
        self._codes: list[np.ndarray] = []
        for name in CONFIG_COLUMNS:
            texts, codes, previous = [], [], None
            count = start = 0
            for chunk in plan[name].chunks:
                dictionary = chunk.dictionary
                if previous is None or not _is_same(dictionary, previous):
                    texts.append(dictionary.cast(pa.large_string()))
                    start, previous = count, dictionary
                    count += len(dictionary)
                indices = pc.fill_null(chunk.indices, -1).to_numpy(zero_copy_only=False)
                codes.append(np.where(indices < 0, -1, indices + start).astype(np.int32))
            self._texts.append(pa.concat_arrays(texts or [pa.array([], pa.large_string())]))
            self._codes.append(np.concatenate(codes or [np.zeros(0, np.int32)])[rows])

    def take(self, first: int, end: int) -> Configs:
        """Return the configurations of some runs, with the values that these have."""
        values, codes = [], []
        for texts, all_codes in zip(self._texts, self._codes, strict=True):
            # A batch has few runs: for so few, a sort by NumPy takes many times as long as a set.
            taken = all_codes[first:end].tolist()
            used = sorted({*taken} - {-1})
            places = {code: place for place, code in enumerate(used)} | {-1: -1}
            values.append(tuple(texts[code].as_py() for code in used))
            codes.append(tuple([places[code] for code in taken]))
        return Configs(tuple(values), tuple(codes))


def _is_same(dictionary: pa.Array, other: pa.Array) -> bool:
    """Return whether two dictionaries are one in memory."""
    first, second = dictionary.buffers()[-1], other.buffers()[-1]
    return len(dictionary) == len(other) and (first and first.address) == (second and second.address)


@dataclass(frozen=True, slots=True)
class Receipt:
    """A committed batch, as the driver sees it.

    Attributes:
        seconds: Engine time [s].
        facts: Per run the id, status, error kind, error and the columns that planning needs.
        fragment: The name of the fragment that has its rows, perhaps with those of other batches.
    """

    seconds: float
    facts: pa.Table
    fragment: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A batch that a worker could not execute, for reasons other than its configurations.

    Attributes:
        kind: `infrastructure`, `oom`, `stopped` if the session ended its runs, or `lost` if its worker failed
            for another batch, before this one was executed or committed.
    """

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class FinishedBatch:
    """A batch that an executor has returned.

    Attributes:
        result: Its receipt, its failure, or why the worker must not execute runs of this sweep.
    """

    batch: Batch
    result: Receipt | Failure | Issue
