"""Failures of runs and of workers: what is tried again, what is abandoned, and when a session has to end."""

from collections import Counter
from collections.abc import Mapping, Sequence

from destage.errors import Issue
from destage.sweeps.workers.batches import Batch, Failure

TRIES = 4
"""Attempts per run before the session abandons it; a batch is split until it is one run."""
BREAKER = 20
"""Equal failures before the first success that end the session."""
_RETRY_BUDGET = 50
_RETRIES_PER_SLOT = 4
"""Retries before the session ends, the larger of both counts: a lost node loses a batch per slot."""


class Failures:
    """The failures of one session.

    Attributes:
        place: The sweep in messages.
        messages: Where the first failure of each kind adds a warning.
        failed: Runs that failed by themselves.
        retries: Batches returned for infrastructure reasons.
    """

    def __init__(self, place: str, messages: list[Issue]) -> None:
        self.place = place
        self.messages = messages
        self.failed = 0
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
        """Return whether the batches returned are too many for the slots."""
        return self.retries > max(_RETRY_BUDGET, _RETRIES_PER_SLOT * slots)

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
