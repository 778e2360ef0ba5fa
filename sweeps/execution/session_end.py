"""What ends a session before its work is done: a signal, a lost lease, a used-up budget, too many failures.

SIGINT and SIGTERM: the first drains the session (batches in flight are committed), the second aborts. Runs
and workers that fail are tried again, then abandoned.
"""

import signal
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Self

from destage.errors import Issue
from destage.store.locks.lease import Lease
from destage.sweeps.execution.outcomes import SessionState
from destage.sweeps.workers.batches import Batch, Failure

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Handles SIGINT and SIGTERM for the length of a `with` block; on the main thread only."""

    def __init__(self) -> None:
        self.is_draining = False
        self._is_aborting = False
        self._previous: dict[signal.Signals, object] = {}
        self._is_main_thread = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        self._previous = {number: signal.getsignal(number) for number in _SIGNALS}
        self.install()
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_main_thread:
            for number, handler in self._previous.items():
                signal.signal(number, handler or signal.SIG_DFL)  # type: ignore[arg-type]

    def install(self) -> None:
        """Install the handler, again after a library (Ray) has replaced it."""
        if self._is_main_thread:
            for number in _SIGNALS:
                signal.signal(number, self._handle)

    def check(self) -> None:
        """Raise KeyboardInterrupt if a second signal has arrived, again if a library has caught it."""
        if self._is_aborting:
            raise KeyboardInterrupt

    def _handle(self, _signal: int, _frame: FrameType | None) -> None:
        if self.is_draining:
            self._is_aborting = True
            raise KeyboardInterrupt
        self.is_draining = True


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """What may end a session.

    Attributes:
        place: The sweep in messages.
        deadline: The end of the budget [s on the monotonic clock], if there is one.
    """

    place: str
    lease: Lease
    interrupts: Interrupts
    deadline: float | None = None

    def find(self, messages: list[Issue]) -> SessionState | None:
        """Return why the session has to end now, if it has to, with a message for what nobody asked for."""
        if self.lease.is_lost:
            message = "the lease could not be renewed; another process may be writing this sweep"
            messages.append(Issue("sweep.lease-lost", self.place, message))
            return "infrastructure"
        if self.interrupts.is_draining:
            return "interrupted"
        return "budget" if self.is_past() else None

    def is_past(self, allowance_s: float = 0.0) -> bool:
        """Return whether the budget is used up for so long [s]."""
        return self.deadline is not None and time.monotonic() >= self.deadline + allowance_s


TRIES = 4
"""Attempts per run before the session abandons it; a batch is split until it is one run."""
BREAKER = 20
"""Equal failures before the first success that end the session."""
_RETRY_BUDGET = 50
_RETRIES_PER_SLOT = 4
"""Retries before the session ends, the larger of both counts: a lost node loses a batch per slot."""
_BATCHES_PER_RETRY = 5
"""Executed batches for a further retry: machines that are taken away now and then end no long sweep."""


class Failures:
    """The failures of one session.

    Attributes:
        place: The sweep in messages.
        messages: Where the first failure of each kind adds a warning.
        failed: Runs that failed by themselves.
        executed: Batches of which runs were executed and committed.
        retries: Batches returned for infrastructure reasons.
    """

    def __init__(self, place: str, messages: list[Issue]) -> None:
        self.place = place
        self.messages = messages
        self.failed = 0
        self.executed = 0
        self.retries = 0
        self._texts = Counter[str]()
        self._abandoned: dict[str, Issue] = {}

    @property
    def has_abandoned(self) -> bool:
        """Whether a run was given up."""
        return bool(self._abandoned)

    def add_run(self, row: Mapping[str, object]) -> None:
        """Count a run that failed by itself."""
        self.failed += 1
        text = f"{row['error_kind']}: {row['error']}"
        self._texts[text] += 1
        if self._texts[text] == 1:
            self.messages.append(Issue("sweep.run-failed", f"run {row['run_id']}", text))

    def find_repeated(self, executed: int) -> Issue | None:
        """Return the failure that has repeated often enough, if none of the executed runs has succeeded."""
        if self.failed < executed or not self._texts:
            return None
        ((text, count),) = self._texts.most_common(1)
        message = f"stopped after {count} equal failures and no success: {text}"
        return Issue("sweep.all-runs-failed", self.place, message) if count >= BREAKER else None

    def is_exhausted(self, slots: int) -> bool:
        """Return whether the batches returned are too many for the slots and for those executed."""
        few = max(_RETRY_BUDGET, _RETRIES_PER_SLOT * slots)
        return self.retries > few + self.executed // _BATCHES_PER_RETRY

    def return_batch(self, batch: Batch, failure: Failure, slots: int) -> Sequence[Batch]:
        """Count a batch that its worker has lost, and return what to try again; none if it is given up."""
        self.retries += 1
        if not self.is_exhausted(slots) and (len(batch.run_ids) > 1 or batch.attempt + 1 < TRIES):
            # One run of a batch may kill the worker each time: split the batch to save the others.
            is_split = failure.kind == "oom" or batch.attempt > 0
            return batch.split() if is_split else (batch.retry(),)
        self._abandon(batch, failure)
        return ()

    def _abandon(self, batch: Batch, failure: Failure) -> None:
        """Add a warning, or the runs to the earlier warning of the same failure."""
        earlier = self._abandoned.get(failure.message)
        run_ids = batch.run_ids if earlier is None else (*earlier.data["run_ids"], *batch.run_ids)
        runs = "1 run" if len(run_ids) == 1 else f"{len(run_ids)} runs"
        message = f"{runs} abandoned after {batch.attempt + 1} attempts: {failure.message}"
        data = {"run_ids": run_ids, "attempts": batch.attempt + 1, "kind": failure.kind}
        issue = Issue("sweep.runs-abandoned", self.place, message, data=data)
        self._abandoned[failure.message] = issue
        if earlier is None:
            self.messages.append(issue)
        else:
            self.messages[self.messages.index(earlier)] = issue
