"""What planning and running a sweep return: previews, progress, outcomes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from destage.errors import Issue
from destage.objects import Location

if TYPE_CHECKING:
    from destage.sweeps.execution.time_estimate import TimeEstimate

Phase = Literal["plan", "start", "run", "answer"]
SessionState = Literal["finished", "unanswered", "failed_runs", "infrastructure", "budget", "interrupted"]
_EXIT_CODES = {
    "finished": 0,
    "unanswered": 3,
    "failed_runs": 3,
    "infrastructure": 4,
    "budget": 5,
    "interrupted": 130,
}


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a session.

    Attributes:
        phase: `plan`, `start` (the executor), `run` or `answer`.
        done: Planned runs that are in the store.
        planned: Planned runs so far; adaptive rounds add to it.
        reused: Planned runs that were in the store before this session.
        rate: Runs of this session per second [1/s].
        eta_s: Time left for all rounds, as far as they can be foreseen [s]; None while it is unknown.
        eta_high_s: How much it may be at most [s]; None where no later round is expected.
        slots: Runs executed at a time; None while that is unknown.
        message: A change worth a line, such as a changed number of slots.
    """

    phase: Phase
    round: int
    done: int
    planned: int
    reused: int
    failed: int
    rate: float
    eta_s: float | None
    message: str | None = None
    eta_high_s: float | None = None
    slots: int | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a sweep would run.

    Attributes:
        table: The plan's first round.
        runs: The number of different runs in the first round.
        present: How many of them are in the sweep.
        shared: How many others are in other sweeps of the store, which the sweep takes over.
        adaptive: Whether more rounds may follow.
        sweep_path: The sweep's directory, whether it exists or not.
        estimate: How long the rest of the sweep takes, if that was asked for.
    """

    table: pa.Table
    points: int
    runs: int
    present: int
    adaptive: bool
    sweep_path: Location
    estimate: "TimeEstimate | None" = None
    shared: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a session ended.

    Attributes:
        reused: Planned runs that were in the store before.
        shared: How many of them were in other sweeps of the store.
        seconds: The session's duration [s].
        executor: The executor's name; `none` if every run was in the store.
        state: How it ended; `unanswered` if every run was executed and points have no answer.
        messages: Warnings, including one for each point without an answer.
        was_signalled: Whether SIGINT or SIGTERM came, also if it was too late to leave runs out: what runs
            several sweeps has to stop.
    """

    path: Location
    runs: int
    executed: int
    reused: int
    failed: int
    seconds: float
    executor: str
    state: SessionState
    messages: tuple[Issue, ...] = ()
    shared: int = 0
    was_signalled: bool = False

    @property
    def exit_code(self) -> int:
        """The process exit code of the state."""
        return _EXIT_CODES[self.state]
