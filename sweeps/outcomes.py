"""What planning and running a sweep report: progress, previews, outcomes."""

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from destage.objects import Location

Phase = Literal["plan", "start", "run", "answer"]
SessionState = Literal["finished", "failed_runs", "infrastructure", "budget", "interrupted"]
_EXIT_CODES = {"finished": 0, "failed_runs": 3, "infrastructure": 4, "budget": 5, "interrupted": 130}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a session is.

    Attributes:
        phase: `plan`, `start` (the executor), `run` or `answer`.
        round: The planning round.
        done: Planned runs that are there.
        planned: Planned runs so far; adaptive rounds add to it.
        reused: Planned runs that were there before this session.
        failed: Runs whose row says failed.
        rate: Runs per second of this session [1/s].
        eta_s: How long the runs planned so far should take [s], once it can be told.
        message: What else people should know now.
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


@dataclass(frozen=True, slots=True)
class Preview:
    """What a sweep would do.

    Attributes:
        table: The plan's first round.
        points: How many points the study has.
        runs: How many different runs the first round has.
        present: How many of them are in the store.
        adaptive: Whether more rounds may follow.
        sweep_path: Where the sweep is, or would be.
    """

    table: pa.Table
    points: int
    runs: int
    present: int
    adaptive: bool
    sweep_path: Location


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a session ended.

    Attributes:
        path: The sweep's directory.
        runs: Planned runs that are there.
        executed: Runs executed by this session.
        reused: Planned runs that were there before.
        failed: Runs whose row says failed.
        seconds: How long the session took [s].
        executor: Where the runs were executed.
        state: How it ended.
        messages: What people should know.
    """

    path: Location
    runs: int
    executed: int
    reused: int
    failed: int
    seconds: float
    executor: str
    state: SessionState
    messages: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """The process exit code that says how the session ended."""
        return _EXIT_CODES[self.state]
